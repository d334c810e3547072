package crawler

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
)

// network is an outage with a clock.
type network struct {
	outage
	now time.Time
}

func newNetwork() *network {
	return &network{now: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)}
}

// fail reports what may be done with the failure of a host: "record", "doubt" or "down".
func (n *network) fail(host string, answered bool) string {
	return n.outcome(n.weigh(host, &fetch.Exchange{Unreachable: true, Why: "no answer"}, answered, n.now))
}

func (n *network) outcome(err error) string {
	var wait *politeness.Wait
	var own *fetch.OwnTrouble
	switch {
	case err == nil:
		return "record"
	case errors.As(err, &wait) && wait.Until.Equal(n.now.Add(doubtPause)):
		return "doubt"
	case errors.As(err, &own):
		return "down"
	}
	return err.Error()
}

func (n *network) answer(t *testing.T, host string) {
	t.Helper()
	n.answerOf(t, host, true)
}

// answerOf notes an answer of a host, whose name was looked up if named.
func (n *network) answerOf(t *testing.T, host string, named bool) {
	t.Helper()
	if err := n.weigh(host, &fetch.Exchange{Status: 200, Reached: n.now, Named: named}, true, n.now); err != nil {
		t.Fatal(err)
	}
}

func (n *network) why() string {
	why, _, _ := n.state(n.now)
	return why
}

func TestAHostThatDiesAloneIsRecordedAtItsSecondFailure(t *testing.T) {
	t.Parallel()
	for _, others := range []bool{false, true} {
		n := newNetwork()
		if got := n.fail("a.example", true); got != "doubt" {
			t.Errorf("first failure: %s", got)
		}
		if n.now = n.now.Add(doubtPause); others {
			n.answer(t, "b.example")
		}
		if got := n.fail("a.example", true); got != "record" || n.why() != "" {
			t.Errorf("second failure, others answer %v: %s, held: %q", others, got, n.why())
		}
	}
	n := newNetwork() // two are not either
	for i, want := range []string{"doubt", "doubt", "record", "record"} {
		if got := n.fail(fmt.Sprintf("%d.example", i%2), true); got != want {
			t.Errorf("failure %d: %s, want %s", i, got, want)
		}
	}
}

func TestThreeHostsInARowThatAnsweredBeforeAreAnOutageAndNoneIsRecorded(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	for i := range 100 { // hosts that never answered say nothing
		if got := n.fail(fmt.Sprintf("new%d.example", i), false); got != "record" {
			t.Fatalf("a host that never answered: %s", got)
		}
	}
	n.fail("a.example", true)
	n.fail("b.example", true)
	n.answer(t, "c.example")
	if got := n.fail("d.example", true); got != "doubt" || n.why() != "" {
		t.Errorf("a host answered in between: %s, held %q", got, n.why())
	}
	n.fail("e.example", true)
	if got := n.fail("f.example", true); got != "down" ||
		!strings.Contains(n.why(), "3 hosts in a row that answered before cannot be reached") ||
		!strings.Contains(n.why(), "tried again at 06:00:30") {
		t.Errorf("the third in a row: %s, held %q", got, n.why())
	}
	for _, pause := range []time.Duration{minOutagePause, 2 * minOutagePause, 4 * minOutagePause} {
		for i := range 30 { // fetches that were under way when the pause began
			if got := n.fail(fmt.Sprintf("g%d.example", i), i%2 == 0); got != "down" {
				t.Fatalf("while the network is down: %s", got)
			}
		}
		if n.now = n.now.Add(pause - time.Second); n.why() == "" {
			t.Errorf("not held for %s", pause)
		}
		if n.now = n.now.Add(time.Second); n.why() != "" {
			t.Errorf("held for longer than %s: %s", pause, n.why())
		}
		if got := n.fail("d.example", true); got != "down" {
			t.Errorf("still down: %s", got)
		}
	}
	n.answer(t, "back.example")
	if n.why() != "" || n.fail("new.example", false) != "record" || n.fail("z.example", true) != "doubt" {
		t.Errorf("after an answer: held %q", n.why())
	}
}

