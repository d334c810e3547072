package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"
)

// Hints are what is known besides the history. The zero value is nothing.
type Hints struct {
	Declared time.Duration // the period its portal declares (dct:accrualPeriodicity)
	// Price of a fetch: the time for which the copy in the archive must be expected to be the present one because of it. The
	// dearer, the fewer visits; a Planner finds the price at which a budget is just spent. 0: DefaultPrice.
	Price time.Duration
	Prior *Prior // what files are like in general; nil: DefaultPrior
}

// DefaultPrice spends about one fetch per URL and week on a typical archive.
const DefaultPrice = 8 * time.Hour

// Decision on one URL.
type Decision struct {
	Next  time.Time
	Value time.Duration // what is lost by coming later: the period of a change that is foreseen, else 0
	Why   string
}

// Adaptive is the archive's own rule, from the same inputs as Paper. See Decide.
func Adaptive(history []Visit, now time.Time, l Limits, h Hints) (next time.Time, why string) {
	d := Decide(history, now, l, h)
	return d.Next, d.Why
}

// Decide estimates how a file changes and sets the next visit to where it pays.
//
// A visit at time T after the last one pays E[t; t <= T], the expected time to the next change counted only where it falls
// before T: that is the gain, in time during which the archive's copy is the present one, of a visit over going on
// waiting (the index of the restless bandit whose arms are the URLs; for changes at random with a known rate it is the rule of
// Cho and Garcia-Molina for most versions and freshness per fetch). The URL is due when that reaches the price.
//
// Where a period and its hour are known, the visit is set right behind the next foreseen change. Where a period is likely
// and its hour is not, it is set to halve the hours in question. Visits that failed tell nothing about changes and have a
// back-off of their own.
func Decide(history []Visit, now time.Time, l Limits, h Hints) Decision {
	return Believe(history, h).Decide(now, l, h)
}

func (h Hints) withDefaults() Hints {
	if h.Prior == nil {
		h.Prior = DefaultPrior()
	}
	if h.Price <= 0 {
		h.Price = DefaultPrice
	}
	return h
}

// Decide at a price.
func (b *Belief) Decide(now time.Time, l Limits, h Hints) Decision {
	l, h = l.withDefaults(), h.withDefaults()
	if b.visit.IsZero() {
		return Decision{now, l.Max, "never visited"}
	}
	if b.fails > 0 {
		return b.retry(b.visit, l)
	}
	p := b.plan(h.Price.Seconds(), l)
	next := b.visit.Add(l.clamp(fromSeconds(p.at).Sub(b.visit)))
	return Decision{next, time.Duration(p.worth * float64(time.Second)), b.why(p)}
}

// retry after a failure: soon at first, then less and less often, never giving up.
func (b *Belief) retry(last time.Time, l Limits) Decision {
	what := "could not be fetched"
	if b.gone > 0 {
		what = "gave no file"
	}
	wait := b.retryAfter(l)
	return Decision{last.Add(wait), 0, fmt.Sprintf("%s%s: again after %s", what, inARow(b.fails), days(wait))}
}

func (b *Belief) retryAfter(l Limits) time.Duration {
	first := l.Min
	if b.gone > 0 {
		first = max(l.Min, 24*time.Hour)
	}
	doublings := b.fails - 1
	if b.gone > 0 { // what is not there tends to stay away
		doublings *= 2
	}
	wait := first
	for range min(doublings, 12) {
		if wait > l.Max/2 { // and doubled once more it might overflow
			return l.Max
		}
		wait *= 2
	}
	return l.clamp(wait)
}

// sure is how likely a period's hour must be before visits are set by it.
const sure = 0.6

func inARow(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" %d times in a row", n)
}

// plan is a visit to come, before it is put into words.
type plan struct {
	at     float64 // seconds since the epoch
	worth  float64 // of coming at that very time, seconds
	reason reason
	model  int
}

type reason int

const (
	itPays    reason = iota // waiting longer would lose more than a visit costs
	itChanges               // a change is foreseen
	itIsLate                // a change was foreseen and was not there
	toHalve                 // to find the time of a likely period
)

