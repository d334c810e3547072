package faces

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"odarchive/cmd/internal/check"
	"odarchive/sparqlapi/outlast"
	"odarchive/sparqlapi/problem"
)

// checkOrder is the body of POST /check; an empty one checks only.
type checkOrder struct {
	Repair bool `json:"repair"`
}

// checkLine is a line of the answer: progress, and at the end a report or an error.
type checkLine struct {
	Stage  string        `json:"stage,omitempty"`
	Done   int64         `json:"done,omitempty"`
	Total  int64         `json:"total,omitempty"`
	Report *check.Report `json:"report,omitempty"`
	Error  string        `json:"error,omitempty"`
}

// tellEvery is how often the client of a check hears of it.
const tellEvery = 200 * time.Millisecond

// checkHandler answers POST /check with a stream of checkLines. One check runs at a time.
func (a *Faces) checkHandler() http.Handler {
	var running sync.Mutex
	return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		var order checkOrder
		if r.ContentLength != 0 {
			if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&order); err != nil {
				return problem.Newf(http.StatusBadRequest, "Not an order to check", `expected {"repair": false} or nothing: %v`, err)
			}
		}
		if order.Repair && a.store.DB.ReadOnly() {
			return problem.New(http.StatusForbidden, "The archive is open for reading only", a.store.ReadOnlyReason)
		}
		if !running.TryLock() {
			return &problem.Error{Status: http.StatusConflict, Title: "A check is running already", RetryAfter: time.Minute}
		}
		defer running.Unlock()
		ctx, release := outlast.Client(r.Context())
		defer release()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w.Header().Set("Content-Type", "application/x-ndjson")
		lines := json.NewEncoder(w)
		tell := func(line checkLine) {
			if lines.Encode(line) != nil || http.NewResponseController(w).Flush() != nil {
				cancel() // nobody listens
			}
		}
		var told time.Time
		report, err := a.Check(ctx, order.Repair, time.Now(), func(stage string, done, total int64) {
			if now := time.Now(); now.Sub(told) >= tellEvery {
				told = now
				tell(checkLine{Stage: stage, Done: done, Total: total})
			}
		})
		if err != nil {
			a.store.Log.Error("check failed", "error", err)
			tell(checkLine{Error: err.Error()})
			return nil
		}
		a.store.Log.Info("checked", "damaged", len(report.Damaged), "mended", len(report.Mended), "lost", len(report.Lost), "repair", order.Repair)
		tell(checkLine{Report: &report})
		return nil
	})
}
