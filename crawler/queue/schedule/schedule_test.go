package schedule

import (
	"testing"
	"time"

	"odarchive/crawler/catalog"
)

const day = 24 * time.Hour

var monday = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// visits returns a history from times in days since monday. A '+' after a time means a change.
func visits(at []float64, changed []bool) []Visit {
	var h []Visit
	for i, d := range at {
		v := Visit{At: monday.Add(time.Duration(d * float64(day))), Outcome: catalog.Unchanged, Changed: changed[i]}
		if v.Changed {
			v.Outcome = catalog.Archived
		}
		h = append(h, v)
	}
	return h
}

func TestThePapersRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		at      []float64
		changed []bool
		want    float64 // days after the last visit
	}{
		{"after the first visit the default", []float64{0}, []bool{true}, 7},
		{"nothing changed: the interval grows to the whole window", []float64{0, 7}, []bool{true, false}, 7},
		{"nothing changed for two intervals", []float64{0, 7, 14}, []bool{true, false, false}, 14},
		{"always changing: the mean interval halved", []float64{0, 2, 4, 6}, []bool{true, true, true, true}, 1},
		{"a change long ago and none since", []float64{0, 2, 4, 6}, []bool{true, false, true, false}, 3},
		{"only five intervals count", []float64{0, 50, 51, 52, 53, 54, 55}, []bool{true, true, true, true, true, true, false}, 5. / 4},
		{"never below the minimum", []float64{0, 0.25, 0.5}, []bool{true, true, true}, 0.25},
		{"never above the maximum", []float64{0, 60, 120}, []bool{true, false, false}, 90},
	} {
		h := visits(c.at, c.changed)
		next, why := Paper(h, h[len(h)-1].At, Limits{})
		if got := next.Sub(h[len(h)-1].At).Hours() / 24; got < c.want-.001 || got > c.want+.001 {
			t.Errorf("%s: next visit after %.3f days (%s), want %.3f", c.name, got, why, c.want)
		}
		if why == "" {
			t.Errorf("%s: no reason is given", c.name)
		}
	}
	if next, _ := Paper(nil, monday, Limits{}); next != monday {
		t.Errorf("a URL never visited is due at %s, want now", next)
	}
}

func TestWhySaysNumbersAsPeopleDo(t *testing.T) {
	t.Parallel()
	failed := []Visit{{At: monday, Outcome: catalog.RetryLater}}
	l := Limits{Min: time.Hour}
	if _, why := adaptive(failed, monday, l, Hints{}); why != "could not be fetched: again after 1 hour" {
		t.Error(why)
	}
	failed = append(failed, Visit{At: monday, Outcome: catalog.RetryLater})
	if _, why := adaptive(failed, monday, l, Hints{}); why != "could not be fetched 2 times in a row: again after 2 hours" {
		t.Error(why)
	}
	if got := days(1024 * 24 * time.Hour); got != "1024 days" {
		t.Error(got)
	}
}

func TestTwoRulesSayTheSameOfAURL(t *testing.T) {
	t.Parallel()
	history := []Visit{{At: monday, Outcome: catalog.Archived, Changed: true}}
	a, _ := NewAdaptiveRule(AdaptiveOptions{}).Next("http://(example,)/a.csv", 0, history, monday)
	b, _ := NewAdaptiveRule(AdaptiveOptions{}).Next("http://(example,)/a.csv", 0, history, monday)
	if !a.Equal(b) {
		t.Errorf("%s by one process, %s by another", a, b)
	}
}

func TestABackOffNeverOverflows(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	for _, l := range []Limits{{Min: 27 * 24 * time.Hour}, {Min: 400 * 24 * time.Hour, Max: 290 * 365 * 24 * time.Hour},
		{Min: time.Hour, Max: 48 * time.Hour}} {
		history := []Visit{{At: now, Outcome: catalog.Archived, Changed: true}}
		last := time.Duration(0)
		for range 40 {
			history = append(history, Visit{At: now, Outcome: catalog.NoVersion})
			next, why := adaptive(history, now, l, Hints{})
			if wait := next.Sub(now); wait < last || wait < l.Min || wait > l.withDefaults().Max {
				t.Fatalf("limits %s to %s, %d failures: again after %s (%s), before it was %s", l.Min, l.withDefaults().Max, len(history)-1,
					wait, why, last)
			} else {
				last = wait
			}
		}
	}
}
