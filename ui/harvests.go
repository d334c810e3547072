package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/sparqlapi/problem"
)

// Harvests are the last ones, newest first, that began before a time (zero: all), at most limit. ledger.Ledger's are such.
type Harvests func(ctx context.Context, before time.Time, limit int) ([]harvest.Report, error)

const (
	shownHarvests = 10  // on the page
	mostHarvests  = 500 // in one answer
)

// harvested is a harvest as the page and the JSON have it.
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

// outcomeOf a harvest in one sentence.
func outcomeOf(r harvest.Report) string {
	changes := fmt.Sprintf("%d new, %d changed, %d unchanged, %d withdrawn, %d listed again", r.Inserted, r.Updated, r.Unchanged, r.Withdrawn, r.Returned)
	switch {
	case r.Error != "":
		return r.Error
	case r.Ended.IsZero():
		return "it runs, or was cut off and will go on where it was"
	case r.NotModified:
		return "unchanged since the last harvest, as the source says; it was not read again"
	case r.Limited:
		return "ended at the limit that was asked for: " + changes
	case r.Unknown > 0:
		return fmt.Sprintf("%s; %d that the portal failed to give stay as they were", changes, r.Unknown)
	}
	return changes
}

// harvestsJSON answers GET /harvests.json?before=&limit=.
func (u *UI) harvestsJSON(w http.ResponseWriter, r *http.Request) error {
	var before time.Time
	if s := r.URL.Query().Get("before"); s != "" {
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return problem.Newf(http.StatusBadRequest, "Bad parameter", "before=%q is no RFC 3339 time", s)
		}
		before = t
	}
	limit := 50
	if s := r.URL.Query().Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > mostHarvests {
			return problem.Newf(http.StatusBadRequest, "Bad parameter", "limit=%q is no number from 1 to %d", s, mostHarvests)
		}
		limit = n
	}
	all, err := u.lastHarvests(r.Context(), before, limit)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(all)
}
