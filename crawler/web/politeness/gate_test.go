package politeness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/spool"
	"odarchive/triplestore/kv"
)

// answers is a fetch function with responses from a table: URL to "status body".
func answers(t *testing.T, table map[string]string) (fetcher func(context.Context, fetch.Request) (*fetch.Exchange, error),
	asked *[]string) {
	t.Helper()
	s, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	asked = &[]string{}
	return func(ctx context.Context, r fetch.Request) (*fetch.Exchange, error) {
		ex := &fetch.Exchange{URL: r.URL, Start: time.Now()}
		for url := r.URL; ; {
			mu.Lock()
			*asked = append(*asked, url)
			answer, ok := table[url]
			mu.Unlock()
			if !ok {
				answer = "404"
			}
			status, body, _ := strings.Cut(answer, " ")
			fmt.Sscan(status, &ex.Status)
			switch {
			case status == "private":
				ex.Outcome, ex.ErrorClass, ex.Why = catalog.Blocked, catalog.ErrForbiddenTarget, "an address that is not public"
			case status == "down":
				ex.Outcome, ex.ErrorClass, ex.Why = catalog.NoVersion, catalog.ErrNetwork, "connection refused"
			case ex.Status == 429 || ex.Status == 503:
				ex.Outcome, ex.ErrorClass = catalog.RetryLater, catalog.ErrHTTPStatus
			case ex.Status >= 300 && ex.Status < 400:
				if err := r.Check(body); err != nil {
					var no *fetch.Refused
					if !errors.As(err, &no) {
						return nil, err
					}
					ex.Outcome, ex.ErrorClass, ex.Why = no.Outcome, no.Class, no.Why
					return ex, nil
				}
				url = body
				continue
			case ex.Status != 200:
				ex.Outcome, ex.ErrorClass = catalog.NoVersion, catalog.ErrHTTPStatus
			case body == "":
				ex.Outcome, ex.ErrorClass = catalog.NoVersion, catalog.ErrEmptyBody
			default:
				ex.Body = s.Create()
				fmt.Fprint(ex.Body, body)
				return ex, ex.Body.Finish()
			}
			return ex, nil
		}
	}, asked
}

func TestOnePassageAtATimeAndThePauseIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Delay: time.Second, Patience: time.Hour})
		var inside, total atomic.Int32
		var mu sync.Mutex
		var left time.Time
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				leave, err := g.Enter(t.Context(), "a.example")
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two are inside")
				}
				mu.Lock()
				if !left.IsZero() && time.Since(left) < time.Second {
					t.Errorf("only %v after the one before", time.Since(left))
				}
				mu.Unlock()
				time.Sleep(10 * time.Millisecond)
				total.Add(1)
				inside.Add(-1)
				mu.Lock()
				left = time.Now()
				mu.Unlock()
				leave(Result{})
			})
		}
		begin := time.Now()
		leave, err := g.Enter(t.Context(), "b.example")
		if err != nil || time.Since(begin) > time.Second {
			t.Errorf("another host waits too: %v after %v", err, time.Since(begin))
		} else {
			leave(Result{})
		}
		wg.Wait()
		if total.Load() != 50 {
			t.Errorf("%d passages", total.Load())
		}
	})
}

func TestSlowHostsRestLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Delay: time.Second})
		leave, _ := g.Enter(t.Context(), "a.example")
		leave(Result{Latency: 5 * time.Second})
		if d, why := g.Held("a.example"); d != 20*time.Second || why != "politeness" {
			t.Errorf("held for %v (%s) after an answer that took 5 s", d, why)
		}
	})
}