func (b *Belief) plan(price float64, l Limits) plan {
	if p, ok := b.foreseen(price, l); ok {
		return p
	}
	p := plan{at: b.last + b.index(price, l)}
	if m := b.asks(price); m >= 0 && b.last+b.halves[m] < p.at {
		p.at, p.reason, p.model = b.last+b.halves[m], toHalve, m
	}
	return p
}

// why puts a plan into a sentence.
func (b *Belief) why(p plan) string {
	m := &models[p.model]
	switch p.reason {
	case itChanges:
		return fmt.Sprintf("changes %s around %s (%.0f %% sure): visited right after", m.name, m.clock(b.likely.mean), 100*b.likely.p)
	case itIsLate:
		return fmt.Sprintf("changes %s around %s (%.0f %% sure) but did not yet: visited once more", m.name, m.clock(b.likely.mean), 100*b.likely.p)
	case toHalve:
		return fmt.Sprintf("seems to change %s (%.0f %%): visited after %s to find its hour", m.name, 100*b.mass[p.model], span(p.at-b.last))
	}
	return b.describe(p.at - b.last)
}

// index finds the wait at which a visit pays its price, between two waits of the table on a line.
func (b *Belief) index(price float64, l Limits) float64 {
	least, most := l.Min.Seconds(), l.Max.Seconds()
	i := sort.SearchFloat64s(b.pays[:], price)
	switch i {
	case nWaits:
		return most
	case 0:
		return least
	}
	wait := waits[i-1] + (waits[i]-waits[i-1])*(price-b.pays[i-1])/(b.pays[i]-b.pays[i-1])
	return max(least, min(wait, most))
}

// nWaits is the number of waits for which the gain of a visit is tabled: from ten minutes on, each an eighth longer than
// the one before, to ten years.
const nWaits = 113

var waits = func() (w [nWaits]float64) {
	w[0] = 10 * minute
	for i := 1; i < nWaits; i++ {
		w[i] = w[i-1] * 9 / 8
	}
	return w
}()

// gains is the table of what a visit brings where changes come at random, by wait and rate.
var gains = func() (g [nWaits][nRates]float64) {
	for i, wait := range waits {
		for k := 1; k < nRates; k++ {
			l := rate(k)
			x := l * wait
			g[i][k] = worth(l) / l * (1 - (1+x)*math.Exp(-x))
		}
	}
	return g
}()

// foresee tables, from what is believed, what decisions at any price are drawn from: the index E[t; t <= wait] for
// each wait of the table, each hypothesis with its worth, and the likely times of change.
func (b *Belief) foresee() {
	b.likely = b.cluster()
	type coming struct{ in, p float64 }
	var times [nModels][]coming
	for _, f := range b.phases {
		m := &models[f.model]
		in := m.next(b.last, f.center) - b.last
		times[f.model] = append(times[f.model], coming{in, f.p})
		if i := sort.SearchFloat64s(waits[:], in); i < nWaits {
			b.pays[i] += f.p * worth(1/m.period) * in
		}
	}
	for m := range times {
		slices.SortFunc(times[m], func(a, b coming) int { return cmp.Compare(a.in, b.in) })
		half := 0.5 * b.mass[m]
		for _, c := range times[m] {
			if half -= c.p; half <= 0 {
				b.halves[m] = c.in + models[m].spread
				break
			}
		}
	}
	before := 0.0 // of the phases: they come one by one
	for i := range b.pays {
		before += b.pays[i]
		b.pays[i] = before
		for k := 1; k < nRates; k++ {
			b.pays[i] += b.rates[k] * gains[i][k]
		}
	}
}

// next time a model foresees a change after a time, in seconds since the epoch.
func (m *model) next(after, center float64) float64 {
	at := epoch + center + m.period*math.Ceil((after-epoch-center)/m.period)
	for m.weekdays && weekend(at) {
		at += m.period
	}
	return at
}

// worth of a version, by the rate of change: versions of a file that changes often count a little more than an even
// treatment of all files would have it, or hourly and daily files would hardly be visited.
func worth(l float64) float64 { return math.Pow(max(1, l*month), 0.15) }

