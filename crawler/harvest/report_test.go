package harvest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"odarchive/ns"
	"odarchive/vocab"
)

func TestAReportHasNoFigureForWhatWasNotLookedFor(t *testing.T) {
	t.Parallel()
	written := func(r Report) string {
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	var changes, whole, named Report
	changes.add(Changes{Inserted: 1}, false)
	whole.add(Changes{Inserted: 1}, true)
	named.add(Changes{Waiting: 3}, false)
	if got := written(changes); strings.Contains(got, `"waiting"`) || strings.Contains(got, `"withdrawn"`) {
		t.Errorf("a harvest of changes: %s", got)
	}
	if got := written(whole); !strings.Contains(got, `"waiting":0`) || !strings.Contains(got, `"withdrawn":0`) {
		t.Errorf("a whole harvest: %s", got)
	}
	if got := written(named); !strings.Contains(got, `"waiting":3`) {
		t.Errorf("withdrawals that wait: %s", got)
	}
}

// unread is a source that ends as err says before anything came of it.
type unread struct{ err error }

func (u unread) Harvest(_ context.Context, from string, out Sink) error {
	if u.err == nil {
		out.NotModified(from)
	}
	return u.err
}

func TestASourceThatWasNotReadHasNoCounts(t *testing.T) {
	t.Parallel()
	for about, h := range map[string]Harvester{
		"it was not modified":  unread{},
		"it never answered":    unread{ErrUnreached},
		"a harvest of changes": &counting{totals: []int{10}},
	} {
		report, _ := Run(t.Context(), "src", h, &memory{mark: "changes", listed: 10}, Options{})
		raw, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		described := false
		for _, q := range report.Quads(ns.Mint{Base: "http://a.example/"}) {
			described = described || q.P == "<"+vocab.ArcDatasets
		}
		want := about == "a harvest of changes"
		for _, member := range []string{"portals", "datasets", "seeds", "triples", "invalid"} {
			if strings.Contains(string(raw), `"`+member+`":`) != want || described != want {
				t.Errorf("%s: %s", about, raw)
			}
		}
	}
}
