package politeness

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/hosts"
	"odarchive/triplestore/kv"
)

// withSettings returns a Settings function for all hosts.
func withSettings(s hosts.Settings) func(string) hosts.Settings {
	s.Parallel = max(1, s.Parallel)
	return func(string) hosts.Settings { return s }
}

// waitOf returns the Wait in an error, which must be one.
func waitOf(t *testing.T, err error) *Wait {
	t.Helper()
	var w *Wait
	if !errors.As(err, &w) {
		t.Fatalf("%v, want a Wait", err)
	}
	return w
}

func TestAHostMayHaveItsOwnDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Delay: time.Second, Settings: func(host string) hosts.Settings {
			if host == "slow.example" {
				return hosts.Settings{Delay: 10 * time.Second, Parallel: 1}
			}
			return hosts.Settings{Delay: time.Second, Parallel: 1}
		}})
		for host, want := range map[string]time.Duration{"slow.example": 40 * time.Second, "a.example": 4 * time.Second} {
			began := time.Now()
			for range 5 {
				leave, err := g.Enter(t.Context(), host)
				if err != nil {
					t.Fatal(err)
				}
				leave(Result{})
			}
			if took := time.Since(began); took != want {
				t.Errorf("5 requests to %s took %v, want %v", host, took, want)
			}
		}
	})
}

func TestAsManyRequestsAsPermittedAreMadeAtATime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set  hosts.Settings
		took time.Duration // of 12 requests of 10 s, 6 to each of two hosts
	}{
		{hosts.Settings{Parallel: 1}, 60 * time.Second},
		{hosts.Settings{Parallel: 3}, 20 * time.Second},
		{hosts.Settings{Parallel: 3, Group: "*.example"}, 40 * time.Second},
		{hosts.Settings{Parallel: 3, Delay: 4 * time.Second}, 30 * time.Second}, // of one host they begin at 0, 4, 8, 12, 16 and 20 s
	} {
		synctest.Test(t, func(t *testing.T) {
			g := New(Options{Delay: time.Second, Patience: time.Hour, Settings: withSettings(c.set)})
			var mu sync.Mutex
			var starts []time.Duration
			inside, most := 0, 0
			began := time.Now()
			var wg sync.WaitGroup
			for _, host := range []string{"a.example", "b.example"} {
				for range 6 {
					wg.Go(func() {
						leave, err := g.Enter(t.Context(), host)
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						if inside++; host == "a.example" {
							starts = append(starts, time.Since(began))
						}
						most = max(most, inside)
						mu.Unlock()
						time.Sleep(10 * time.Second)
						mu.Lock()
						inside--
						mu.Unlock()
						leave(Result{})
					})
				}
			}
			wg.Wait()
			limit := 2 * c.set.Parallel
			if c.set.Group != "" {
				limit = c.set.Parallel
			}
			if most > limit {
				t.Errorf("%+v: %d requests at a time", c.set, most)
			}
			slices.Sort(starts)
			for i := range starts[1:] {
				if gap := starts[i+1] - starts[i]; gap < c.set.Delay {
					t.Errorf("%+v: requests began %v apart", c.set, gap)
				}
			}
			if took := time.Since(began); took != c.took {
				t.Errorf("%+v: took %v, want %v (%v)", c.set, took, c.took, starts)
			}
		})
	}
}

