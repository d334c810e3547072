package faces

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"odarchive/cmd/internal/check"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
)

// checkOrder is the body of POST /check. An empty body requests a check without repair.
type checkOrder struct {
	Repair bool `json:"repair"`
	Deep   bool `json:"deep,omitempty"` // also read what is only in a bucket
}

// checkLine is a line of the response: progress, or, as the last line, a report or an error.
type checkLine struct {
	Stage  string        `json:"stage,omitempty"`
	Done   int64         `json:"done,omitempty"`
	Total  int64         `json:"total,omitempty"`
	Report *check.Report `json:"report,omitempty"`
	Error  string        `json:"error,omitempty"`
}

// progressEvery is the shortest time between two lines of progress.
const progressEvery = 200 * time.Millisecond

// checkHandler answers POST /check with a stream of checkLines.
func (a *Faces) checkHandler() http.Handler {
	return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		var order checkOrder
		if r.ContentLength != 0 {
			if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&order); err != nil {
				return problem.Newf(http.StatusBadRequest, "Not an order to check",
					`expected {"repair": false, "deep": false} or nothing: %v`, err)
			}
		}
		if order.Repair && a.store.DB.ReadOnly() {
			return problem.New(http.StatusForbidden, "The archive is open for reading only", a.store.ReadOnlyReason)
		}
		ctx, release := answer.LastingClient(r.Context())
		defer release()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		lines := json.NewEncoder(w)
		send := func(line checkLine) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			if lines.Encode(line) != nil || http.NewResponseController(w).Flush() != nil {
				cancel() // the client has left
			}
		}
		var sent time.Time
		examine := a.Check
		if order.Deep {
			examine = a.CheckDeep
		}
		report, err := examine(ctx, order.Repair, time.Now(), func(stage string, done, total int64) {
			if now := time.Now(); now.Sub(sent) >= progressEvery {
				sent = now
				send(checkLine{Stage: stage, Done: done, Total: total})
			}
		})
		if errors.Is(err, errChecking) {
			return &problem.Error{Status: http.StatusConflict, Title: "A check is running already", RetryAfter: time.Minute}
		}
		if err != nil {
			a.store.Log.Error("check failed", "error", err)
			send(checkLine{Error: err.Error()})
			return nil
		}
		a.store.Log.Info("checked", "damaged", len(report.Damaged), "mended", len(report.Mended), "lost", len(report.Lost), "repair",
			order.Repair, "deep", order.Deep)
		send(checkLine{Report: &report})
		return nil
	})
}
