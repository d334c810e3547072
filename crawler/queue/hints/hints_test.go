package hints

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"
)

// web is a web of sitemaps: the answer by URL.
type web map[string]func() string

func (w web) Do(r *http.Request) (*http.Response, error) {
	body, ok := w[r.URL.String()]
	resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/xml"}}, Request: r}
	if !ok {
		resp.StatusCode, resp.Body = 404, http.NoBody
		return resp, nil
	}
	text := body()
	tag := fmt.Sprintf(`"%d"`, len(text))
	resp.Header.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		resp.StatusCode, text = 304, ""
	}
	resp.Body = io.NopCloser(strings.NewReader(text))
	return resp, nil
}

type world struct {
	*Hints
	t   testing.TB
	now time.Time
	web web
}

func newWorld(t testing.TB) *world {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &world{t: t, now: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC), web: web{}}
	clock := func() time.Time { return w.now }
	f, err := frontier.New(db, frontier.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	w.Hints = &Hints{DB: db, Frontier: f, Clock: clock, Min: time.Hour, Doer: func(string) Doer { return w.web }}
	return w
}

func (w *world) add(urls ...string) {
	w.t.Helper()
	for _, u := range urls {
		if _, err := w.Frontier.Add(w.t.Context(), catalog.Seed{URL: u}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// visit visits a URL, judges the hint that caused it, and plans the next visit.
func (w *world) visit(url string, changed bool, next func(*frontier.URL, []schedule.Visit) time.Time) {
	w.t.Helper()
	u, err := w.Frontier.Get(url)
	if err != nil {
		w.t.Fatal(err)
	}
	l, err := w.Frontier.LeaseURL(w.t.Context(), url)
	if err != nil {
		w.t.Fatal(err)
	}
	v := schedule.Visit{At: w.now, Outcome: catalog.Unchanged, Changed: changed}
	if changed {
		v.Outcome = catalog.Archived
	}
	job, _ := l.Next()
	err = w.DB.Update(w.t.Context(), func(txn *kv.Txn) error {
		if err := w.Judge(txn, job.Why, changed); err != nil {
			return err
		}
		return w.Frontier.Done(txn, l, job, frontier.Result{Visit: v, NextDue: next(u, append(u.History, v)), Why: "rule"})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func inAMonth(w *world) func(*frontier.URL, []schedule.Visit) time.Time {
	return func(*frontier.URL, []schedule.Visit) time.Time { return w.now.Add(30 * 24 * time.Hour) }
}

func (w *world) isDue(url string) bool {
	w.t.Helper()
	u, err := w.Frontier.Get(url)
	if err != nil {
		w.t.Fatal(err)
	}
	return !u.Due.After(w.now)
}

func (w *world) check(group string) (entries, moved int) {
	w.t.Helper()
	entries, moved, err := w.Check(w.t.Context(), group)
	if err != nil {
		w.t.Fatal(err)
	}
	return entries, moved
}

func TestASitemapBringsVisitsOfItsOwnHostForward(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urls := []string{"http://a.example/changed", "http://a.example/same", "http://a.example/dateless", "http://a.example/dropped",
		"http://b.example/other"}
	w.add(urls...)
	for _, u := range urls {
		w.visit(u, true, inAMonth(w))
	}
	if _, err := w.Frontier.Drop(t.Context(), "no", urls[3]); err != nil {
		t.Fatal(err)
	}
	w.web["http://a.example/sitemap.xml"] = func() string {
		return `<sitemapindex><sitemap><loc>http://a.example/part.xml</loc></sitemap><sitemap><loc>http://a.example/gone.xml</loc></sitem` +
			`ap></sitemapindex>`
	}
	w.web["http://a.example/part.xml"] = func() string {
		return `<urlset><url><loc>http://a.example/changed</loc><lastmod>2026-11-23</lastmod></url><url><loc>http://a.example/same</loc><lastmod>2026-11-20T12:00:00Z</lastmod></url>
		<url><loc>http://a.example/dateless</loc><changefreq>weekly</changefreq></url><url><loc>http://a.example/dropped</loc><lastmod>2026-11-23</lastmod></url>
		<url><loc>http://a.example/never-heard-of</loc><lastmod>2026-11-23</lastmod></url><url><loc>http://b.example/other</loc><lastmod>2026-11-23</lastmod></url>
		<url><loc>not a url</loc><lastmod>never</lastmod></url>`
	}
	if err := w.Note(t.Context(), "a.example", []string{"http://a.example/sitemap.xml", "ftp:x y"}); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(3 * 24 * time.Hour)
	due, _, err := w.Due(10)
	if err != nil || len(due) != 1 {
		t.Fatalf("%v, %v", due, err)
	}
	if entries, moved := w.check("a.example"); entries != 6 || moved != 1 {
		t.Errorf("%d entries, %d moved", entries, moved)
	}
	for i, want := range []bool{true, false, false, false, false} {
		if u, err := w.Frontier.Get(urls[i]); err != nil || !u.Blacklisted && w.isDue(urls[i]) != want {
			t.Errorf("%+v, %v", u, err)
		}
	}
	if u, err := w.Frontier.Get(urls[2]); err != nil || u.Period != 7*24*time.Hour {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := w.Frontier.Get("http://a.example/never-heard-of"); !errors.Is(err, frontier.ErrUnknown) {
		t.Error("a sitemap must not add URLs")
	}
	if due, next, err := w.Due(10); err != nil || len(due) != 0 || next.Before(w.now.Add(23*time.Hour)) {
		t.Errorf("%v %v %v", due, next, err)
	}
	if err := w.Note(t.Context(), "a.example", []string{"http://a.example/other.xml"}); err != nil { // robots.txt has changed
		t.Fatal(err)
	}
	if due, _, _ := w.Due(10); len(due) != 1 {
		t.Errorf("%v", due)
	}
	w.check("a.example") // there is no such file: it is asked more rarely
	if _, next, _ := w.Due(10); next.Before(w.now.Add(47 * time.Hour)) {
		t.Errorf("next %v", next)
	}
}

func TestWhoeverLiesLosesHisSayAndMayWinItBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var urls []string
	for i := range 40 {
		urls = append(urls, fmt.Sprintf("http://a.example/%d", i))
	}
	w.add(urls...)
	for _, u := range urls {
		w.visit(u, true, inAMonth(w))
	}
	always := func() (list []Hint) {
		for _, u := range urls {
			list = append(list, Hint{URL: u, Modified: w.now, Period: time.Hour})
		}
		return list
	}
	day := func(changed bool) (moved int) {
		w.now = w.now.Add(24 * time.Hour)
		moved, err := w.Give(t.Context(), "liar", always())
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range urls {
			if w.isDue(u) {
				w.visit(u, changed, inAMonth(w))
			}
		}
		return moved
	}
	total := 0
	for range 20 {
		total += day(false)
	}
	if total > probation+19*probes {
		t.Errorf("%d visits for nothing", total)
	}
	if n := day(false); n > probes {
		t.Errorf("%d visits of a liar in a day", n)
	}
	honest := 0
	for range 30 {
		honest = day(true)
	}
	if honest != len(urls) {
		t.Errorf("%d visits a day after it became honest", honest)
	}
	// Hints of which nothing is heard are not waited for for ever.
	w.now = w.now.Add(24 * time.Hour)
	if _, err := w.Give(t.Context(), "silent", always()); err != nil {
		t.Fatal(err)
	}
	word1 := word{Given: 500, Judged: 0, Last: w.now}
	if word1.forget(w.now.Add(8 * 24 * time.Hour)); word1.may() != probation {
		t.Errorf("%+v", word1)
	}
}

func TestSitemapsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("http://a.example/x")
	w.visit("http://a.example/x", true, inAMonth(w))
	asked := 0
	w.Doer = func(string) Doer {
		return doerFunc(func(r *http.Request) (*http.Response, error) {
			asked++
			body := fmt.Sprintf(
				`<sitemapindex><sitemap><loc>http://a.example/%d.xml</loc></sitemap><sitemap><loc>http://a.example/b%d.xml</loc></sitemap`+
					`></sitemapindex>`, asked, asked)
			return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
		})
	}
	if err := w.Note(t.Context(), "a.example", []string{"http://a.example/s.xml"}); err != nil {
		t.Fatal(err)
	}
	if w.check("a.example"); asked > maxRequests {
		t.Errorf("%d requests", asked)
	}
	read := int64(0)
	l := &limited{over: func() {}, requests: 1 << 20, bytes: 1 << 20, from: doerFunc(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(bytes.NewReader(make([]byte, 3<<20)))},
			nil
	})}
	for {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := l.Do(r)
		if err != nil {
			break
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if read += n; !errors.Is(err, errLimit) {
			t.Fatal(err)
		}
	}
	if read != 1<<20 {
		t.Errorf("%d bytes", read)
	}
	for text, want := range map[string]string{"2026-11-20": "2026-11-20T23:59:59Z", "2026-11-21": "2026-11-21T06:00:00Z", "2030-01-01": "",
		"x": "", "2026-11-20T05:00:00+02:00": "2026-11-20T03:00:00Z"} {
		got := ""
		if at := NotAfter(harvest.ParseEnd(text), w.now); !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

type doerFunc func(*http.Request) (*http.Response, error)

func (f doerFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

// simulate crawls a small web for some months and returns the requests, and the share of time for which the copies of
// the files were current.
func simulate(t *testing.T, price time.Duration, hinted bool) (requests int, fresh float64) {
	w := newWorld(t)
	rule := schedule.NewAdaptiveRule(schedule.AdaptiveOptions{Limits: schedule.Limits{Min: time.Hour, Max: 60 * 24 * time.Hour},
		Price: price})
	r := rand.New(rand.NewPCG(3, 4))
	const days = 45
	type file struct {
		url             string
		host            int
		mean            float64 // days
		changed, copied time.Time
	}
	var all []*file
	for h, files := range []int{24, 12, 12} { // the first tells the truth, the second always says now, the last has no sitemap
		for i := range files {
			f := &file{url: fmt.Sprintf("http://h%d.example/%d", h, i), host: h, mean: []float64{2, 10, 20, 40}[i%4],
				changed: w.now.Add(-time.Hour)}
			all = append(all, f)
			w.add(f.url)
		}
	}
	current, steps := 0, 0
	for step := range days * 4 { // of six hours
		for _, f := range all {
			if r.Float64() < 0.25/f.mean {
				f.changed = w.now.Add(-time.Duration(r.IntN(360)) * time.Minute)
			}
		}
		if hinted && step%4 == 0 && step > 0 {
			for h := range 2 {
				if trusted, err := w.trusts(fmt.Sprint("h", h)); err != nil || !trusted && step%28 != 0 {
					continue // as Check has it
				}
				var list []Hint
				for _, f := range all {
					if f.host != h {
						continue
					}
					at := f.changed
					if h == 1 {
						at = w.now
					}
					list = append(list, Hint{URL: f.url, Modified: at})
				}
				requests++
				if _, err := w.Give(context.Background(), fmt.Sprint("h", h), list); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, f := range all {
			if w.isDue(f.url) {
				requests++
				w.visit(f.url, f.changed.After(f.copied), func(u *frontier.URL, history []schedule.Visit) time.Time {
					next, _ := rule.Next(u.Key, 0, history, w.now)
					return next
				})
				f.copied = w.now
			}
			if steps++; f.copied.After(f.changed) || f.copied.Equal(f.changed) {
				current++
			}
		}
		w.now = w.now.Add(6 * time.Hour)
	}
	return requests, float64(current) / float64(steps)
}

// At no more requests than the schedule makes by itself, those for the sitemaps included, hints keep more copies
// current, even if every other sitemap lies.
func TestHintsRaiseFreshnessAtEqualRequests(t *testing.T) {
	t.Parallel()
	requests, fresh := simulate(t, 12*time.Hour, false)
	best := 0.0
	for _, price := range []time.Duration{17 * time.Hour, 22 * time.Hour, 28 * time.Hour} {
		n, f := simulate(t, price, true)
		t.Logf("with hints, price %s: %d requests, %.1f %% current; without: %d requests, %.1f %%", price, n, 100*f, requests, 100*fresh)
		if n <= requests {
			best = max(best, f)
		}
	}
	if best <= fresh {
		t.Errorf("%.3f of the copies are current with hints, %.3f without", best, fresh)
	}
}