func TestAPausedHostIsNotAskedNotEvenBehindARedirect(t *testing.T) {
	t.Parallel()
	fetcher, asked := answers(t, map[string]string{
		"http://a.example/robots.txt": "404", "http://b.example/robots.txt": "404", "http://a.example/x": "302 http://b.example/y",
		"http://b.example/y": "200 b",
	})
	paused := map[string]string{"b.example": "maintenance"}
	g := New(Options{Delay: -1, Fetch: fetcher, Settings: func(host string) hosts.Settings {
		return hosts.Settings{Parallel: 1, Paused: paused[host]}
	}})
	_, _, err := g.Visit(t.Context(), "http://b.example/y", time.Minute)
	if w := waitOf(t, err); w.Why != "paused" {
		t.Errorf("a visit of a paused host: %v", w)
	}
	pass, _, err := g.Visit(t.Context(), "http://a.example/x", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := pass.Check("http://b.example/y"); err == nil || !strings.Contains(err.Error(), "paused") {
		t.Errorf("a redirect to a paused host: %v", err)
	}
	pass.Leave(Result{})
	for _, url := range *asked {
		if strings.Contains(url, "b.example") {
			t.Errorf("%s was asked", url)
		}
	}
	delete(paused, "b.example")
	if pass, _, err = g.Visit(t.Context(), "http://b.example/y", time.Minute); err != nil {
		t.Errorf("after the pause: %v", err)
	} else {
		pass.Leave(Result{})
	}
}

func TestTheRequestsOfADayAreLimitedAcrossRestarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		daily hosts.Daily
		files int
		want  int
	}{{hosts.Daily{Requests: 5}, 0, 5}, {hosts.Daily{Percent: 10}, 3000, 300}, {hosts.Daily{Percent: 10}, 3, hosts.MinShare}} {
		db, err := kv.Open("", kv.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		open := func() *Gate {
			return New(Options{DB: db, Delay: -1, Files: func(string) int { return c.files },
				Settings: withSettings(hosts.Settings{Daily: c.daily})})
		}
		g := open()
		for n := range c.want {
			if n%2 == 1 {
				g = open() // as after kill -9
			}
			leave, err := g.Enter(t.Context(), "a.example")
			var w *Wait
			if errors.As(err, &w) && c.daily.Limit(c.files) > 256 { // some are reserved ahead
				break
			}
			if err != nil {
				t.Fatalf("%v: request %d: %v", c.daily, n, err)
			}
			leave(Result{})
		}
		for range 2 {
			_, err := g.Enter(t.Context(), "a.example")
			w := waitOf(t, err)
			if until := time.Until(w.Until); w.Why != "daily" || until <= 0 || until > 24*time.Hour {
				t.Errorf("%v: %v", c.daily, w)
			}
			g = open()
		}
		if leave, err := g.Enter(t.Context(), "b.example"); err != nil {
			t.Errorf("another host: %v", err)
		} else {
			leave(Result{})
		}
	}
}

func TestTheNextDayBeginsAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Delay: -1, Settings: withSettings(hosts.Settings{Daily: hosts.Daily{Requests: 1}})})
		for range 3 {
			leave, err := g.Enter(t.Context(), "a.example")
			if err != nil {
				t.Fatal(err)
			}
			leave(Result{})
			_, err = g.Enter(t.Context(), "a.example")
			time.Sleep(time.Until(waitOf(t, err).Until))
		}
	})
}

func TestDoorsThatRestAreForgottenWithTheirExactCounts(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	g := New(Options{DB: db, Delay: -1, Settings: withSettings(hosts.Settings{Daily: hosts.Daily{Requests: 10_000}})})
	enter := func(host string) {
		leave, err := g.Enter(t.Context(), host)
		if err != nil {
			t.Fatal(err)
		}
		leave(Result{})
	}
	enter("a.example")
	g.mu.Lock()
	for n := range maxTurnstiles {
		g.turnstiles[strings.Repeat("x", n+1)] = &turnstile{next: time.Now().Add(-time.Hour)}
	}
	g.turnstiles["a.example"].next = time.Now().Add(-time.Hour)
	g.mu.Unlock()
	enter("b.example") // settles
	g.mu.Lock()
	g.swept = time.Time{}
	g.mu.Unlock()
	enter("c.example") // sweeps
	if _, ok := g.Status("a.example"); ok {
		t.Error("the turnstile stays")
	}
	enter("a.example")
	if used := g.turnstiles["a.example"].today.used; used != 2 {
		t.Errorf("%d requests are counted, want 2", used)
	}
}

func TestAnExceptionFromRobotsIsNamedAndHoldsForRedirects(t *testing.T) {
	t.Parallel()
	fetcher, asked := answers(t, map[string]string{
		"http://a.example/robots.txt": "200 User-agent: *\nDisallow: /\nCrawl-delay: 0.1",
		"http://b.example/robots.txt": "200 User-agent: *\nDisallow: /",
		"http://b.example/x":          "200 x",
	})
	permitted := false
	g := New(Options{Delay: -1, Fetch: fetcher, Settings: func(host string) hosts.Settings {
		s := hosts.Settings{Parallel: 1, MaxCrawlDelay: time.Hour}
		if host == "a.example" && permitted {
			s.Robots = &hosts.Exception{By: "Jane Doe", Why: "she owns it"}
		}
		return s
	}})
	if _, v, err := g.Visit(t.Context(), "http://a.example/x", time.Minute); err != nil || v.Allowed {
		t.Fatal(v, err)
	}
	permitted = true
	g.Robots.Refresh()
	pass, v, err := g.Visit(t.Context(), "http://a.example/x", time.Minute)
	if err != nil || !v.Allowed || pass.Exception() != "robots.txt is ignored by permission of Jane Doe: she owns it" {
		t.Fatal(v, err)
	}
	if err := pass.Check("http://b.example/x"); err == nil {
		t.Error("the exception of one host holds for another")
	}
	pass.Leave(Result{})
	if d := g.turnstiles["a.example"].crawl; d != 0 {
		t.Errorf("a Crawl-delay of %v is kept although robots.txt is ignored", d)
	}
	*asked = nil
	pass, _, err = g.Visit(t.Context(), "http://b.example/robots.txt", time.Minute)
	if err != nil || pass == nil {
		t.Fatal(err)
	}
	if err := pass.Check("http://a.example/y"); err != nil {
		t.Errorf("a redirect to a host with an exception: %v", err)
	}
	if pass.Exception() == "" {
		t.Error("an exception that a redirect needed is not named")
	}
	pass.Leave(Result{})
}

