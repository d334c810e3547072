package schedule

import (
	"fmt"
	"math"
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
	Value time.Duration // what the visit is worth at that time, on the scale of Hints.Price: greater is more urgent
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
	d := b.decide(h.Price.Seconds(), l)
	d.Next = b.visit.Add(l.clamp(d.Next.Sub(b.visit)))
	return d
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
	return l.clamp(first << min(b.fails-1, 12))
}

// sure is how likely a period's hour must be before visits are set by it.
const sure = 0.6

func inARow(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" %d times in a row", n)
}

func (b *Belief) decide(price float64, l Limits) Decision {
	if d, ok := b.foreseen(price, l); ok {
		return d
	}
	wait := b.index(price, l)
	d := Decision{fromSeconds(b.last + wait), time.Duration(price * float64(time.Second)), b.describe(wait)}
	if probe, model, ok := b.probe(price, l); ok && probe < wait {
		d.Next = fromSeconds(b.last + probe)
		d.Why = fmt.Sprintf("seems to change %s (%.0f %%): visited after %s to find its hour", models[model].name, 100*b.mass[model], span(probe))
	}
	return d
}

// index finds the wait at which a visit pays its price, between two waits of the table on a line.
func (b *Belief) index(price float64, l Limits) float64 {
	least, most := l.Min.Seconds(), l.Max.Seconds()
	lo, hi := 0, nWaits
	for lo < hi { // the first wait of the table that pays
		if mid := (lo + hi) / 2; b.pays(mid) < price {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	switch {
	case lo == nWaits:
		return most
	case lo == 0:
		return least
	}
	before, after := b.pays(lo-1), b.pays(lo)
	wait := waits[lo-1] + (waits[lo]-waits[lo-1])*(price-before)/(after-before)
	return max(least, min(wait, most))
}

// pays is the index E[t; t <= wait] for the i-th wait of the table, each hypothesis with its worth.
func (b *Belief) pays(i int) float64 {
	sum := 0.0
	for k, p := range b.rates {
		sum += p * gains.rates[i][k]
	}
	for m, p := range b.mass {
		sum += p * gains.models[i][m]
	}
	return sum
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

// gains is the table of what a visit brings, by wait and hypothesis.
var gains = func() (g struct {
	rates  [nWaits][nRates]float64
	models [nWaits][nModels]float64
}) {
	for i, wait := range waits {
		for k := 1; k < nRates; k++ {
			l := rate(k)
			x := l * wait
			g.rates[i][k] = worth(l) / l * (1 - (1+x)*math.Exp(-x))
		}
		for m := range models { // at any time of the period alike
			P := models[m].period
			w := min(wait, P)
			g.models[i][m] = worth(1/P) * w * w / (2 * P)
		}
	}
	return g
}()

// worth of a version, by the rate of change: versions of a file that changes often count a little more than an even
// treatment of all files would have it, or hourly and daily files would hardly be visited.
func worth(l float64) float64 { return math.Pow(max(1, l*month), 0.3) }

// foreseen sets the visit behind the next change, if its time is known well enough and a visit each period pays.
func (b *Belief) foreseen(price float64, l Limits) (Decision, bool) {
	top := b.top()
	if top < 0 {
		return Decision{}, false
	}
	m := &models[b.phases[top].model]
	mean, spread, p := b.cluster(top)
	if p < sure || price > m.period*worth(1/m.period) {
		return Decision{}, false
	}
	slack := 1.2 * spread
	at := mean + slack // into the period
	next := at + epoch + m.period*math.Ceil((b.last-epoch-at)/m.period)
	for next-b.last < max(l.Min.Seconds(), 0.3*m.period) || m.weekdays && weekend(next-slack) {
		next += m.period
	}
	why := fmt.Sprintf("changes %s around %s (%.0f %% sure): visited right after", m.name, m.clock(mean), 100*p)
	if b.late { // it may only be late this time
		due := at + epoch + m.period*math.Floor((b.last-epoch-mean+2*spread)/m.period) - slack
		again := max(due+3*spread, b.last+l.Min.Seconds())
		if math.Abs(b.last-due) < 2*spread && next-again > 0.3*m.period && again-due < 0.5*m.period {
			next = again
			why = fmt.Sprintf("changes %s around %s (%.0f %% sure) but did not yet: visited once more", m.name, m.clock(mean), 100*p)
		}
	}
	return Decision{fromSeconds(next), time.Duration(m.period * worth(1/m.period) * float64(time.Second)), why}, true
}

// top is the likeliest phase, -1 for none.
func (b *Belief) top() int {
	best := -1
	for i, f := range b.phases {
		if best < 0 || f.p > b.phases[best].p {
			best = i
		}
	}
	return best
}

// cluster of the phases around one: their mean time, the spread of a change around it, and their probability together.
func (b *Belief) cluster(i int) (mean, spread, p float64) {
	c := b.phases[i]
	m := &models[c.model]
	reach := 2.5 * m.period / float64(m.cells)
	var off, square float64
	for _, f := range b.phases {
		if !m.like(&models[f.model]) {
			continue
		}
		d := math.Remainder(f.center-c.center, m.period)
		if math.Abs(d) > reach {
			continue
		}
		p += f.p
		off += f.p * d
		square += f.p * d * d
	}
	off /= p
	cell := m.period / float64(m.cells)
	return c.center + off, math.Sqrt(square/p - off*off + m.spread*m.spread/2 + cell*cell/12), p
}

// like says whether two models foresee changes at the same hours.
func (m *model) like(o *model) bool { return m.period == o.period }

// probe finds the wait that halves the times of a likely period.
func (b *Belief) probe(price float64, l Limits) (wait float64, model int, ok bool) {
	model = -1
	for m, p := range b.mass {
		if p > 0.25 && price < 0.7*models[m].period*worth(1/models[m].period) && (model < 0 || p > b.mass[model]) {
			model = m
		}
	}
	if model < 0 {
		return 0, 0, false
	}
	m := &models[model]
	step := m.period / float64(m.cells)
	for wait = max(l.Min.Seconds(), step); wait < 1.2*m.period; wait += step {
		quiet := 0.0
		for _, f := range b.phases {
			if f.model == model {
				quiet += f.p * m.quiet(b.last, b.last+wait, f.center)
			}
		}
		if quiet < 0.5*b.mass[model] {
			return wait, model, true
		}
	}
	return 0, 0, false
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
