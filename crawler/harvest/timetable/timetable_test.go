package timetable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/kv"

	"github.com/BurntSushi/toml"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) // a Monday

// clock is set by tests.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

func openDB(t *testing.T) *kv.DB {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func open(t *testing.T, db *kv.DB, c *clock, file ...Plan) *Timetable {
	t.Helper()
	table, err := New(Options{DB: db, File: file, Clock: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// begin starts what is due, as Run does, without harvesting.
func (t *Timetable) begin(tt *testing.T, parallel int) (names []string) {
	tt.Helper()
	begun, _, err := t.start(tt.Context(), parallel)
	if err != nil {
		tt.Fatal(err)
	}
	for _, one := range begun {
		names = append(names, one.entry.plan.URL)
	}
	return names
}

// end ends the run of a plan.
func (t *Timetable) end(tt *testing.T, url string, failure error) {
	tt.Helper()
	t.mu.Lock()
	e, err := t.find(url)
	t.mu.Unlock()
	if err != nil {
		tt.Fatal(err)
	}
	t.run(tt.Context(), Runner{Harvest: func(context.Context, Plan, func(harvest.Report)) (harvest.Report, error) {
		return harvest.Report{Kind: "ckan"}, failure
	}}, e)
}

func (t *Timetable) one(tt *testing.T, url string) Planned {
	tt.Helper()
	for _, p := range t.List() {
		if p.URL == url {
			return p
		}
	}
	tt.Fatalf("%s is not planned", url)
	return Planned{}
}

func plan(url string, when ...string) Plan {
	p := Plan{Kind: "ckan", URL: url}
	for _, w := range when {
		if i, err := ParseInterval(w); err == nil {
			p.Every = i
		} else {
			p.At = append(p.At, w)
		}
	}
	return p
}

func TestSettingsArePlans(t *testing.T) {
	t.Parallel()
	var file struct{ Harvest []Plan }
	_, err := toml.Decode(`
[[harvest]]
kind = "ckan"
url = "https://a.example"
every = "7d"
set = "x"
paused = true
[[harvest]]
kind = "oai"
url = "https://b.example/oai"
at = ["03:30", "Sunday 12:00"]
paused = "until Monday"
limit = 3`, &file)
	if err != nil {
		t.Fatal(err)
	}
	a, b := file.Harvest[0], file.Harvest[1]
	if a.When() != "every 168h" || a.Paused == "" || len(a.Sets) != 1 || b.When() != "at 03:30, Sunday 12:00" ||
		b.Paused != "until Monday" || b.Limit != 3 {
		t.Fatalf("%+v", file.Harvest)
	}
	for _, p := range []Plan{a, b, plan("http://c.example/")} {
		checked, err := p.Check()
		raw, jsonErr := json.Marshal(checked)
		var again Plan
		if err = errors.Join(err, jsonErr, json.Unmarshal(raw, &again)); err != nil || fmt.Sprint(again) != fmt.Sprint(checked) {
			t.Errorf("%+v becomes %+v; %v", checked, again, err)
		}
	}
	for about, p := range map[string]Plan{
		"no kind": {URL: "http://a.example/"}, "no url": {Kind: "ckan"}, "a file": plan("file:///etc/passwd"),
		"both": plan("http://a.example/", "24h", "03:30"), "too often": plan("http://a.example/", "59s"),
		"no time": plan("http://a.example/", "25:00"), "no day": plan("http://a.example/", "someday 03:30"),
		"a negative limit": {Kind: "ckan", URL: "http://a.example/", Limit: -1},
		"no date":          {Kind: "ckan", URL: "http://a.example/", Since: "never"}, "a secret": plan("http://me:pw@a.example/"),
		"a long text":  plan("http://a.example/" + strings.Repeat("x", 3000)),
		"a line break": {Kind: "ckan", URL: "http://a.example/", Portal: "a\nb"},
	} {
		if _, err := p.Check(); !errors.Is(err, ErrBad) || strings.Contains(err.Error(), "me:pw") {
			t.Errorf("%s: %v", about, err)
		}
	}
}

func TestTimesOfDay(t *testing.T) {
	t.Parallel()
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		at    Texts
		after time.Time
		want  time.Time
	}{
		{Texts{"03:30"}, noon, time.Date(2026, 11, 24, 3, 30, 0, 0, time.UTC)},
		{Texts{"12:00"}, noon, time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)},
		{Texts{"12:00", "12:01"}, noon, noon.Add(time.Minute)},
		{Texts{"mon 11:00"}, noon, time.Date(2026, 11, 30, 11, 0, 0, 0, time.UTC)},
		{Texts{"Sunday 23:59", "sat 00:00"}, noon, time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)},
		{Texts{"02:30"}, time.Date(2026, 3, 28, 12, 0, 0, 0, vienna), time.Date(2026, 3, 29, 3, 30, 0, 0, vienna)}, // 02:30 does not exist
		{Texts{"02:30"}, time.Date(2026, 3, 29, 4, 0, 0, 0, vienna), time.Date(2026, 3, 30, 2, 30, 0, 0, vienna)},
	} {
		if got := (Plan{At: c.at}).next(c.after, c.after); !got.Equal(c.want) {
			t.Errorf("%v after %s: %s, want %s", c.at, c.after, got, c.want)
		}
	}
}

func TestPlansRunAtTheirTimes(t *testing.T) {
	t.Parallel()
	db, c := openDB(t), &clock{now: noon}
	table := open(t, db, c, plan("http://a.example/", "24h"), plan("http://b.example/", "13:00"))
	if got := table.begin(t, 4); len(got) != 1 || got[0] != "http://a.example/" {
		t.Fatalf("a new plan is due, unless it has times: %v", got)
	}
	if p := table.one(t, "http://a.example/"); p.State != Running {
		t.Fatalf("%+v", p)
	}
	c.set(noon.Add(10 * time.Minute))
	table.end(t, "http://a.example/", nil)
	if p := table.one(t, "http://a.example/"); p.State != Waiting || !p.Next.Equal(noon.Add(24*time.Hour)) || !p.Good.Equal(c.Now()) ||
		p.Last == nil {
		t.Fatalf("%+v", p)
	}

	c.set(noon.Add(100 * 24 * time.Hour)) // a long downtime
	table = open(t, db, c, plan("http://a.example/", "24h"), plan("http://b.example/", "13:00"))
	if got := table.begin(t, 4); len(got) != 2 || got[0] != "http://b.example/" {
		t.Fatalf("the longest overdue is first, each once: %v", got)
	}
	table.end(t, "http://a.example/", nil)
	table.end(t, "http://b.example/", nil)
	if p := table.one(t, "http://b.example/"); !p.Next.Equal(c.Now().Add(time.Hour)) {
		t.Fatalf("%+v", p)
	}
	if got := table.begin(t, 4); got != nil {
		t.Fatalf("again: %v", got)
	}

	c.set(noon) // the clock is set back by a hundred days
	table.begin(t, 4)
	for url, want := range map[string]time.Time{"http://a.example/": noon.Add(24 * time.Hour), "http://b.example/": noon.Add(time.Hour)} {
		if p := table.one(t, url); !p.Next.Equal(want) {
			t.Errorf("%s: next %s, want %s", url, p.Next, want)
		}
	}
	c.set(noon.Add(24 * time.Hour))
	if got := table.begin(t, 4); len(got) != 2 {
		t.Errorf("after that: %v", got)
	}
}

func TestFewRunAtATimeAndOneOfAHost(t *testing.T) {
	t.Parallel()
	c := &clock{now: noon}
	table := open(t, openDB(t), c)
	for i := range 300 {
		if _, err := table.Add(t.Context(), plan(fmt.Sprintf("http://h%d.example/%d", i%30, i))); err != nil {
			t.Fatal(err)
		}
	}
	began := map[string]int{}
	for range 300 {
		hosts := map[string]bool{}
		for _, p := range table.List() {
			if p.State == Running {
				if hosts[p.host()] {
					t.Fatalf("two runs of %s", p.host())
				}
				hosts[p.host()] = true
			}
		}
		for _, url := range table.begin(t, 4) {
			began[url]++
			hosts[url] = true
		}
		if len(hosts) != 4 && len(began) < 250 {
			t.Fatalf("%d run", len(hosts))
		}
		for _, p := range table.List() {
			if p.State == Running {
				table.end(t, p.URL, nil)
				break
			}
		}
	}
	if len(began) != 300 {
		t.Errorf("%d of 300 were run", len(began))
	}
}

func TestFailuresAreRetriedAndCutOffRunsGoOn(t *testing.T) {
	t.Parallel()
	db, c := openDB(t), &clock{now: noon}
	table := open(t, db, c, plan("http://a.example/", "24h"))
	var waits []time.Duration
	for range 7 {
		if got := table.begin(t, 4); len(got) != 1 {
			t.Fatalf("%v", got)
		}
		table.end(t, "http://a.example/", errors.New("it\nanswers 500"))
		p := table.one(t, "http://a.example/")
		if p.State != Failing || p.Error != "it answers 500" {
			t.Fatalf("%+v", p)
		}
		waits = append(waits, p.Next.Sub(c.Now()))
		c.set(p.Next)
	}
	if got := fmt.Sprint(waits); got != "[5m0s 10m0s 20m0s 40m0s 1h20m0s 24h0m0s 24h0m0s]" {
		t.Errorf("%s", got)
	}
	table.begin(t, 4)
	table.end(t, "http://a.example/", nil)
	if p := table.one(t, "http://a.example/"); p.State != Waiting || p.Error != "" || p.Failures != 0 {
		t.Errorf("%+v", p)
	}
	c.set(c.Now().Add(24 * time.Hour))
	waits = nil
	for range 5 { // the program is killed
		if got := table.begin(t, 4); len(got) != 1 {
			t.Fatalf("%v", got)
		}
		table = open(t, db, c, plan("http://a.example/", "24h"))
		p := table.one(t, "http://a.example/")
		waits = append(waits, p.Next.Sub(c.Now()))
		c.set(p.Next)
	}
	if got := fmt.Sprint(waits); got != "[0s 0s 5m0s 10m0s 20m0s]" {
		t.Errorf("%s", got)
	}
	table.begin(t, 4)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	table.run(ctx, Runner{Harvest: func(ctx context.Context, _ Plan, _ func(harvest.Report)) (harvest.Report, error) {
		return harvest.Report{}, ctx.Err()
	}}, table.plans[plan("http://a.example/").ID()])
	if p := table.one(t, "http://a.example/"); p.State != Waiting || !p.Next.Equal(c.Now()) {
		t.Errorf("a run that is stopped with the program goes on: %+v", p)
	}
}

func TestOrders(t *testing.T) {
	t.Parallel()
	db, c := openDB(t), &clock{now: noon}
	file := plan("http://file.example/", "24h")
	table := open(t, db, c, file)
	ctx := t.Context()
	added, err := table.Add(ctx, plan("http://a.example/", "1h"))
	if err != nil || added.From != FromOrder || added.State != Waiting || !added.Next.Equal(noon) {
		t.Fatalf("%+v %v", added, err)
	}
	if _, err := table.Add(ctx, file); !errors.Is(err, ErrBad) {
		t.Errorf("what the file has: %v", err)
	}
	if _, err := table.Remove(ctx, "http://file.example/"); !errors.Is(err, ErrBad) {
		t.Errorf("remove what the file has: %v", err)
	}
	for _, name := range []string{"http://b.example/", "", "0123456789"} {
		if _, err := table.RunNow(ctx, name); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
	two := plan("http://a.example/", "2h")
	two.Portal = "http://p.example/"
	if _, err := table.Add(ctx, two); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Pause(ctx, "http://a.example/", ""); !errors.Is(err, ErrBad) {
		t.Errorf("two plans of a URL: %v", err)
	}
	if _, err := table.Remove(ctx, two.ID()); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"http://a.example/", "http://file.example/"} {
		if p, err := table.Pause(ctx, url, "they asked us to"); err != nil || p.State != Paused || p.Why != "they asked us to" {
			t.Errorf("%+v %v", p, err)
		}
	}
	if _, err := table.RunNow(ctx, added.ID); !errors.Is(err, ErrBad) {
		t.Errorf("run what is paused: %v", err)
	}
	table = open(t, db, c, file)
	if got := table.begin(t, 4); got != nil || table.Plans("ckan", "http://a.example/", "") {
		t.Errorf("pauses survive: %v", got)
	}
	file.Paused = "by the file"
	if err := table.Reload([]Plan{file}); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"http://a.example/", "http://file.example/"} {
		if p, err := table.Resume(ctx, url); err != nil || p.State != Waiting {
			t.Errorf("%+v %v", p, err)
		}
	}
	if got := table.begin(t, 4); len(got) != 2 || !table.Plans("ckan", "http://a.example/", "") {
		t.Errorf("%v", got)
	}
	if err := table.Reload([]Plan{file, file}); !errors.Is(err, ErrBad) || len(table.List()) != 2 {
		t.Errorf("two identical tables: %v", err)
	}
	hour := plan("http://a.example/", "1h")
	if err := table.Reload([]Plan{hour}); err != nil || len(table.List()) != 1 || table.List()[0].From != FromFile {
		t.Errorf("a table takes over a plan of an order: %+v %v", table.List(), err)
	}
	if err := table.Reload(nil); err != nil || len(table.List()) != 0 {
		t.Errorf("%+v %v", table.List(), err)
	}
}

