package crawler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/frontier"
)

func TestHostsThatAnsweredBeforeAndFailInARowAreAnOutage(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	down := catalog.Activity{Outcome: catalog.NoVersion, ErrorClass: catalog.ErrDNS}
	known := frontier.Job{Fetches: 3}
	var o outage
	fail := func(n int, job frontier.Job, act catalog.Activity) {
		for i := range n {
			o.note(fmt.Sprintf("h%d.example", i), job, act, now)
		}
	}
	fail(100, frontier.Job{}, down)                      // new ones: nobody knows whether they ever answer
	fail(100, frontier.Job{Fetches: 9, Errors: 4}, down) // long gone
	fail(100, known, catalog.Activity{Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: 503})
	for range 100 {
		o.note("one.example", known, down, now)
	}
	if fail(outageHosts-2, known, down); o.why(now) != "" {
		t.Fatalf("held: %s", o.why(now))
	}
	o.note("answers.example", known, catalog.Activity{Outcome: catalog.Unchanged, Status: 304}, now)
	if fail(outageHosts-1, known, down); o.why(now) != "" {
		t.Fatalf("held although a host answered: %s", o.why(now))
	}
	o.note("last.example", known, down, now)
	if why := o.why(now); !strings.Contains(why, "20 hosts in a row that answered before cannot be reached; tried again at 06:00:30") {
		t.Errorf("why: %q", why)
	}
	fail(outageHosts, known, down) // what was under way when the pause began
	for _, pause := range []time.Duration{outagePause, 2 * outagePause, 4 * outagePause} {
		if o.why(now.Add(pause-time.Second)) == "" || o.why(now.Add(pause)) != "" {
			t.Errorf("held %q, want it for %v", o.why(now), pause)
		}
		now = now.Add(pause)
		fail(outageHosts, known, down)
	}
	o.note("back.example", known, catalog.Activity{Outcome: catalog.Archived, Status: 200}, now)
	if why := o.why(now); why != "" {
		t.Errorf("held after a host answered: %s", why)
	}
}
