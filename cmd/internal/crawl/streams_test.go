package crawl

import (
	"testing"
	"time"

	"odarchive/crawler/harvest"
)

func TestAStreamIsReadAgainByItsNewestReport(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	report := func(kind, address, portal string, ended time.Duration, failure string) harvest.Report {
		s := HarvestSource{Kind: kind, Address: address, Portal: portal}
		return harvest.Report{Source: s.name(harvest.Selection{}), Kind: kind, Address: address, Started: at, Ended: at.Add(ended),
			Error: failure}
	}
	killed := report("ldes", "http://c.example/", "", 0, "")
	killed.Ended = time.Time{}
	got := streamsOf([]harvest.Report{
		report("ldes", "http://a.example/", "", time.Minute, ""), report("ckan", "http://b.example/", "", time.Minute, ""), killed,
		report("ldes", "http://a.example/", "", -time.Hour, "it failed before"),
		report("ldes", "http://a.example/", "http://p.example/", time.Minute, "it fails"),
	})
	want := []struct {
		source HarvestSource
		due    time.Time
	}{
		{HarvestSource{Kind: "ldes", Address: "http://a.example/"}, at.Add(time.Hour + time.Minute)},
		{HarvestSource{Kind: "ldes", Address: "http://c.example/"}, at},
		{HarvestSource{Kind: "ldes", Address: "http://a.example/", Portal: "http://p.example/"}, at.Add(4*time.Hour + time.Minute)},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, w := range want {
		if got[i].source != w.source || !got[i].due(time.Hour).Equal(w.due) {
			t.Errorf("%d: %+v, due %s; want %+v, due %s", i, got[i].source, got[i].due(time.Hour), w.source, w.due)
		}
	}
}
