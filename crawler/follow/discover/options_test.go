package discover

import (
	"errors"
	"strings"
	"testing"
)

func TestOptionsAreCompletedAndFaultsNamed(t *testing.T) {
	t.Parallel()
	o, err := Options{URL: " https://user:secret@city.example#top", Keywords: []string{"  Baum\tKataster "}}.Normalise()
	if err != nil || o.URL != "https://city.example/" || o.Budget != DefaultBudget || o.Keywords[0] != "baum kataster" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range []Options{
		{}, {URL: "city.example"}, {URL: "ftp://city.example/"}, {URL: "https://" + strings.Repeat("a", maxURL)},
		{URL: "https://city.example/", Budget: -1}, {URL: "https://city.example/", Budget: MaxBudget + 1},
		{URL: "https://city.example/", Keywords: []string{" "}}, {URL: "https://city.example/", Keywords: []string{"\xff"}},
		{URL: "https://city.example/", Keywords: make([]string, maxKeywords+1)},
	} {
		if _, err := bad.Normalise(); !errors.Is(err, ErrBad) {
			t.Errorf("%.200v: %v", bad, err)
		}
	}
}

func TestATrackerKeepsTheLatestFinds(t *testing.T) {
	t.Parallel()
	var none *Tracker
	none.set(Progress{})
	none.found(Find{})
	var tr Tracker
	for i := range 2 * maxLatest {
		tr.found(Find{Requests: i})
		tr.set(Progress{Files: i + 1})
	}
	p := tr.Progress()
	if p.Files != 2*maxLatest || len(p.Finds) != maxLatest || p.Finds[0].Requests != 2*maxLatest-1 {
		t.Errorf("%+v", p)
	}
}
