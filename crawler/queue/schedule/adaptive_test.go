package schedule

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"

	"pgregory.net/rapid"
)

// follow visits a file with the given changes when Decide says so, for some days, and returns the history.
func follow(changes []time.Time, from time.Time, length time.Duration, h Hints) []Visit {
	var history []Visit
	now := from
	for now.Before(from.Add(length)) {
		v := Visit{At: now, Outcome: catalog.Unchanged, Changed: len(history) == 0}
		for _, c := range changes {
			if len(history) > 0 && c.After(history[len(history)-1].At) && !c.After(now) {
				v.Changed = true
			}
		}
		if v.Changed {
			v.Outcome = catalog.Archived
		}
		history = append(history, v)
		now = decide(history[max(0, len(history)-48):], now, Limits{}, h).Next
	}
	return history
}

func TestTheHourOfADailyFileIsFound(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name string
		days func(d int) bool
	}{
		{"every day", func(int) bool { return true }},
		{"on weekdays", func(d int) bool { return d%7 < 5 }},
	} {
		var changes []time.Time
		for d := range 150 {
			if c.days(d) {
				changes = append(changes,
					monday.Add(time.Duration(d)*day+14*time.Hour+time.Duration(rnd.NormFloat64()*float64(15*time.Minute))))
			}
		}
		history := follow(changes, monday.Add(50*time.Hour), 140*day, Hints{Price: 8 * time.Hour})
		var late []time.Duration
		for _, v := range history[len(history)-40:] {
			for _, at := range changes {
				if d := v.At.Sub(at); v.Changed && d >= 0 && d < day {
					late = append(late, d)
				}
			}
		}
		slices.Sort(late)
		if len(late) < 30 || late[len(late)/2] > 90*time.Minute {
			t.Errorf("%s: of the last 40 visits %d caught a version, so long after it appeared: %v", c.name, len(late), late)
		}
		d := decide(history[len(history)-48:], history[len(history)-1].At, Limits{}, Hints{Price: 8 * time.Hour})
		if !strings.Contains(d.Why, "around 1") {
			t.Errorf("%s: the reason is %q", c.name, d.Why)
		}
		if c.name == "on weekdays" && (d.Next.Weekday() == time.Saturday || d.Next.Weekday() == time.Sunday) {
			t.Errorf("the next visit of a weekday file is on a %s", d.Next.Weekday())
		}
	}
}

func TestAFileThatNeverChangesIsVisitedLessAndLess(t *testing.T) {
	t.Parallel()
	history := follow(nil, monday, 700*day, Hints{})
	if n := len(history); n > 25 {
		t.Errorf("%d visits in 700 days", n)
	}
	last := history[len(history)-1].At.Sub(history[len(history)-2].At)
	if last < 45*day {
		t.Errorf("after 700 days still visited after %v", last)
	}
}

func TestADearerFetchMeansFewerVisits(t *testing.T) {
	t.Parallel()
	h := visits([]float64{0, 7, 14, 21}, []bool{true, true, false, true})
	var before time.Time
	for _, price := range []time.Duration{time.Hour, 8 * time.Hour, day, 7 * day, 60 * day} {
		next, why := adaptive(h, h[3].At, Limits{}, Hints{Price: price})
		if next.Before(before) {
			t.Errorf("at a price of %v the next visit is at %v (%s), earlier than at a lower one", price, next, why)
		}
		before = next
	}
}

func TestADeclaredPeriodIsWorthSomethingAtFirst(t *testing.T) {
	t.Parallel()
	h := visits([]float64{0}, []bool{true})
	daily, _ := adaptive(h, h[0].At, Limits{}, Hints{Declared: day})
	yearly, _ := adaptive(h, h[0].At, Limits{}, Hints{Declared: 365 * day})
	if !daily.Before(yearly) {
		t.Errorf("declared daily: %v, declared yearly: %v", daily, yearly)
	}
}

func TestServersThatLieAboutTheTimeAreNotBelieved(t *testing.T) {
	t.Parallel()
	h := visits([]float64{0, 7, 14, 21, 28}, []bool{true, false, false, false, false})
	plain, _ := adaptive(h, h[4].At, Limits{}, Hints{})
	for i := range h {
		h[i].LastModified = h[i].At // "now", each time
	}
	if lied, why := adaptive(h, h[4].At, Limits{}, Hints{}); !lied.Equal(plain) {
		t.Errorf("with Last-Modified always now: %v (%s), without: %v", lied, why, plain)
	}
	for i := range h {
		h[i].LastModified = h[i].At.Add(-time.Hour) // newer each time, although the bytes are the same
	}
	if lied, why := adaptive(h, h[4].At, Limits{}, Hints{}); !lied.Equal(plain) {
		t.Errorf("with Last-Modified always an hour ago: %v (%s), without: %v", lied, why, plain)
	}
}

