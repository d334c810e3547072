package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"
)

// Hints are what is known besides the history. Zero fields are unknown, or have defaults.
type Hints struct {
	Declared time.Duration // the update period that the portal declares (dct:accrualPeriodicity)
	// Price is the price of a fetch: the time for which the fetch must be expected to keep the archive's copy current.
	// The higher it is, the fewer visits are made. A Planner computes the price at which a budget is just spent.
	// Default DefaultPrice.
	Price time.Duration
	Prior *Prior // how files change in general; default DefaultPrior
}

// DefaultPrice results in about one fetch per URL and week in a typical archive.
const DefaultPrice = 8 * time.Hour

// Decision is when to visit a URL.
type Decision struct {
	Next  time.Time
	Value time.Duration // the loss by a later visit: a predicted change's weighted period, a probe's price, or 0
	Why   string
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

// Decide returns when the next visit is worth its price. Of the hints, it uses the price only. now is the time of the
// last visit, or later.
//
// A visit at time T after the last one gains E[t; t <= T], the expected time to the next change if that comes before T.
// This is the time for which the archive's copy is current, compared with waiting longer. (It is the index of a
// restless bandit whose arms are the URLs. For random changes at a known rate, it is the rule of Cho and Garcia-Molina
// for the most versions and freshness per fetch.) The URL is due when the gain reaches the price.
//
// If the period of changes and their hour are known, the visit follows right after the next predicted change. If a
// period is likely but its hour is not known, the visit halves the possible hours. Failed visits say nothing about
// changes and have a back-off of their own.
func (b *Belief) Decide(now time.Time, l Limits, h Hints) Decision {
	l, h = l.withDefaults(), h.withDefaults()
	if b.visit.IsZero() {
		return Decision{now, l.Max, "never visited"}
	}
	if b.fails > 0 {
		return b.retry(b.visit, l)
	}
	p := b.plan(h.Price.Seconds(), seconds(now), l)
	next := b.visit.Add(l.clamp(fromSeconds(p.at).Sub(b.visit)))
	return Decision{next, time.Duration(p.worth * float64(time.Second)), b.why(p)}
}

// retry returns the decision after failed visits: at intervals that grow up to the maximum.
func (b *Belief) retry(last time.Time, l Limits) Decision {
	what := "could not be fetched"
	if b.gone > 0 {
		what = "gave no file"
	}
	wait := b.retryAfter(l)
	return Decision{last.Add(wait), 0, fmt.Sprintf("%s%s: again after %s", what, inARow(b.fails), days(wait))}
}

// retryAfter returns the wait after failed visits. It grows faster if the file is missing.
func (b *Belief) retryAfter(l Limits) time.Duration {
	first := l.Min
	if b.gone > 0 {
		first = max(l.Min, 24*time.Hour)
	}
	doublings := b.fails - 1
	if b.gone > 0 { // a missing file tends to stay missing
		doublings *= 2
	}
	wait := first
	for range min(doublings, 12) {
		if wait > l.Max/2 { // doubling may overflow
			return l.Max
		}
		wait *= 2
	}
	return l.clamp(wait)
}

// sure is the probability of a period's hour from which visits follow it.
const sure = 0.7

func inARow(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" %d times in a row", n)
}

// plan is a future visit.
type plan struct {
	at     float64 // seconds since the epoch
	worth  float64 // Decision.Value, in seconds
	reason reason
	model  int
}

type reason int

const (
	reasonGain    reason = iota // waiting longer would lose more than a visit costs
	reasonChange                // a change is predicted
	reasonLate                  // a predicted change was not found yet
	reasonHalving               // the hour of a likely period is unknown
	reasonProbe                 // the file may change all the time
)

func (b *Belief) plan(price, now float64, l Limits) plan {
	if p, ok := b.predicted(price, l); ok {
		return p
	}
	p := plan{at: b.last + b.worthwhileWait(price, l)}
	if m := b.periodToFind(price); m >= 0 && b.last+b.halves[m] < p.at {
		p.at, p.reason, p.model = b.last+b.halves[m], reasonHalving, m
	}
	if wait, ok := b.probe(price, now, p.at-b.last, l); ok { // a late probe tells nothing, so it has a worth
		p = plan{at: b.last + wait, worth: price, reason: reasonProbe}
	}
	return p
}