func TestHostsThatNeverAnsweredAreAnOutageIfOthersDidUntilNow(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	n.answer(t, "a.example")
	for i := range 1000 {
		want := "down"
		switch {
		case i < outageHosts-1:
			want = "record"
		case i < darkHosts-1:
			want = "doubt"
		}
		if got := n.fail(fmt.Sprintf("new%d.example", i), false); got != want {
			t.Fatalf("host %d: %s, want %s", i, got, want)
		}
	}
	if n.answer(t, "b.example"); n.fail("new.example", false) != "record" {
		t.Error("an answer does not end it")
	}
	for i := range 20 {
		n.fail(fmt.Sprintf("dead%d.example", i), false)
	}
	for range 2 {
		if n.now = n.now.Add(darkFor / 3); n.fail("dead.example", false) != "down" {
			t.Error("it ended too early")
		}
	}
	for i := range 100 { // all that is due is dead
		if n.now = n.now.Add(darkFor / 2); n.fail(fmt.Sprintf("dead%d.example", i), false) != "record" || n.why() != "" {
			t.Fatalf("dead host %d is not recorded after hours; held %q", i, n.why())
		}
	}
	if n.answer(t, "c.example"); n.fail("dead.example", false) != "record" {
		t.Error("the first failure after an answer is not recorded")
	}
}

func TestAnAnswerThatBeganBeforeTheFailuresSaysNothing(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	begun := n.now.Add(-time.Second)
	n.fail("a.example", true)
	n.fail("b.example", true)
	if err := n.weigh("slow.example", &fetch.Exchange{Status: 200, Reached: begun}, true, n.now); err != nil {
		t.Fatal(err)
	}
	if got := n.fail("c.example", true); got != "down" {
		t.Errorf("the third in a row: %s", got)
	}
}

func TestHostsWithoutARouteAreInDoubtEvenIfTheyNeverAnswered(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	for i, want := range []string{"doubt", "doubt", "down"} {
		err := n.weigh(fmt.Sprintf("%d.example", i), &fetch.Exchange{Unreachable: true, NoRoute: true}, false, n.now)
		if got := n.outcome(err); got != want {
			t.Errorf("host %d: %s, want %s", i, got, want)
		}
	}
}

func TestTroubleOfThisMachineHoldsTheCrawlUntilSomethingAnswers(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	full := &fetch.OwnTrouble{Kind: fetch.TroubleDescriptors, Err: syscall.EMFILE}
	for _, pause := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		for range 20 { // workers that have the trouble at the same time
			n.note(full, n.now)
		}
		why, until, _ := n.state(n.now)
		if until.Sub(n.now) != pause*time.Second || !strings.Contains(why, "too few file descriptors") {
			t.Errorf("held for %s: %q; want %ds", until.Sub(n.now), why, pause)
		}
		n.now = until
	}
	n.answer(t, "a.example")
	n.note(full, n.now)
	if _, until, since := n.state(n.now); until.Sub(n.now) != minTroublePause || !since.Equal(n.now) {
		t.Errorf("after an answer: held for %s", until.Sub(n.now))
	}
}

func TestANameServerThatDoesNotAnswerIsNoHostsFault(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	silent := func(host string) string {
		n.now = n.now.Add(time.Second)
		return n.outcome(n.weigh(host, &fetch.Exchange{ErrorClass: catalog.ErrDNS, Unreachable: true, NoNames: true, Why: "i/o timeout"},
			false, n.now))
	}
	for i, want := range []string{"doubt", "doubt", "down", "down"} {
		if got := silent(fmt.Sprintf("%d.example", i)); got != want {
			t.Errorf("name %d that nobody answers for: %s, want %s", i, got, want)
		}
	}
	n.answerOf(t, "192.0.2.1:8080", false)
	n.answerOf(t, "placed.example", false) // by --resolve, or remembered
	if got := silent("5.example"); got != "down" || !strings.Contains(n.why(), "the name server cannot be reached") {
		t.Errorf("an address that answers ends the trouble of names: %s, %q", got, n.why())
	}
	n.now = n.now.Add(time.Second)
	n.answer(t, "b.example")
	if why := n.why(); why != "" {
		t.Errorf("after a host with a name answered: %s", why)
	}
	if got := []string{silent("6.example"), silent("6.example")}; got[0] != "doubt" || got[1] != "record" {
		t.Errorf("the name of one host alone: %v", got)
	}
}
