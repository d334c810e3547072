package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// clock is the archive's clock in a test.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func open(t testing.TB, db *kv.DB, c *clock, o Options) *Frontier {
	t.Helper()
	o.Now = c.Now
	f, err := New(db, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func memory(t testing.TB) *kv.DB {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func start(t testing.TB) (*Frontier, *clock) {
	c := &clock{noon}
	return open(t, memory(t), c, Options{}), c
}

func add(t testing.TB, f *Frontier, urls ...string) {
	t.Helper()
	var seeds []catalog.Seed
	for _, u := range urls {
		seeds = append(seeds, catalog.Seed{URL: u})
	}
	if _, err := f.Add(t.Context(), seeds...); err != nil {
		t.Fatal(err)
	}
}

func lease(t testing.TB, f *Frontier) *Lease {
	t.Helper()
	l, err := f.TryLease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func done(t testing.TB, f *Frontier, l *Lease, j Job, r Result) error {
	t.Helper()
	return f.db.Update(t.Context(), func(txn *kv.Txn) error { return f.Done(txn, l, j, r) })
}

func urlsOf(l *Lease) string {
	if l == nil {
		return "none"
	}
	var all []string
	for _, j := range l.Jobs {
		all = append(all, j.URL)
	}
	return strings.Join(all, " ")
}

// visitAll visits everything that is due at a time, and returns the visited URLs.
func visitAll(t testing.TB, f *Frontier, now time.Time, again time.Duration) (visited []string) {
	t.Helper()
	for l := lease(t, f); l != nil; l = lease(t, f) {
		for j, ok := l.Next(); ok; j, ok = l.Next() {
			visited = append(visited, j.URL)
			err := done(t, f, l, j,
				Result{Visit: schedule.Visit{At: now, Outcome: catalog.Archived, Changed: true}, NextDue: now.Add(again)})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return visited
}

func TestAGroupIsLeasedByOneWorkerAtATime(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	add(t, f, "http://a.example/1", "http://a.example/2", "https://a.example/3", "http://b.example/1")
	l1, l2, l3 := lease(t, f), lease(t, f), lease(t, f)
	if l1 == nil || l2 == nil || l3 != nil || l1.Group == l2.Group {
		t.Fatalf("leased %s | %s | %s", urlsOf(l1), urlsOf(l2), urlsOf(l3))
	}
	if l1.Group != "a.example" {
		l1, l2 = l2, l1
	}
	if urlsOf(l1) != "http://a.example/1 http://a.example/2 https://a.example/3" {
		t.Errorf("the jobs of a.example are %s", urlsOf(l1))
	}
	if l1.Epoch == l2.Epoch {
		t.Error("two leases have one epoch")
	}
	if err := f.Release(t.Context(), l1, time.Time{}, ""); err != nil {
		t.Fatal(err)
	}
	if again := lease(t, f); again == nil || again.Group != "a.example" || again.Epoch <= l1.Epoch {
		t.Errorf("after the release %s", urlsOf(again))
	}
}

func TestAVisitedURLIsDueAgainAtItsTime(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	add(t, f, "http://a.example/1", "http://a.example/2")
	if got := visitAll(t, f, c.now, 24*time.Hour); len(got) != 2 {
		t.Fatalf("visited %v", got)
	}
	if l := lease(t, f); l != nil {
		t.Fatalf("leased again at once: %s", urlsOf(l))
	}
	if at, ok, _ := f.NextDue(); !ok || !at.Equal(c.now.Add(24*time.Hour)) {
		t.Errorf("next due %v, %v", at, ok)
	}
	c.now = c.now.Add(25 * time.Hour)
	l := lease(t, f)
	if l == nil || len(l.Jobs) != 2 {
		t.Fatalf("a day later %s", urlsOf(l))
	}
	j := l.Jobs[0]
	if len(j.History) != 1 || !j.History[0].At.Equal(noon) || !j.History[0].Changed || j.History[0].Outcome != catalog.Archived ||
		j.Fetches != 1 {
		t.Errorf("the history is %+v", j.History)
	}
}

func TestSpellingsOfOneURLMeetAndSourcesAreMerged(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	n, err := f.Add(t.Context(),
		catalog.Seed{URL: "http://Example.org:80/a%7eb?y=1&x=2", Portal: "http://p1", Dataset: "http://d1"},
		catalog.Seed{URL: "http://example.org/a~b?x=2&y=1#f", Format: "CSV", Portal: "http://p2", Dataset: "http://d2", Period: time.Hour},
		catalog.Seed{URL: "http://example.org/a~b?x=2&y=1", Format: "XLS", Portal: "http://p2", Dataset: "http://d2"})
	if err != nil || n != 1 {
		t.Fatalf("added %d, %v", n, err)
	}
	u, err := f.Get("http://example.org/a~b?x=2&y=1")
	if err != nil {
		t.Fatal(err)
	}
	if u.URL != "http://Example.org:80/a%7eb?y=1&x=2" || u.Format != "CSV" || u.Period != time.Hour {
		t.Errorf("merged to %+v", u)
	}
	if _, err := f.Get("http://example.org/other"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown URL: %v", err)
	}
}

func TestBadURLsAreReportedAndTheOthersAdded(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	n, err := f.Add(t.Context(), catalog.Seed{URL: "mailto:x@example.org"}, catalog.Seed{URL: "http://example.org/"}, catalog.Seed{URL: ""})
	var bad *BadURL
	if n != 1 || !errors.As(err, &bad) || bad.URL != "mailto:x@example.org" {
		t.Errorf("added %d, %v", n, err)
	}
}

func TestPriorityComesBeforeDueTime(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	add(t, f, "http://a.example/1")
	c.now = c.now.Add(time.Hour)
	if _, err := f.Add(t.Context(), catalog.Seed{URL: "http://a.example/2", Priority: 5},
		catalog.Seed{URL: "http://a.example/3", Priority: -1}); err != nil {
		t.Fatal(err)
	}
	high := 100.0
	if _, err := f.Inject(t.Context(), Injection{URL: "http://a.example/4", Score: &high}); err != nil {
		t.Fatal(err)
	}
	l := lease(t, f)
	if got := urlsOf(l); got != "http://a.example/4 http://a.example/2 http://a.example/1 http://a.example/3" {
		t.Errorf("order %s", got)
	}
}

func TestInjectOverwritesScoresAndBlacklists(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	add(t, f, "http://a.example/1", "http://a.example/2")
	yes, no, score := true, false, 9.0
	inject := func(in ...Injection) {
		t.Helper()
		if _, err := f.Inject(t.Context(), in...); err != nil {
			t.Fatal(err)
		}
	}
	inject(Injection{URL: "http://a.example/1", Blacklisted: &yes}, Injection{URL: "http://a.example/2", Score: &score})
	add(t, f, "http://a.example/1")
	if got := visitAll(t, f, noon, time.Hour); !slices.Equal(got, []string{"http://a.example/2"}) {
		t.Errorf("visited %v although /1 is blacklisted", got)
	}
	inject(Injection{URL: "http://a.example/1", Blacklisted: &no})
	if got := visitAll(t, f, noon, time.Hour); !slices.Equal(got, []string{"http://a.example/1"}) {
		t.Errorf("visited %v after it was allowed again", got)
	}
}

func TestAURLBlacklistedDuringItsVisitIsNotQueuedAgain(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	add(t, f, "http://a.example/1")
	l := lease(t, f)
	yes := true
	if _, err := f.Inject(t.Context(), Injection{URL: "http://a.example/1", Blacklisted: &yes}); err != nil {
		t.Fatal(err)
	}
	if err := done(t, f, l, l.Jobs[0], Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.Unchanged}, NextDue: c.now}); err != nil {
		t.Fatal(err)
	}
	if l := lease(t, f); l != nil {
		t.Errorf("leased %s", urlsOf(l))
	}
}

func TestAHostThatAsksForPeaceIsLeftAlone(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	add(t, f, "http://a.example/1", "http://a.example/2")
	l := lease(t, f)
	j, _ := l.Next()
	err := done(t, f, l, j, Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.RetryLater}, NextDue: c.now.Add(time.Hour),
		HostBackoff: time.Minute, HostWait: "retry-after"})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := l.Next(); ok {
		t.Error("the lease goes on")
	}
	if l := lease(t, f); l != nil {
		t.Errorf("leased %s", urlsOf(l))
	}
	info, ok, err := f.Host("a.example")
	if err != nil || !ok || info.Wait != "retry-after" || !info.NotBefore.Equal(noon.Add(time.Minute)) || info.Due != 1 ||
		info.Visits != 1 {
		t.Errorf("the host is %+v, %v", info, err)
	}
	if p, at, err := f.Pending(2 * time.Minute); err != nil || !p || !at.Equal(noon.Add(time.Minute)) {
		t.Errorf("pending within 2 minutes: %v %v %v", p, at, err)
	}
	if p, _, err := f.Pending(30 * time.Second); err != nil || p {
		t.Errorf("pending within 30 seconds: %v %v", p, err)
	}
	c.now = c.now.Add(time.Minute)
	if l := lease(t, f); urlsOf(l) != "http://a.example/2" {
		t.Errorf("a minute later %s", urlsOf(l))
	}
}

func TestAResultUnderAnEndedLeaseIsRefused(t *testing.T) {
	t.Parallel()
	c := &clock{noon}
	f := open(t, memory(t), c, Options{LeaseTime: time.Nanosecond})
	add(t, f, "http://a.example/1")
	old := lease(t, f)
	<-old.Context().Done()
	if _, ok := old.Next(); ok {
		t.Error("an ended lease gives jobs")
	}
	if l := lease(t, f); l == nil || l.Epoch == old.Epoch {
		t.Errorf("the group is not leased anew: %s", urlsOf(l))
	}
	if err := done(t, f, old, old.Jobs[0], Result{NextDue: c.now}); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("the late result: %v, want ErrLeaseLost", err)
	}
}

