package schedule

import (
	"strings"
	"testing"
	"time"
)

// dear returns a price at which a version that is current for six hours is not worth a visit, in an archive in which
// some files change as often.
func dear() Hints {
	p := DefaultPrior()
	p.rates[1], p.rates[2] = 0.03, 0.03
	return Hints{Price: 6 * day, Prior: p}
}

// alwaysChanged is a history of visits a week apart that all found a change.
func alwaysChanged() []Visit {
	return visits([]float64{0, 7, 14, 21, 28}, []bool{true, true, true, true, true})
}

func probed(d Decision) bool { return strings.Contains(d.Why, "all the time") }

// visitLater adds a visit after a wait and decides when the next one follows.
func visitLater(h []Visit, wait time.Duration, changed bool) ([]Visit, Decision) {
	v := visits([]float64{0}, []bool{changed})[0]
	v.At = h[len(h)-1].At.Add(wait)
	h = append(h, v)
	return h, decide(h, v.At, Limits{}, dear())
}

func TestAFileThatMayChangeAllTheTimeIsVisitedSoonToTell(t *testing.T) {
	t.Parallel()
	h := alwaysChanged()
	last := h[len(h)-1].At
	d := decide(h, last, Limits{}, dear())
	if !probed(d) || d.Next.Sub(last) != 6*time.Hour || d.Value <= 0 {
		t.Fatalf("after %v, value %v: %s", d.Next.Sub(last), d.Value, d.Why)
	}

	if _, d := visitLater(h, 6*time.Hour, false); probed(d) {
		t.Errorf("it did not change within six hours, but: %s", d.Why)
	}

	probes := 0
	for probed(d) {
		if probes++; probes > 5 {
			t.Fatalf("after %d probes that found a change each: %s", probes, d.Why)
		}
		h, d = visitLater(h, 6*time.Hour, true)
	}
	if wait := d.Next.Sub(h[len(h)-1].At); wait < 14*day {
		t.Errorf("it changes all the time, but is visited after %v: %s", wait, d.Why)
	}
}

func TestAProbeThatTellsNothingIsNotMade(t *testing.T) {
	t.Parallel()
	h := alwaysChanged()
	last := h[len(h)-1].At
	if d := decide(h, last, Limits{Min: day}, dear()); probed(d) {
		t.Errorf("visits must be a day apart, but: %s", d.Why)
	}
	if d := decide(h, last.Add(2*day), Limits{}, dear()); probed(d) {
		t.Errorf("the last visit was two days ago, but: %s", d.Why)
	}
	cheap := dear()
	cheap.Price = day
	if d := decide(h, last, Limits{}, cheap); probed(d) {
		t.Errorf("frequent changes are worth a visit each, but: %s", d.Why)
	}
}

func TestVisitsThatComeLateDoNotProbeForEver(t *testing.T) {
	t.Parallel()
	h := alwaysChanged()
	d := decide(h, h[len(h)-1].At, Limits{}, dear())
	probes := 0
	for range 40 {
		wait := d.Next.Sub(h[len(h)-1].At)
		if probed(d) {
			probes++
			wait = 2 * day // the crawl is behind
		}
		h, d = visitLater(h, wait, true)
	}
	if probes == 0 || probes > maxProbes {
		t.Errorf("%d probes", probes)
	}
}

func TestVisitsDoNotApproachAChangeWhoseTimeIsKnown(t *testing.T) {
	t.Parallel()
	b := Belief{visit: monday, last: seconds(monday), known: true}
	b.likely = cluster{model: 0, mean: 12 * hour, varies: hour / 2, p: 1}
	wait := func(inTime int, unsure float64) time.Duration {
		b.inTime, b.likely.unsure = inTime, unsure
		return b.Decide(monday, Limits{}, Hints{Price: time.Hour}).Next.Sub(monday)
	}
	if first, later := wait(1, 0), wait(40, 0); first != later || first != 12*time.Hour+90*time.Minute {
		t.Errorf("the time is known: first after %v, after 40 visits in time after %v", first, later)
	}
	if first, later := wait(1, 2*hour), wait(40, 2*hour); later > first-3*time.Hour {
		t.Errorf("the time is not known: first after %v, after 40 visits in time after %v", first, later)
	}
}