// why describes a plan in a sentence.
func (b *Belief) why(p plan) string {
	m := &models[p.model]
	switch p.reason {
	case reasonChange:
		return fmt.Sprintf("changes %s around %s (%.0f %% sure): visited right after", m.name, m.clock(b.likely.mean), 100*b.likely.p)
	case reasonLate:
		return fmt.Sprintf("changes %s around %s (%.0f %% sure) but did not yet: visited once more", m.name, m.clock(b.likely.mean),
			100*b.likely.p)
	case reasonHalving:
		return fmt.Sprintf("seems to change %s (%.0f %%): visited after %s to find its hour", m.name, 100*b.mass[p.model],
			span(p.at-b.last))
	case reasonProbe:
		return fmt.Sprintf("changed before each of the last %d visits: visited after %s to find out whether it changes all the time",
			b.inTime, span(p.at-b.last))
	}
	return b.describe(p.at - b.last)
}

// worthwhileWait returns the wait, in seconds, at which a visit gains its price, by linear interpolation in the table.
func (b *Belief) worthwhileWait(price float64, l Limits) float64 {
	shortest, longest := l.Min.Seconds(), l.Max.Seconds()
	i := sort.SearchFloat64s(b.pays[:], price)
	switch i {
	case nWaits:
		return longest
	case 0:
		return shortest
	}
	wait := waits[i-1] + (waits[i]-waits[i-1])*(price-b.pays[i-1])/(b.pays[i]-b.pays[i-1])
	return max(shortest, min(wait, longest))
}

// nWaits is the number of waits for which the gain of a visit is tabulated: from ten minutes to ten years, each an
// eighth longer than the one before.
const nWaits = 113

var waits = func() (w [nWaits]float64) {
	w[0] = 10 * minute
	for i := 1; i < nWaits; i++ {
		w[i] = w[i-1] * 9 / 8
	}
	return w
}()

// gains tabulates the gain of a visit for random changes, by wait and rate.
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