func TestFailuresTellNothingOfChangesAndBackOff(t *testing.T) {
	t.Parallel()
	h := visits([]float64{0, 1, 2}, []bool{true, true, true})
	var waits []time.Duration
	for range 14 {
		h = append(h, Visit{At: h[len(h)-1].At.Add(day), Outcome: catalog.RetryLater})
		next, _ := adaptive(h, h[len(h)-1].At, Limits{}, Hints{})
		waits = append(waits, next.Sub(h[len(h)-1].At))
	}
	if waits[0] != 6*time.Hour || waits[1] != 12*time.Hour || waits[13] != 90*day {
		t.Errorf("waits %v", waits)
	}
}

func TestEveryDecisionKeepsTheLimitsAndGivesAReason(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{Min: time.Duration(rapid.IntRange(1, 100).Draw(t, "min")) * time.Hour,
			Max: time.Duration(rapid.IntRange(100, 5000).Draw(t, "max")) * time.Hour}
		at := monday
		var h []Visit
		for range rapid.IntRange(1, 60).Draw(t, "visits") {
			at = at.Add(time.Duration(rapid.Int64Range(1, int64(100*day)).Draw(t, "wait")))
			v := Visit{At: at,
				Outcome: rapid.SampledFrom([]catalog.Outcome{catalog.Archived, catalog.Unchanged, catalog.NoVersion, catalog.RetryLater,
					catalog.RobotsDenied, catalog.Blocked}).Draw(t, "outcome")}
			v.Changed = v.Outcome == catalog.Archived
			if rapid.Bool().Draw(t, "modified") {
				v.LastModified = at.Add(-time.Duration(rapid.Int64Range(0, int64(1000*day)).Draw(t, "age")))
			}
			h = append(h, v)
		}
		hints := Hints{Declared: time.Duration(rapid.Int64Range(-5, int64(400*day)).Draw(t, "declared")),
			Price: time.Duration(rapid.Int64Range(0, int64(400*day)).Draw(t, "price"))}
		for name, rule := range map[string]func() (time.Time, string){
			"paper":    func() (time.Time, string) { return Paper(h, at, l) },
			"adaptive": func() (time.Time, string) { return adaptive(h, at, l, hints) },
		} {
			next, why := rule()
			if wait := next.Sub(at); wait < l.Min || wait > l.Max {
				t.Fatalf("%s: next after %v, limits %v to %v (%s)", name, wait, l.Min, l.Max, why)
			}
			if why == "" || strings.Contains(why, "NaN") {
				t.Fatalf("%s: reason %q", name, why)
			}
		}
	})
}

func TestThePlannerSpendsItsBudget(t *testing.T) {
	t.Parallel()
	const urls, perDay, length = 600, 60, 150
	rnd := rand.New(rand.NewPCG(3, 3))
	p := NewPlanner(Limits{})
	type file struct {
		every   time.Duration // 0: never changes
		history []Visit
		due     time.Time
	}
	files := make([]file, urls)
	for i := range files {
		files[i].due = monday
		if i%2 == 0 {
			files[i].every = time.Duration(rnd.ExpFloat64()*float64(60*day)) + 12*time.Hour
		}
	}
	total := 0
	for d := range length {
		spent := 0
		for i := range files {
			f := &files[i]
			now := monday.Add(time.Duration(d) * day)
			if f.due.After(now) || spent >= perDay {
				continue
			}
			spent++
			v := Visit{At: now, Outcome: catalog.Unchanged}
			if n := len(f.history); n == 0 || f.every > 0 && now.Sub(monday)/f.every != f.history[n-1].At.Sub(monday)/f.every {
				v.Outcome, v.Changed = catalog.Archived, true
			}
			f.history = append(f.history, v)
			decision, _ := p.Decide(uint64(i), f.history[max(0, len(f.history)-48):], now, 0)
			f.due = decision.Next
		}
		p.Replan(monday.Add(time.Duration(d)*day), urls, perDay)
		if d >= 50 {
			total += spent
		}
	}
	if share := float64(total) / ((length - 50) * perDay); share < 0.9 {
		t.Errorf("only %.0f %% of the budget is spent", 100*share)
	}
}