func TestACrawlDelayIsCutToTheOperatorsMaximum(t *testing.T) {
	t.Parallel()
	fetcher, _ := answers(t, map[string]string{"http://a.example/robots.txt": "200 User-agent: *\nCrawl-delay: 600"})
	g := New(Options{Delay: -1, Fetch: fetcher, Settings: withSettings(hosts.Settings{MaxCrawlDelay: 20 * time.Second})})
	if _, err := g.Robots.Allowed(t.Context(), "http://a.example/x"); err != nil {
		t.Fatal(err)
	}
	if d := g.turnstiles["a.example"].crawl; d != 20*time.Second {
		t.Errorf("the Crawl-delay is %v, want 20s", d)
	}
}

func TestRobotsRulesAreThoseForTheNameThatTheHostIsTold(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	fetcher, _ := answers(t, map[string]string{
		"http://a.example/robots.txt": "200 User-agent: odarchive\nDisallow: /\nUser-agent: special\nDisallow: /no"})
	agent := ""
	g := New(Options{DB: db, Delay: -1, Fetch: fetcher,
		Settings: func(string) hosts.Settings { return hosts.Settings{Parallel: 1, UserAgent: agent} }})
	for name, want := range map[string]bool{"": false, "special/2.0 (a word)": true} {
		agent = name
		g.Robots.Refresh()
		if v, err := g.Robots.Allowed(t.Context(), "http://a.example/x"); err != nil || v.Allowed != want {
			t.Errorf("as %q: %+v, %v, want allowed %v", name, v, err, want)
		}
	}
}

func TestAForgottenHostIsAsIfItHadNeverBeenAsked(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	table := map[string]string{"http://a.example/robots.txt": "200 User-agent: *\nDisallow: /"}
	fetcher, asked := answers(t, table)
	g := New(Options{DB: db, Delay: -1, Fetch: fetcher, Settings: withSettings(hosts.Settings{Daily: hosts.Daily{Requests: 2}})})
	if v, err := g.Robots.Allowed(t.Context(), "http://a.example/x"); err != nil || v.Allowed {
		t.Fatal(v, err)
	}
	leave, err := g.Enter(t.Context(), "a.example")
	if err != nil {
		t.Fatal(err)
	}
	leave(Result{Outcome: catalog.RetryLater, RetryAfter: time.Hour})
	if _, err := g.Enter(t.Context(), "a.example"); waitOf(t, err).Why != "retry-after" {
		t.Fatal(err)
	}
	if err := g.Forget(t.Context(), "a.example"); err != nil {
		t.Fatal(err)
	}
	table["http://a.example/robots.txt"] = "404"
	for range 2 {
		if v, err := g.Robots.Allowed(t.Context(), "http://a.example/x"); err != nil || !v.Allowed {
			t.Fatal(v, err)
		}
		if leave, err = g.Enter(t.Context(), "a.example"); err == nil {
			leave(Result{})
		}
		// the second process finds nothing of before, but what was asked since
		g = New(Options{DB: db, Delay: -1, Fetch: fetcher, Settings: withSettings(hosts.Settings{Daily: hosts.Daily{Requests: 2}})})
	}
	if n := len(*asked); n != 2 {
		t.Errorf("robots.txt was fetched %d times, want 2", n)
	}
}

func TestAHostWhoseLimitIsUsedUpRestsWithoutAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Delay: time.Second})
		leave, err := g.Enter(t.Context(), "a.example")
		if err != nil {
			t.Fatal(err)
		}
		leave(Result{Outcome: catalog.Archived, Rest: 20 * time.Minute})
		if held, why := g.Held("a.example"); held != 20*time.Minute || why != "rate-limit" {
			t.Errorf("held for %v (%s)", held, why)
		}
		if s, _ := g.Status("a.example"); s.Failures != 0 {
			t.Errorf("%d failures", s.Failures)
		}
		time.Sleep(20 * time.Minute)
		if leave, err = g.Enter(t.Context(), "a.example"); err != nil {
			t.Fatal(err)
		}
		leave(Result{})
		if held, _ := g.Held("a.example"); held != time.Second {
			t.Errorf("then held for %v", held)
		}
	})
}