// tabulate computes from the hypotheses what decisions at any price need: the gain E[t; t <= wait] for each wait of the
// table, weighted by worth, and the likely times of change.
//
// After a whole period, a visit is sure to find a version, whatever the hour of the change. So from that wait on, a
// periodic change counts like one whose hour is known: as the period. With E[t; t <= wait] alone, it would count half
// of that, and at a price between the two a weekly file would hardly be visited before its hour is known, which takes
// visits.
func (b *Belief) tabulate() {
	b.likely = b.cluster()
	type coming struct{ in, p float64 }
	var times [nModels][]coming
	for _, f := range b.phases {
		m := &models[f.model]
		in := m.next(b.last, f.center) - b.last
		times[f.model] = append(times[f.model], coming{in, f.p})
		value := f.p * worth(1/m.period)
		if i := sort.SearchFloat64s(waits[:], in); i < nWaits {
			b.pays[i] += value * in
		}
		if i := sort.SearchFloat64s(waits[:], max(in, m.period)); i < nWaits {
			b.pays[i] += value * max(0, m.period-in)
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
	before := 0.0 // gain from the periodic changes up to this wait
	for i := range b.pays {
		before += b.pays[i]
		b.pays[i] = before
		for k := 1; k < nRates; k++ {
			b.pays[i] += b.rates[k] * gains[i][k]
		}
	}
}

// next returns the first change that a model predicts after a time, in seconds since the epoch.
func (m *model) next(after, center float64) float64 {
	at := epoch + center + m.period*math.Ceil((after-epoch-center)/m.period)
	for m.weekdays && weekend(at) {
		at += m.period
	}
	return at
}

// worth returns the weight of a fresh copy by the rate of change: the root of the number of versions in a month. With
// weight 1 for all, a file would count as much as another one however many more versions it has, and daily files would
// hardly be visited; with the number itself, all fetches would go to files that change all the time. Below one change
// in ten months, the weight stays the same: there is not enough history to tell rarer changes apart.
func worth(l float64) float64 { return math.Sqrt(max(0.1, l*month)) }

// maxSlack is how long after the time of a predicted change a visit follows, in standard deviations of that time. A
// visit that comes too early costs a second one; one that is later by an hour costs an hour's freshness.
const maxSlack = 3

// predicted plans a visit after the next predicted change. ok is false if the time of changes is not known well enough,
// or a visit in each period is not worth its price.
func (b *Belief) predicted(price float64, l Limits) (plan, bool) {
	m := &models[b.likely.model]
	mean, spread := b.likely.mean, b.likely.spread()
	if !b.pinned(price) {
		return plan{}, false
	}
	// Visits that all come after the change reveal little about its time. So they approach it, but only as far as it is
	// not known: closer to it, changes that are a little late cost more visits than the approach gains.
	approach := b.likely
	approach.unsure *= max(0.25, 1-float64(b.inTime)/40)
	slack := maxSlack * approach.spread()
	at := mean + slack // into the period
	next := at + epoch + m.period*math.Ceil((b.last-epoch-at)/m.period)
	for next-b.last < max(l.Min.Seconds(), 0.3*m.period) || m.weekdays && weekend(next-slack) {
		next += m.period
	}
	p := plan{next, m.period * worth(1/m.period), reasonChange, b.likely.model}
	if b.late { // the change may only be late this time
		due := mean + epoch + m.period*math.Floor((b.last-epoch-mean+2*spread)/m.period)
		again := max(due+3*spread, b.last+l.Min.Seconds())
		if math.Abs(b.last-due) < 2*spread && next-again > 0.3*m.period && again-due < 0.5*m.period {
			p.at, p.reason = again, reasonLate
		}
	}
	return p, true
}

// pinned reports whether the time of changes is known well enough, and a visit in each period is worth its price.
func (b *Belief) pinned(price float64) bool {
	period := models[b.likely.model].period
	return b.likely.p >= sure && price <= period*worth(1/period)
}

// cluster is a time in a period around which changes happen.
type cluster struct {
	model  int
	mean   float64 // seconds into the period
	unsure float64 // standard deviation of the mean
	varies float64 // standard deviation of a change around the mean, at least
	p      float64 // 0 for no cluster
}

// spread returns the standard deviation of the time of a change.
func (c cluster) spread() float64 { return math.Hypot(c.unsure, c.varies) }

// cluster returns the cluster around the likeliest time.
func (b *Belief) cluster() cluster {
	if len(b.phases) == 0 {
		return cluster{}
	}
	top := slices.MaxFunc(b.phases, func(a, b phase) int { return cmp.Compare(a.p, b.p) })
	m := &models[top.model]
	cell := m.period / float64(m.cells)
	var p, off, square float64
	for _, f := range b.phases {
		if !m.sameHours(&models[f.model]) {
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
	return cluster{top.model, top.center + off, math.Sqrt(max(0, square/p-off*off)), math.Sqrt(m.spread*m.spread/2 + cell*cell/12), p}
}

// sameHours reports whether two models predict changes at the same hours.
func (m *model) sameHours(o *model) bool { return m.period == o.period }

// periodToFind returns the likeliest period that is likely enough, and whose visits would be worth their price if its
// hour were known; -1 for none.
func (b *Belief) periodToFind(price float64) int {
	best := -1
	for m, p := range b.mass {
		period := models[m].period
		likely := 0.25
		if period > dayS { // a version is lost by a period, and many visits are needed to find its hour
			likely = 0.3
		}
		if p > likely && b.halves[m] > 0 && b.halves[m] < 1.2*period && price < 0.5*period*worth(1/period) &&
			(best < 0 || p > b.mass[best]) {
			best = m
		}
	}
	return best
}

// describe describes a belief in a sentence.
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

// clock formats a time in a period.
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