// TestAHarvestThatIsRemovedOrPausedEnds runs the whole loop.
func TestAHarvestThatIsRemovedOrPausedEnds(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	table := open(t, openDB(t), &clock{now: noon}, plan("http://file.example/"))
	runs := make(chan string)
	ended := make(chan error)
	go func() {
		ended <- table.Run(ctx, Runner{Harvest: func(ctx context.Context, p Plan, progress func(harvest.Report)) (harvest.Report, error) {
			progress(harvest.Report{Datasets: catalog.Counted(7)})
			runs <- "begin " + p.URL
			if strings.Contains(p.URL, "panic") {
				panic("a fault of the harvester")
			}
			<-ctx.Done()
			runs <- "end " + p.URL + ": " + context.Cause(ctx).Error()
			return harvest.Report{}, ctx.Err()
		}})
	}()
	wants := func(want string) {
		t.Helper()
		if got := <-runs; got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	wants("begin http://file.example/")
	if p := table.one(t, "http://file.example/"); p.Last.Datasets.N() != 7 {
		t.Errorf("%+v", p.Last)
	}
	if _, err := table.Add(ctx, plan("http://a.example/")); err != nil {
		t.Fatal(err)
	}
	wants("begin http://a.example/")
	if _, err := table.Add(ctx, plan("http://a.example/", "1h")); !errors.Is(err, ErrBad) {
		t.Errorf("change what runs: %v", err)
	}
	if _, err := table.Remove(ctx, "http://a.example/"); err != nil {
		t.Fatal(err)
	}
	wants("end http://a.example/: " + errRemoved.Error())
	if _, err := table.Pause(ctx, "http://file.example/", "x"); err != nil {
		t.Fatal(err)
	}
	wants("end http://file.example/: " + errPaused.Error())
	if _, err := table.Add(ctx, plan("http://panic.example/")); err != nil {
		t.Fatal(err)
	}
	wants("begin http://panic.example/")
	if _, err := table.Resume(ctx, "http://file.example/"); err != nil {
		t.Fatal(err)
	}
	wants("begin http://file.example/")
	if err := table.Reload(nil); err != nil { // a removed table while its harvest runs
		t.Fatal(err)
	}
	wants("end http://file.example/: " + errRemoved.Error())
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func FuzzPlan(f *testing.F) {
	f.Add(`{"kind":"ckan","url":"https://a.example","every":"24h"}`)
	f.Add(`{"kind":"oai","url":"https://a.example/oai","at":["mon 03:30","12:00"],"set":"x","paused":true,"since":"2026-01-01"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var p Plan
		if json.Unmarshal([]byte(text), &p) != nil {
			return
		}
		p, err := p.Check()
		if err != nil {
			return
		}
		if next := p.next(noon, noon); !next.After(noon) {
			t.Errorf("%+v: next %s", p, next)
		}
		raw, err := json.Marshal(p)
		var again Plan
		if err = errors.Join(err, json.Unmarshal(raw, &again)); err != nil || again.ID() != p.ID() {
			t.Errorf("%+v becomes %+v; %v", p, again, err)
		}
	})
}
