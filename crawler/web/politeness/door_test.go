package politeness

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

func down(url string) Result {
	return Result{URL: url, Outcome: catalog.NoVersion, Class: catalog.ErrTimeout, Error: "no answer"}
}

func pass(t *testing.T, g *Gate, door string, r Result) {
	t.Helper()
	leave, err := g.Enter(t.Context(), door)
	if err != nil {
		t.Fatal(err)
	}
	leave(r)
}

func TestADoorWhoseURLsFailInARowIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Delay: -1})
		const door = "ftp://a.example"
		for i := range 3 {
			if c, closed := g.Closed(door); closed {
				t.Errorf("closed after %d failures: %+v", i, c)
			}
			pass(t, g, door, down(fmt.Sprintf("%s/%d", door, i)))
		}
		c, closed := g.Closed(door)
		if !closed || time.Until(c.Until) < time.Minute || c.Failures != 3 || c.Error != "no answer" {
			t.Errorf("after three failures: %v, %+v", closed, c)
		}
		var wait *Wait
		if _, err := g.Enter(t.Context(), door); !errors.As(err, &wait) || wait.Door != door || wait.Why != "back-off" {
			t.Errorf("entering meanwhile: %v", err)
		}
		if d, why := g.Held("a.example"); d != 0 {
			t.Errorf("the host waits for %v (%s)", d, why)
		}
		pass(t, g, "http://a.example", Result{URL: "http://a.example/good"}) // does not wait
		if _, closed := g.Closed(door); !closed {
			t.Error("an answer at port 80 opens port 21")
		}
		if leave, err := g.Enter(Asked(t.Context()), door); err != nil {
			t.Errorf("a person asks: %v", err)
		} else {
			leave(Result{})
		}
		time.Sleep(time.Until(c.Until))
		pass(t, g, door, Result{URL: door + "/0", Outcome: catalog.NoVersion, Class: catalog.ErrHTTPStatus})
		pass(t, g, door, down(door+"/9"))
		if c, closed := g.Closed(door); closed {
			t.Errorf("one failure after an answer closes it: %+v", c)
		}
	})
}

func TestFailuresOfOneURLCountOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Delay: -1})
		for range 20 {
			pass(t, g, "http://a.example", down("http://a.example/dead"))
		}
		pass(t, g, "http://a.example", down("http://a.example/deadtoo"))
		if c, closed := g.Closed("http://a.example"); closed {
			t.Errorf("two URLs that fail close the door: %+v", c)
		}
	})
}

// TestRetriesOfDeadURLsDoNotCloseTheDoor is a healthy host with four files that time out, whose retries come in a row,
// after the good ones, and once more in another process.
func TestRetriesOfDeadURLsDoNotCloseTheDoor(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const door = "http://a.example"
	g := New(Options{DB: db, Delay: -1})
	visit := func(r Result) {
		t.Helper()
		leave, err := g.Enter(Asked(t.Context()), door) // not to wait where the first failures close it
		if err != nil {
			t.Fatal(err)
		}
		leave(r)
	}
	for i := range 4 {
		visit(down(fmt.Sprintf("%s/dead%d", door, i)))
	}
	closed, _ := g.Closed(door)
	visit(down(door + "/dead3")) // a person asks for it
	if c, _ := g.Closed(door); c != closed {
		t.Errorf("a retry closes the door again: %+v, then %+v", closed, c)
	}
	visit(Result{URL: door + "/good"})
	for range 2 {
		for i := range 4 {
			visit(down(fmt.Sprintf("%s/dead%d", door, i)))
		}
		if c, closed := g.Closed(door); closed {
			t.Errorf("retries of dead URLs close the door: %+v", c)
		}
		g = New(Options{DB: db, Delay: -1})
	}
	for i := range 4 {
		visit(Result{URL: fmt.Sprintf("%s/dead%d", door, i)}) // they were not dead for ever
	}
	for i := range 3 {
		visit(down(fmt.Sprintf("%s/dead%d", door, i)))
	}
	if _, closed := g.Closed(door); !closed {
		t.Error("what fails after it has answered does not count")
	}
}

func TestBrokenConnectionsAreTheURLsOwnFault(t *testing.T) {
	t.Parallel()
	g := New(Options{Delay: -1})
	const door = "http://a.example"
	for i := range 50 {
		pass(t, g, door, Result{URL: fmt.Sprintf("%s/%d", door, i), Outcome: catalog.NoVersion, Class: catalog.ErrNetwork, Connected: true})
	}
	if c, closed := g.Closed(door); closed {
		t.Errorf("the door is closed: %+v", c)
	}
	if s, _ := g.Status("a.example"); s.Failures != 50 {
		t.Errorf("%d failures were counted", s.Failures)
	}
}

// TestClosedDoorsAndAnswersSurviveARestart holds what a process found of a door against what the next one does.
func TestClosedDoorsAndAnswersSurviveARestart(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const door = "https://a.example"
	g := New(Options{DB: db, Delay: -1})
	for i := range 3 {
		pass(t, g, door, down(fmt.Sprintf("%s/%d", door, i)))
	}
	g = New(Options{DB: db, Delay: -1})
	if c, closed := g.Closed(door); !closed || c.Failures != 3 {
		t.Errorf("a closed door is forgotten: %+v", c)
	}
	leave, err := g.Enter(Asked(t.Context()), door)
	if err != nil {
		t.Fatal(err)
	}
	leave(Result{URL: door + "/0"})
	g = New(Options{DB: db, Delay: -1})
	pass(t, g, door, down(door+"/1"))
	if c, closed := g.Closed(door); closed {
		t.Errorf("an answer is forgotten: %+v", c)
	}
}

