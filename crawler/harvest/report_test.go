package harvest

import (
	"encoding/json"
	"strings"
	"testing"

	"odarchive/ns"
	"odarchive/vocab/arc"
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

func TestASourceThatWasNotReadHasNoCounts(t *testing.T) {
	t.Parallel()
	for notModified, want := range map[bool]bool{false: true, true: false} {
		r := Report{ID: "harvest-1", NotModified: notModified}
		r.Ended = r.Started.Add(1)
		counted := false
		for _, q := range r.Quads(ns.Mint{Base: "http://a.example/"}) {
			counted = counted || q.P == "<"+arc.Datasets
		}
		if counted != want || r.Read(0).Known() != want {
			t.Errorf("not modified %v: datasets counted %v", notModified, counted)
		}
	}
}