func BenchmarkAdaptive(b *testing.B) {
	var at []float64
	var changed []bool
	for i := range 48 {
		at, changed = append(at, float64(i)*0.97), append(changed, i%7 < 5)
	}
	h := visits(at, changed)
	for b.Loop() {
		adaptive(h, h[47].At, Limits{}, Hints{})
	}
}

func TestTheRulesAskForNoMoreThanTheyWereGiven(t *testing.T) {
	t.Parallel()
	h := visits([]float64{0, 7, 14}, []bool{true, false, true})
	want, _ := Paper(h, h[2].At, Limits{})
	if got, why := (PaperRule{}).Next("k", 0, h, h[2].At); !got.Equal(want) || why == "" {
		t.Errorf("the paper's rule: %v, want %v", got, want)
	}
	r := NewAdaptiveRule(AdaptiveOptions{})
	if got, why := r.Next("k", day, h, h[2].At); !got.After(h[2].At) || why == "" {
		t.Errorf("the adaptive rule: %v (%s)", got, why)
	}
}

// crawled returns n URLs that were visited three times each before monday. A quarter of them changed.
func crawled(n int) func(func(Known)) error {
	return func(visit func(Known)) error {
		for i := range n {
			first := monday.Add(-time.Duration(1+i%6) * 5 * day)
			var h []Visit
			for v := range 3 {
				seen := Visit{At: first.Add(time.Duration(v) * day), Outcome: catalog.Unchanged}
				if v == 0 || i%4 == 0 {
					seen.Outcome, seen.Changed = catalog.Archived, true
				}
				h = append(h, seen)
			}
			visit(Known{Key: fmt.Sprint("http://(example,)/", i), History: h})
		}
		return nil
	}
}

func TestAPlanSpendsOneVisitOfEachURLInARound(t *testing.T) {
	t.Parallel()
	for _, round := range []time.Duration{7 * day, 30 * day} {
		r := NewAdaptiveRule(AdaptiveOptions{Round: round})
		plan := func(urls int) bool {
			moved, err := r.Plan(monday, crawled(urls))
			if err != nil {
				t.Fatal(err)
			}
			return moved
		}
		if plan(minPlanned-1) || r.Price() != DefaultPrice {
			t.Error("a few URLs are enough for a plan")
		}
		const urls = 6000
		plans := 0
		for plan(urls) { // each plan improves the prior
			if plans++; plans > 20 {
				t.Fatal("the price of the same plan does not come to rest")
			}
		}
		if plans == 0 {
			t.Error("the first plan does not move the price")
		}
		within := 0
		crawled(urls)(func(u Known) {
			if next, _ := r.Next(u.Key, 0, u.History, monday); next.Before(monday.Add(2 * day)) {
				within++
			}
		})
		want := float64(urls) * 2 / (round.Hours() / 24)
		if share := float64(within) / want; share > 1.15 {
			t.Errorf("round of %v: %d URLs are due within two days, want about %.0f", round, within, want)
		}
		if r.Price() > 5*365*day {
			t.Errorf("round of %v: nothing pays any more", round)
		}
		broken := errors.New("broken")
		if _, err := r.Plan(monday, func(func(Known)) error { return broken }); err != broken {
			t.Errorf("URLs that cannot be read: %v", err)
		}
	}
}

func TestABeliefExplainsItself(t *testing.T) {
	t.Parallel()
	var changes []time.Time
	for d := range 60 {
		changes = append(changes, monday.Add(time.Duration(d)*7*day+10*time.Hour))
	}
	history := follow(changes, monday.Add(50*time.Hour), 200*day, Hints{Price: 8 * time.Hour})
	lines := Believe(history[max(0, len(history)-48):], Hints{}).Explain()
	if len(lines) == 0 || !strings.Contains(lines[0], "weekly, around Monday") {
		t.Errorf("a file that changes each Monday: %q", lines)
	}
	lines = Believe(nil, Hints{}).Explain()
	if len(lines) < 5 || !strings.Contains(strings.Join(lines, "\n"), "never changes") {
		t.Errorf("of an unknown file: %q", lines)
	}
}

func decide(history []Visit, now time.Time, l Limits, h Hints) Decision {
	return Believe(history, h).Decide(now, l, h)
}

func adaptive(history []Visit, now time.Time, l Limits, h Hints) (time.Time, string) {
	d := decide(history, now, l, h)
	return d.Next, d.Why
}