func TestBackOffDoublesAndIsForgiven(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Delay: -1, Patience: -1})
		busy := Result{Outcome: catalog.RetryLater}
		visit := func(r Result) time.Duration {
			t.Helper()
			leave, err := g.Enter(t.Context(), "a.example")
			if err != nil {
				t.Fatal(err)
			}
			leave(r)
			d, _ := g.Held("a.example")
			return d
		}
		within := func(d, from time.Duration) {
			t.Helper()
			if d < from || d > from*5/4 {
				t.Errorf("the back-off is %v, want %v and up to a quarter more", d, from)
			}
		}
		for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
			d := visit(busy)
			within(d, want)
			var wait *Wait
			if _, err := g.Enter(t.Context(), "a.example"); !errors.As(err, &wait) || wait.Why != "back-off" {
				t.Errorf("entering meanwhile: %v", err)
			}
			time.Sleep(d)
		}
		if d := visit(Result{}); d != 0 {
			t.Errorf("held for %v after a good answer", d)
		}
		within(visit(busy), 8*time.Minute)
		time.Sleep(50 * time.Minute)
		within(visit(busy), time.Minute)
		time.Sleep(2 * time.Minute)
		if d := visit(Result{Outcome: catalog.RetryLater, RetryAfter: 90 * time.Second}); d != 90*time.Second {
			t.Errorf("Retry-After of 90 s holds for %v", d)
		}
		time.Sleep(2 * time.Hour)
		if d := visit(Result{Outcome: catalog.RetryLater, RetryAfter: 1000 * time.Hour}); d != 24*time.Hour {
			t.Errorf("an endless Retry-After holds for %v", d)
		}
	})
}

func TestBackOffsSurviveARestart(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	g := New(Options{DB: db})
	leave, _ := g.Enter(t.Context(), "a.example")
	leave(Result{Outcome: catalog.RetryLater, RetryAfter: time.Hour})
	if d, why := New(Options{DB: db}).Held("a.example"); d < 59*time.Minute || why != "retry-after" {
		t.Errorf("after the restart held for %v (%s)", d, why)
	}
}

func TestAfterARestartWhatSettingsForbadeIsAskedForAgain(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	table := map[string]string{"http://a.example/robots.txt": "private", "http://b.example/robots.txt": "down"}
	fetcher, asked := answers(t, table)
	verdict := func(url string) Verdict {
		t.Helper()
		v, err := New(Options{DB: db, Fetch: fetcher, Delay: -1}).Robots.Allowed(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := verdict("http://a.example/x"); v.Allowed || v.Outcome() != catalog.Blocked {
		t.Errorf("a private address: %+v", v)
	}
	verdict("http://b.example/x")
	table["http://a.example/robots.txt"] = "404"
	if v := verdict("http://a.example/x"); !v.Allowed {
		t.Errorf("once private addresses may be fetched: %+v", v)
	}
	if verdict("http://b.example/x"); len(*asked) != 3 {
		t.Errorf("asked for %q, want the host that was down only once", *asked)
	}
}

func TestHostsOfOneDomainOrAddressTakeTurns(t *testing.T) {
	t.Parallel()
	g := New(Options{PerDomain: true, PerAddress: true, Patience: -1, Resolver: sameAddress{}})
	leave, err := g.Enter(t.Context(), "a.example.org")
	if err != nil {
		t.Fatal(err)
	}
	var wait *Wait
	if _, err := g.Enter(t.Context(), "b.example.org"); !errors.As(err, &wait) {
		t.Errorf("a host of the same domain: %v", err)
	}
	if _, err := g.Enter(t.Context(), "other.net"); !errors.As(err, &wait) || !strings.Contains(err.Error(), "192.0.2.7") {
		t.Errorf("a host at the same address: %v", err)
	}
	leave(Result{})
}

func TestAnAddressIsLookedUpAsAWholeAndHasNoDomain(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"[2001:db8::7]:8080": "address 2001:db8::7",
		"[2001:db8::7]":      "address 2001:db8::7",
		"192.0.2.9:81":       "address 192.0.2.9",
		"192.0.2.9":          "address 192.0.2.9",
	} {
		g := New(Options{PerDomain: true, PerAddress: true, Resolver: noNames{t}})
		keys, err := g.keys(t.Context(), host, hosts.Settings{})
		if err != nil || !slices.Contains(keys, want) || len(keys) != 2 {
			t.Errorf("%s: turnstiles %q, %v; want %q and the host", host, keys, err, want)
		}
	}
}

// noNames is a Resolver that resolves IP addresses only.
type noNames struct{ t *testing.T }

func (n noNames) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	a, err := netip.ParseAddr(host)
	if err != nil {
		n.t.Errorf("the resolver is asked for %q", host)
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return []netip.Addr{a}, nil
}

func TestHostsThatWaitForOneAddressAreToldDifferentTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{PerAddress: true, Delay: 2 * time.Second, Patience: -1, Resolver: sameAddress{}})
		leave, err := g.Enter(t.Context(), "first.example")
		if err != nil {
			t.Fatal(err)
		}
		leave(Result{})
		told := map[time.Duration]int{}
		for i := range 60 {
			var wait *Wait
			if _, err := g.Enter(t.Context(), fmt.Sprintf("h%d.example", i)); !errors.As(err, &wait) {
				t.Fatalf("host %d: %v, want that it waits", i, err)
			}
			told[time.Until(wait.Until)]++
		}
		for in, n := range told {
			if in < 2*time.Second || in > time.Minute || n > 3 {
				t.Errorf("%d hosts are told to come in %v, want one passage for each and all within a minute", n, in)
			}
		}
	})
}

