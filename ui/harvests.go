package ui

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// Harvests returns at most limit harvests that began before a time (zero for now), newest first; ledger.Ledger.Harvests
// does.
type Harvests func(ctx context.Context, before time.Time, limit int) ([]harvest.Report, error)

const (
	shownHarvests = 10  // on the page
	maxHarvests   = 500 // in a JSON answer
)

// harvested is a harvest on the page and in JSON.
type harvested struct {
	harvest.Report
	Outcome string `json:"outcome"` // one sentence
}

func (h harvested) Bad() bool { return h.Error != "" }

func (u *UI) lastHarvests(ctx context.Context, before time.Time, limit int) ([]harvested, error) {
	all := []harvested{}
	if u.harvests == nil {
		return all, nil
	}
	reports, err := u.harvests(ctx, before, limit)
	for _, r := range reports {
		all = append(all, harvested{r, outcomeOf(r)})
	}
	return all, err
}

// outcomeOf describes the outcome of a harvest in one sentence.
func outcomeOf(r harvest.Report) string {
	changes := r.Change()
	if r.Waiting.N() > 0 {
		changes += fmt.Sprintf(", %s no longer listed, whose withdrawal waits for an answer", r.Waiting)
	}
	switch {
	case r.Error != "":
		return r.Error
	case r.Ended.IsZero():
		return "running, or interrupted; the next harvest continues where it stopped"
	case r.NotModified:
		return "not read: the source reports no change since the last harvest"
	case r.Limited:
		return "stopped at the requested limit: " + changes
	case r.Fileless() != "":
		return changes + "; " + r.Fileless()
	case r.Unknown > 0:
		return fmt.Sprintf("%s; %d that the portal failed to return were left as they were", changes, r.Unknown)
	}
	return changes
}

// harvestsJSON answers GET /harvests.json?before=&limit=.
func (u *UI) harvestsJSON(w http.ResponseWriter, r *http.Request) error {
	var before time.Time
	if s := r.URL.Query().Get("before"); s != "" {
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return problem.Newf(http.StatusBadRequest, "Bad parameter", "before=%q is not an RFC 3339 time", s)
		}
		before = t
	}
	limit, err := target.Int(r.URL.Query(), "limit", 50, 1, maxHarvests)
	if err != nil {
		return err
	}
	all, err := u.lastHarvests(r.Context(), before, limit)
	if err != nil {
		return err
	}
	return answer.JSON(w, r, all)
}
