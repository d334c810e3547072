package crawler

import (
	"testing"
	"time"

	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/politeness"
)

func TestHostsThatWaitForTheSameReasonAreSaidTogether(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)
	wait := func(host, why, failure string, after time.Duration) HostWait {
		w := HostWait{Host: host, Due: 2, Until: at.Add(after), Why: why, Failure: failure}
		if failure != "" {
			w.Door, w.Failures = "ftp://"+host, 3
		}
		return w
	}
	for want, w := range map[string]Waits{
		"2 files are due; a.example may be asked again at 2026-11-29T08:00:00Z (it asked to be left alone)": {Due: 2,
			Hosts: []HostWait{wait("a.example", "retry-after", "", 0)}},
		"2 files are due, and nothing is asked for: the crawl stands still: lunch": {Held: "lunch", Due: 2,
			Askable: 2},
		"4 files are due; a.example and b.example may be asked again from 2026-11-29T08:00:00Z (it asked to be left alone)": {Due: 4,
			Hosts: []HostWait{
				wait("a.example", "retry-after", "", 0), wait("b.example", "retry-after", "", time.Hour)}},
		"12 files are due; 10 of them: a.example, b.example, c.example and 2 more may be asked again at 2026-11-29T08:00:00Z (it asked " +
			"to be left alone); " +
			"2 of them: ftp://f.example may be asked again at 2026-11-29T09:00:00Z (3 failures in a row: refused); 2 more hosts wait": {
			Due: 12, More: 2, Hosts: []HostWait{
				wait("a.example", "retry-after", "", 0), wait("b.example", "retry-after", "", 0), wait("c.example", "retry-after", "", 0),
				wait("d.example", "retry-after", "", 0),
				wait("f.example", "back-off", "refused", time.Hour), wait("e.example", "retry-after", "", 0)}},
	} {
		if got := w.String(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestAHostDoesNotWaitBecauseOneOfItsDoorsIsClosed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)
	p := &Pipeline{Clock: func() time.Time { return at }}
	info := frontier.HostInfo{Group: "a.example", Due: 2, NextDue: at.Add(-time.Hour),
		Closed: []frontier.ClosedDoor{{Door: "ftp://a.example", Due: 2, NotBefore: at.Add(time.Minute), Wait: "back-off"}}}
	gate := politeness.Status{State: "waiting", Wait: "back-off", Closed: []politeness.Closed{{Door: "ftp://a.example"}}}
	s := p.hostStatus(info, gate)
	if s.State != "due" || s.Wait != "" || !s.Next.Equal(at.Add(time.Minute)) || len(s.Closed) != 1 ||
		s.Closed[0].Door != "ftp://a.example" {
		t.Errorf("%+v", s)
	}
}