type sameAddress struct{}

func (sameAddress) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("192.0.2.7")}, nil
}

func TestStatusOfRobotsTxtDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer       string
		allowed, temporary bool
	}{
		{"rules that allow", "200 User-agent: *\nDisallow: /other", true, false},
		{"rules that forbid", "200 User-agent: *\nDisallow: /a", false, false},
		{"an empty file", "200", true, false},
		{"missing", "404", true, false},
		{"gone", "410", true, false},
		{"unauthorised", "401", true, false},
		{"forbidden", "403", true, false},
		{"too many requests", "429", false, true},
		{"server error", "500", false, true},
		{"unavailable", "503", false, true},
		{"unreachable", "down", false, true},
		{"moved", "301 http://www.a.example/robots.txt", false, false},
		{"moved in a circle", "301 http://a.example/robots.txt", true, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			fetcher, asked := answers(t,
				map[string]string{"http://a.example/robots.txt": c.answer,
					"http://www.a.example/robots.txt": "200 User-agent: *\nDisallow: /a"})
			g := New(Options{Fetch: fetcher})
			v, err := g.Robots.Allowed(t.Context(), "http://a.example/a")
			if err != nil || v.Allowed != c.allowed || v.Temporary != c.temporary || v.Reason == "" {
				t.Errorf("%s: %+v, %v", c.name, v, err)
			}
			n := len(*asked)
			time.Sleep(10 * time.Minute)
			if _, err := g.Robots.Allowed(t.Context(), "http://a.example/b"); err != nil || len(*asked) != n {
				t.Errorf("%s: the answer was not kept", c.name)
			}
			if n > 6 {
				t.Errorf("%s: %d requests", c.name, n)
			}
		})
	}
}

func TestTheLastGoodCopyHoldsWhileRobotsTxtIsUnreachable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		table := map[string]string{"http://a.example/robots.txt": "200 User-agent: *\nDisallow: /a"}
		fetcher, asked := answers(t, table)
		g := New(Options{Fetch: fetcher, Patience: 10 * time.Minute, MaxWait: time.Minute})
		check := func(path string, want bool) {
			t.Helper()
			if v, err := g.Robots.Allowed(t.Context(), "http://a.example"+path); err != nil || v.Allowed != want {
				t.Errorf("%s: %+v, %v", path, v, err)
			}
		}
		check("/a", false)
		check("/b", true)
		table["http://a.example/robots.txt"] = "500"
		time.Sleep(25 * time.Hour)
		check("/a", false)
		check("/b", true)
		if len(*asked) != 2 {
			t.Errorf("asked %d times, want twice: a copy is fresh for a day", len(*asked))
		}
		time.Sleep(20 * 24 * time.Hour)
		check("/b", true)
		time.Sleep(9*24*time.Hour + 12*time.Hour)
		check("/b", false) // the copy is older than 30 days
		time.Sleep(2 * 24 * time.Hour)
		check("/a", true) // unreachable for 30 days counts as missing
	})
}