func TestAnAbortedTransactionLeavesTheJobDue(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	add(t, f, "http://a.example/1")
	l := lease(t, f)
	r := Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.Archived, Changed: true}, NextDue: c.now.Add(time.Hour)}
	boom := errors.New("no room for the version")
	err := f.db.Update(t.Context(), func(txn *kv.Txn) error {
		if err := f.Done(txn, l, l.Jobs[0], r); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatal(err)
	}
	if err := done(t, f, l, l.Jobs[0], r); err != nil {
		t.Errorf("the second try: %v", err)
	}
	if err := done(t, f, l, l.Jobs[0], r); err != nil && !errors.Is(err, ErrLeaseLost) {
		t.Errorf("the third: %v", err)
	}
	if u, _ := f.Get("http://a.example/1"); u.Fetches != 1 {
		t.Errorf("%d visits are recorded", u.Fetches)
	}
}

func TestLeasesOfAFormerProcessAreForgottenAndEpochsGoOn(t *testing.T) {
	t.Parallel()
	db, c := memory(t), &clock{noon}
	f := open(t, db, c, Options{})
	add(t, f, "http://a.example/1")
	before := lease(t, f)
	after := lease(t, open(t, db, c, Options{}))
	if urlsOf(after) != "http://a.example/1" || after.Epoch <= before.Epoch {
		t.Errorf("leased %s with epoch %d after %d", urlsOf(after), after.Epoch, before.Epoch)
	}
}

func TestPauseOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	db, c := memory(t), &clock{noon}
	f := open(t, db, c, Options{})
	add(t, f, "http://a.example/1")
	if err := f.Pause(t.Context(), "maintenance"); err != nil {
		t.Fatal(err)
	}
	f = open(t, db, c, Options{})
	if _, err := f.TryLease(t.Context()); !errors.Is(err, ErrPaused) || !strings.Contains(err.Error(), "maintenance") {
		t.Errorf("a lease during the pause: %v", err)
	}
	leased := make(chan *Lease)
	go func() {
		l, _ := f.Lease(context.Background())
		leased <- l
	}()
	if err := f.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l := <-leased; urlsOf(l) != "http://a.example/1" {
		t.Errorf("after the pause %s", urlsOf(l))
	}
}

func TestLeaseWakesWhenSomethingIsAdded(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	leased := make(chan *Lease)
	go func() {
		l, _ := f.Lease(context.Background())
		leased <- l
	}()
	add(t, f, "http://a.example/1")
	if l := <-leased; l == nil {
		t.Error("nothing was leased")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l, err := f.Lease(ctx); l != nil || err == nil {
		t.Errorf("leased %v, %v under a cancelled context", l, err)
	}
}

func TestListsArePaged(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	var want []string
	for i := range 25 {
		want = append(want, fmt.Sprintf("http://h%02d.example/x", i), fmt.Sprintf("https://h%02d.example/y", i))
	}
	add(t, f, want...)
	var got []string
	for after := ""; ; {
		n := len(got)
		err := f.Each(Filter{}, after, 7, func(u *URL) error {
			got, after = append(got, u.URL), u.Key
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == n {
			break
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("pages give %d URLs, want %d", len(got), len(want))
	}
	var ofHost []string
	if err := f.Each(Filter{Group: "h07.example"}, "", 0, func(u *URL) error { ofHost = append(ofHost, u.URL); return nil }); err != nil ||
		len(ofHost) != 2 {
		t.Errorf("one host: %v, %v", ofHost, err)
	}
	first, err := f.Hosts("", 10)
	if err != nil || len(first) != 10 {
		t.Fatalf("hosts: %d, %v", len(first), err)
	}
	rest, err := f.Hosts(first[9].Group, 0)
	if err != nil || len(rest) != 15 || rest[0].Group != "h10.example" || rest[0].URLs != 2 {
		t.Errorf("the rest: %d, %v", len(rest), err)
	}
	s, err := f.Stats()
	if err != nil || s.URLs != 50 || s.Hosts != 25 || !s.NextDue.Equal(noon) {
		t.Errorf("stats %+v, %v", s, err)
	}
	if n, err := f.MakeGroupDue(t.Context(), "h07.example"); err != nil || n != 2 {
		t.Errorf("made %d due, %v", n, err)
	}
}

func TestMakeDueBringsAURLForward(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	add(t, f, "http://a.example/1", "http://a.example/2")
	visitAll(t, f, c.now, 100*time.Hour)
	c.now = c.now.Add(time.Hour)
	if err := f.MakeDue(t.Context(), "http://a.example/2", "http://nobody.example/"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown URL: %v", err)
	}
	if got := visitAll(t, f, c.now, time.Hour); !slices.Equal(got, []string{"http://a.example/2"}) {
		t.Errorf("visited %v", got)
	}
}

func TestVeryLongURLsHaveKeysOfTheirOwn(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	long := "http://a.example/" + strings.Repeat("ü", 2000)
	add(t, f, long+"1", long+"2")
	if got := visitAll(t, f, noon, time.Hour); len(got) != 2 {
		t.Errorf("visited %d", len(got))
	}
}

func TestAServerThatLiesOnceIsNotBelievedAgain(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	add(t, f, "http://a.example/1")
	for i, step := range []struct {
		changed    bool
		etag, want string // want: the tag of the next request
	}{
		{true, `"1"`, `"1"`}, {false, "", `"1"`}, {true, `"2"`, `"2"`}, {true, `"2"`, ""}, {true, `"3"`, ""}, {false, `"3"`, ""},
	} {
		l := lease(t, f)
		v := schedule.Visit{At: c.now, Outcome: catalog.Unchanged, Changed: step.changed}
		if step.changed {
			v.Outcome = catalog.Archived
		}
		if err := done(t, f, l, l.Jobs[0], Result{Visit: v, ETag: step.etag, NextDue: c.now.Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(2 * time.Hour)
		if u, err := f.Get("http://a.example/1"); err != nil || u.ETag != step.want {
			t.Errorf("after visit %d the next request has %q, want %q", i, u.ETag, step.want)
		}
	}
}