// foreseen sets the visit behind the next change, if its time is known well enough and a visit each period pays.
func (b *Belief) foreseen(price float64, l Limits) (plan, bool) {
	m := &models[b.likely.model]
	mean, spread := b.likely.mean, b.likely.spread
	if !b.pinned(price) {
		return plan{}, false
	}
	// Visits that are always in time say less and less of the hour, so they come nearer to it until one is early.
	slack := 1.2 * spread * max(0.25, 1-float64(b.inTime)/40)
	at := mean + slack // into the period
	next := at + epoch + m.period*math.Ceil((b.last-epoch-at)/m.period)
	for next-b.last < max(l.Min.Seconds(), 0.3*m.period) || m.weekdays && weekend(next-slack) {
		next += m.period
	}
	p := plan{next, m.period * worth(1/m.period), itChanges, b.likely.model}
	if b.late { // it may only be late this time
		due := at + epoch + m.period*math.Floor((b.last-epoch-mean+2*spread)/m.period) - slack
		again := max(due+3*spread, b.last+l.Min.Seconds())
		if math.Abs(b.last-due) < 2*spread && next-again > 0.3*m.period && again-due < 0.5*m.period {
			p.at, p.reason = again, itIsLate
		}
	}
	return p, true
}

// pinned says whether a period's time is known well enough, and a visit each period pays.
func (b *Belief) pinned(price float64) bool {
	period := models[b.likely.model].period
	return b.likely.p >= sure && price <= period*worth(1/period)
}

// cluster is a time in a period around which changes fall.
type cluster struct {
	model  int
	mean   float64 // seconds into the period
	spread float64 // standard deviation of a change around it
	p      float64 // 0: there is none
}

// cluster of the times around the likeliest.
func (b *Belief) cluster() cluster {
	if len(b.phases) == 0 {
		return cluster{}
	}
	top := slices.MaxFunc(b.phases, func(a, b phase) int { return cmp.Compare(a.p, b.p) })
	m := &models[top.model]
	cell := m.period / float64(m.cells)
	var p, off, square float64
	for _, f := range b.phases {
		if !m.like(&models[f.model]) {
			continue
		}
		d := math.Remainder(f.center-top.center, m.period)
		if math.Abs(d) > 2.5*cell {
			continue
		}
		p += f.p
		off += f.p * d
		square += f.p * d * d
	}
	off /= p
	return cluster{top.model, top.center + off, math.Sqrt(square/p - off*off + m.spread*m.spread/2 + cell*cell/12), p}
}

// like says whether two models foresee changes at the same hours.
func (m *model) like(o *model) bool { return m.period == o.period }

// asks for the time of the likeliest period that is likely enough, and whose visits would pay if it were known; -1: none.
func (b *Belief) asks(price float64) int {
	best := -1
	for m, p := range b.mass {
		period := models[m].period
		likely := 0.25
		if period > dayS { // many days of freshness hang on the answer
			likely = 0.15
		}
		if p > likely && b.halves[m] > 0 && b.halves[m] < 1.2*period && price < 0.7*period*worth(1/period) && (best < 0 || p > b.mass[best]) {
			best = m
		}
	}
	return best
}

// describe puts a belief into a sentence.
func (b *Belief) describe(wait float64) string {
	mean, p := 0.0, 0.0
	for k := 1; k < nRates; k++ {
		mean += b.rates[k] * rate(k)
		p += b.rates[k]
	}
	for m, q := range b.mass {
		mean += q / models[m].period
		p += q
	}
	if p < 0.5 || mean < 1/(1000*dayS) {
		return fmt.Sprintf("seems to change hardly ever (%.0f %% sure): again after %s", 100*b.rates[0], span(wait))
	}
	return fmt.Sprintf("changes about every %s: a visit pays after %s", span(p/mean), span(wait))
}

func span(s float64) string { return days(time.Duration(s * float64(time.Second))) }

// clock writes a time in a period.
func (m *model) clock(at float64) string {
	at = math.Mod(math.Mod(at, m.period)+m.period, m.period)
	hm := func(s float64) string { return fmt.Sprintf("%02d:%02d UTC", int(s/hour)%24, int(s/60)%60) }
	switch {
	case m.period == dayS:
		return hm(at)
	case m.period == week:
		return time.Weekday((int(at/dayS)+1)%7).String() + " " + hm(math.Mod(at, dayS))
	default:
		return fmt.Sprintf("day %d of its cycle of 30.4", int(at/dayS)+1)
	}
}
