package operate

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"

	"github.com/go-chi/chi/v5"
)

// Withdrawals takes versions away. Errors about the order wrap catalog.ErrBadOrder, or are an *archive.SharedError.
type Withdrawals interface {
	Withdraw(ctx context.Context, o catalog.WithdrawalOrder) (catalog.Withdrawn, error)
}

// Withdraw answers POST /withdraw: {"targets", "reason", "basis", "status", "copies", "dryRun"}. The versions are
// withdrawn when it answers; their bytes leave the disk soon afterwards.
func (a *ControlAPI) Withdraw(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	var o catalog.WithdrawalOrder
	if err := json.Unmarshal(body, &o); err != nil {
		return problem.New(http.StatusBadRequest, "Not an order",
			`expected {"targets": ["version IRI or URL"], "reason": "...", "basis": "...", `+
				`"status": 451, "copies": false, "dryRun": false}`)
	}
	return a.withdraw(w, r, o)
}

// WithdrawVersion answers DELETE of a version IRI, ?reason=&basis=&status=&copies=1.
func (a *ControlAPI) WithdrawVersion(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	o := catalog.WithdrawalOrder{Targets: []string{chi.URLParam(r, "id")}, Reason: q.Get("reason"), Basis: q.Get("basis"),
		Copies: q.Get("copies") == "1"}
	if s := q.Get("status"); s != "" {
		var err error
		if o.Status, err = strconv.Atoi(s); err != nil {
			return problem.New(http.StatusBadRequest, "Not an order", "status: expected 451 or 410")
		}
	}
	return a.withdraw(w, r, o)
}

func (a *ControlAPI) withdraw(w http.ResponseWriter, r *http.Request, o catalog.WithdrawalOrder) error {
	caller, _ := access.Of(r.Context())
	o.By = caller.Name
	done, err := a.Withdrawals.Withdraw(r.Context(), o)
	if errors.Is(err, catalog.ErrBadOrder) {
		return problem.Wrap(http.StatusBadRequest, "Not an order", err)
	}
	if shared, ok := errors.AsType[*archive.SharedError](err); ok {
		return &problem.Error{Status: http.StatusConflict, Title: "Other versions have the same bytes", Detail: shared.Error(), Cause: err,
			Fields: map[string]any{"copies": shared.Others}}
	}
	if err != nil {
		return err
	}
	return answer.JSON(w, r, done)
}