// event is one request, as a person who reads the log of a crawl sees it.
type event struct {
	at   time.Time
	url  string
	word word
	wait time.Duration // for which the door was closed then, whose length is random within limits
}

// closings returns, by reading all of what happened from the beginning, how often a door was closed since its last
// answer, and when it opens. why says what was wrong.
func closings(log []event, door string) (n int, until time.Time, why string) {
	var last time.Time
	row := 0
	for i, e := range log {
		scheme, _ := splitDoor(e.url)
		if scheme != door {
			continue
		}
		if n > 0 && e.at.Sub(until) > quiet && e.at.Sub(last) > quiet {
			n, row, until = 0, 0, time.Time{}
		}
		switch e.word {
		case answered:
			n, row, until = 0, 0, time.Time{}
		case failed:
			if lastWord(log[:i], e.url) == failed {
				continue // it says no more than it did
			}
			if row++; row < failuresInRow {
				continue
			}
			if want := min(firstBackoff<<min(n, 20), 24*time.Hour); e.wait < want || e.wait > min(want*5/4, 24*time.Hour) {
				why = fmt.Sprintf("%s was closed for %v at %v, want %v and up to a quarter more", door, e.wait, e.at, want)
			}
			n, last, until = n+1, e.at, e.at.Add(e.wait)
		}
	}
	return n, until, why
}

// lastWord returns whether a URL failed or answered when either last happened.
func lastWord(log []event, url string) word {
	for _, e := range slices.Backward(log) {
		if e.url == url && (e.word == failed || e.word == answered) {
			return e.word
		}
	}
	return nothing
}

// TestDoorsAreThoseOfANaiveReader compares the doors of a host, over random outcomes and restarts, with somebody who
// reads the whole log each time.
func TestDoorsAreThoseOfANaiveReader(t *testing.T) {
	t.Parallel()
	for range 500 {
		seed := rand.Uint64()
		if why := compareDoors(rand.New(rand.NewPCG(seed, 1))); why != "" {
			t.Fatalf("seed %d: %s", seed, why)
		}
	}
}

func compareDoors(random *rand.Rand) (why string) {
	const host = "a.example"
	results := []struct {
		word word
		Result
	}{
		{failed, Result{Outcome: catalog.NoVersion, Class: catalog.ErrNetwork}},
		{failed, Result{Outcome: catalog.NoVersion, Class: catalog.ErrTimeout}},
		{failed, Result{Outcome: catalog.NoVersion, Class: catalog.ErrTLS}},
		{failed, Result{Outcome: catalog.NoVersion, Class: catalog.ErrDNS}},
		{broken, Result{Outcome: catalog.NoVersion, Class: catalog.ErrNetwork, Connected: true}},
		{answered, Result{Outcome: catalog.NoVersion, Class: catalog.ErrHTTPStatus}},
		{answered, Result{Outcome: catalog.NoVersion, Class: catalog.ErrTimeout, Connected: true, Latency: time.Second}},
		{answered, Result{Outcome: catalog.RetryLater}},
		{answered, Result{}},
		{nothing, Result{Outcome: catalog.Blocked, Class: catalog.ErrForbiddenTarget}},
		{nothing, Result{Outcome: catalog.NoVersion, Class: catalog.ErrDiskFull}},
	}
	failing := 5 + random.IntN(len(results)-4) // some hosts fail more often than others
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g := &turnstile{}
	var log []event
	for step := range 200 {
		now = now.Add(time.Duration(random.IntN(20)) * 10 * time.Second)
		if random.IntN(100) == 0 {
			now = now.Add(100 * 24 * time.Hour)
		}
		scheme := []string{"ftp", "http", "https"}[random.IntN(3)]
		c, closed := g.closed(scheme, host, now)
		n, until, why := closings(log, scheme)
		if why == "" && closed != now.Before(until) {
			why = fmt.Sprintf("%s is closed: %v; it was closed %d times, until %v, now it is %v", scheme, closed, n, until, now)
		}
		if why == "" && closed && (c.Failures < failuresInRow || !c.Until.Equal(until)) {
			why = fmt.Sprintf("%+v, want until %v", c, until)
		}
		if why != "" {
			return fmt.Sprintf("step %d: %s", step, why)
		}
		if random.IntN(20) == 0 { // another process
			b, err := json.Marshal(g.saved())
			var s savedHost
			if err = errors.Join(err, json.Unmarshal(b, &s)); err != nil {
				return err.Error()
			}
			g = &turnstile{}
			g.restore(s)
		}
		if closed && random.IntN(4) > 0 {
			continue // nobody asks
		}
		one := results[random.IntN(failing)]
		r := one.Result
		r.URL = fmt.Sprintf("%s://%s/%d", scheme, host, random.IntN(9))
		g.noteDoor(host, r, now, 24*time.Hour)
		after, _ := g.closed(scheme, host, now)
		log = append(log, event{now, r.URL, one.word, after.Until.Sub(now)})
	}
	return ""
}
