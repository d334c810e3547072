package operate

import (
	"context"
	"errors"
	"net/http"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
)

// Retention applies the rules of retention. Without rules, the errors wrap catalog.ErrNoRetention.
type Retention interface {
	PlanRetention(ctx context.Context) (catalog.RetentionPlan, error)
	ApplyRetention(ctx context.Context) (catalog.RetentionPlan, error)
}

// RetentionPlan answers GET /retention: what the rules of retention do not keep.
func (a *ControlAPI) RetentionPlan(w http.ResponseWriter, r *http.Request) error {
	plan, err := a.Retained.PlanRetention(r.Context())
	return retained(w, r, plan, err)
}

// ApplyRetention answers POST /retention: it takes away what the rules of retention do not keep. The bytes leave the
// disk soon afterwards.
func (a *ControlAPI) ApplyRetention(w http.ResponseWriter, r *http.Request) error {
	plan, err := a.Retained.ApplyRetention(r.Context())
	return retained(w, r, plan, err)
}

func retained(w http.ResponseWriter, r *http.Request, plan catalog.RetentionPlan, err error) error {
	if errors.Is(err, catalog.ErrNoRetention) {
		return problem.Wrap(http.StatusConflict, "No rules", err)
	}
	if err != nil {
		return err
	}
	return answer.JSON(w, r, plan)
}
