package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"odarchive/crawler/harvest/ledger"
	"odarchive/crawler/harvest/timetable"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// Harvests has the planned harvests, and the questions about portals.
type Harvests interface {
	// Harvests returns the planned harvests, and what is asked about portals.
	Harvests(ctx context.Context) ([]timetable.Planned, []ledger.Question, error)
	PlanHarvest(ctx context.Context, p timetable.Plan) (timetable.Planned, error)
	// OrderHarvest carries out an order about the plan with an ID, or of a URL: run, pause, resume or remove.
	OrderHarvest(ctx context.Context, name, order, why string) (timetable.Planned, error)
	// AnswerQuestion answers the question about a portal, and returns it as it was.
	AnswerQuestion(ctx context.Context, portal string, a ledger.Answer) (ledger.Question, error)
}

// maxPlan bounds the body of an order about harvests, in bytes.
const maxPlan = 64 << 10

// Harvests answers GET /harvests: the planned harvests, and the questions about portals that list much less.
func (a *ControlAPI) Harvests(w http.ResponseWriter, r *http.Request) error {
	planned, asked, err := a.HarvestTable.Harvests(r.Context())
	if err != nil {
		return err
	}
	return answer.JSON(w, r, map[string]any{"harvests": planned, "questions": asked})
}

// PlanHarvest answers POST /harvests with a plan, as in a [[harvest]] table of the settings.
func (a *ControlAPI) PlanHarvest(w http.ResponseWriter, r *http.Request) error {
	var p timetable.Plan
	if err := readPlan(w, r, &p); err != nil {
		return problem.Newf(http.StatusBadRequest, "Not a harvest", `expected {"kind": "ckan", "url": "https://...", "every": "24h"}: %v`,
			err)
	}
	planned, err := a.HarvestTable.PlanHarvest(r.Context(), p)
	if err != nil {
		return harvestProblem(err)
	}
	return answer.JSON(w, r, planned)
}

// OrderHarvest returns a handler of POST /harvests/{id}/run, /pause and /resume, and DELETE /harvests/{id}. The reason
// of a pause is ?why=.
func (a *ControlAPI) OrderHarvest(order string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		planned, err := a.HarvestTable.OrderHarvest(r.Context(), target.Value(r, "id"), order, r.URL.Query().Get("why"))
		if err != nil {
			return harvestProblem(err)
		}
		return answer.JSON(w, r, planned)
	}
}

// AnswerQuestion answers POST /harvests/answer: {"portal", "answer": "withdraw" or "keep"}. The answer is the question
// as it was.
func (a *ControlAPI) AnswerQuestion(w http.ResponseWriter, r *http.Request) error {
	var order struct {
		Portal string        `json:"portal"`
		Answer ledger.Answer `json:"answer"`
	}
	if err := readPlan(w, r, &order); err != nil || order.Portal == "" || order.Answer != ledger.Withdraw && order.Answer != ledger.Keep {
		return problem.New(http.StatusBadRequest, "Not an answer", `expected {"portal": "https://...", "answer": "withdraw"} or "keep"`)
	}
	asked, err := a.HarvestTable.AnswerQuestion(r.Context(), order.Portal, order.Answer)
	if err != nil {
		return harvestProblem(err)
	}
	return answer.JSON(w, r, asked)
}

// readPlan reads a JSON body without unknown names.
func readPlan(w http.ResponseWriter, r *http.Request, into any) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxPlan)
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func harvestProblem(err error) error {
	switch {
	case errors.Is(err, timetable.ErrUnknown):
		return problem.Wrap(http.StatusNotFound, "No such harvest", err)
	case errors.Is(err, ledger.ErrNoQuestion):
		return problem.Wrap(http.StatusNotFound, "Nothing is asked", err)
	case errors.Is(err, timetable.ErrBad):
		return problem.Wrap(http.StatusBadRequest, "Not a harvest that can be planned", err)
	}
	return err
}
