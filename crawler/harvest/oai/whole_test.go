package oai

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// keeps has a repository declare what it says of deleted records (OAI-PMH 2.0, section 2.5.1).
func keeps(deletedRecord string) func(string, url.Values) string {
	return func(body string, args url.Values) string {
		return strings.Replace(body, "<granularity>", "<deletedRecord>"+deletedRecord+"</deletedRecord><granularity>", 1)
	}
}

func TestARepositoryThatForgetsWhatItDeletesIsReadWholeOnceAWeek(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keeps        string
		later        time.Duration
		whole, tells bool
	}{
		{"no", 24 * time.Hour, false, false}, {"no", 8 * 24 * time.Hour, true, false},
		{"transient", 8 * 24 * time.Hour, true, false}, {"persistent", 8 * 24 * time.Hour, false, true},
	} {
		r := &repo{items: some(12), alters: keeps(c.keeps), granularity: "YYYY-MM-DDThh:mm:ssZ"}
		now := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
		s := Source{URL: "http://r.example/oai", HTTP: r, Now: func() time.Time { return now }}
		first := listen()
		if err := s.Harvest(t.Context(), "", first); err != nil || !first.whole || len(first.datasets) != 12 {
			t.Fatalf("%s: %v, whole %v, %d records", c.keeps, err, first.whole, len(first.datasets))
		}
		now = now.Add(c.later)
		next := listen()
		if err := s.Harvest(t.Context(), first.next, next); err != nil || next.whole != c.whole || next.portal.TellsGone != c.tells {
			t.Errorf("%s: %s later: %v, whole %v, tells of removals %v", c.keeps, c.later, err, next.whole, next.portal.TellsGone)
		}
	}
}

func TestARepositorySaysHowManyRecordsItListsIfItSaysAtAll(t *testing.T) {
	t.Parallel()
	size := func(body string, args url.Values) string {
		return strings.Replace(body, "<resumptionToken", `<resumptionToken completeListSize="25"`, 1)
	}
	deleted := some(5)
	deleted[2].deleted = true
	for _, c := range []struct {
		about string
		repo  repo
		want  int
	}{
		{"one page", repo{items: some(8)}, 8},
		{"one page with a deleted record", repo{items: deleted}, 4},
		{"none", repo{}, 0},
		{"the size of the list", repo{items: some(25), alters: size}, 25},
		{"no size", repo{items: some(25)}, -1},
		{"an error", repo{breaks: func(w http.ResponseWriter, _ url.Values, _ *repo) bool { http.Error(w, "no", 404); return true }}, -1},
	} {
		t.Run(c.about, func(t *testing.T) {
			s := Source{URL: "http://r.example/oai", HTTP: &c.repo}
			if n, ok := s.Count(t.Context()); ok != (c.want >= 0) || ok && n != c.want {
				t.Errorf("%d, %v", n, ok)
			}
		})
	}
	part := Source{URL: "http://r.example/oai", Sets: []string{"a"}}
	if n, ok := part.Count(t.Context()); ok {
		t.Errorf("a part of a repository: %d", n)
	}
}