func TestVisitHoldsTheHostOfARedirect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fetcher, _ := answers(t, map[string]string{
			"http://a.example/robots.txt": "200 User-agent: *\nCrawl-delay: 10",
			"http://b.example/robots.txt": "200 User-agent: *\nDisallow: /secret",
		})
		g := New(Options{Fetch: fetcher})
		begin := time.Now()
		pass, v, err := g.Visit(t.Context(), "http://a.example/x", 30*time.Second)
		if err != nil || !v.Allowed {
			t.Fatalf("%+v, %v", v, err)
		}
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("entered %v after robots.txt, whose Crawl-delay is 10 s", took)
		}
		if err := pass.Check("http://b.example/y"); err != nil {
			t.Fatal(err)
		}
		if s, _ := g.Status("a.example"); s.State != "waiting" {
			t.Errorf("a.example is %+v", s)
		}
		if s, _ := g.Status("b.example"); s.State != "busy" {
			t.Errorf("b.example is %+v", s)
		}
		var no *fetch.Refused
		if err := pass.Check("http://b.example/secret"); !errors.As(err, &no) || no.Outcome != catalog.RobotsDenied {
			t.Errorf("a forbidden target: %v", err)
		}
		pass.Leave(Result{})
		pass.Leave(Result{})
		if s, _ := g.Status("b.example"); s.State != "waiting" {
			t.Errorf("afterwards b.example is %+v", s)
		}
	})
}

func TestACancelledWaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Delay: time.Hour, Patience: 2 * time.Hour})
		leave, _ := g.Enter(t.Context(), "a.example")
		leave(Result{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := g.Enter(ctx, "a.example"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAForgivenHostMayBeAskedAfterItsPauseAndItsRobotsFileIsFetchedAgain(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var asked atomic.Int64
	down := func(context.Context, fetch.Request) (*fetch.Exchange, error) {
		asked.Add(1)
		return &fetch.Exchange{Outcome: catalog.NoVersion, ErrorClass: catalog.ErrTimeout, Why: "no answer"}, nil
	}
	g := New(Options{DB: db, Delay: -1, Fetch: down})
	for range 2 {
		if v, err := g.Robots.Allowed(t.Context(), "http://a.example/1"); err != nil || v.Allowed || !v.Temporary {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	leave, err := g.Enter(t.Context(), "a.example")
	if err != nil {
		t.Fatal(err)
	}
	leave(Result{Outcome: catalog.RetryLater, RetryAfter: time.Hour})
	if held, why := g.Held("a.example"); held < time.Minute || why != "retry-after" || asked.Load() != 1 {
		t.Fatalf("held for %s (%s), asked %d times", held, why, asked.Load())
	}
	g.Forgive(t.Context(), "a.example")
	if held, why := g.Held("a.example"); held > 0 {
		t.Errorf("held for %s (%s)", held, why)
	}
	for _, again := range []*Gate{g, New(Options{DB: db, Delay: -1, Fetch: down})} {
		if held, _ := again.Held("a.example"); held > 0 {
			t.Errorf("held for %s", held)
		}
	}
	if _, err := g.Robots.Allowed(t.Context(), "http://a.example/1"); err != nil || asked.Load() != 2 {
		t.Errorf("robots.txt was fetched %d times, %v", asked.Load(), err)
	}
}

func TestADamagedRecordIsForgotten(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(t.Context(), func(txn *kv.Txn) error {
		return errors.Join(txn.Set(kv.SpacePoliteness, []byte("da.example"), []byte("{")),
			txn.Set(kv.SpacePoliteness, []byte("rhttp://a.example"), []byte(`{"good":1}`)))
	})
	if err != nil {
		t.Fatal(err)
	}
	g := New(Options{DB: db, Delay: -1, Fetch: func(context.Context, fetch.Request) (*fetch.Exchange, error) {
		return &fetch.Exchange{Status: 404, Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus}, nil
	}})
	pass, v, err := g.Visit(t.Context(), "http://a.example/1", time.Second)
	if err != nil || !v.Allowed {
		t.Fatalf("%+v, %v", v, err)
	}
	pass.Leave(Result{})
}
