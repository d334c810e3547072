package schedule

import (
	"math"
	"time"

	"odarchive/crawler/catalog"
)

// Belief is the probability distribution, given a history, over hypotheses about how a file changes: never, at random
// with one of a grid of rates, or once a period (daily, on weekdays, weekly, monthly) at one of a grid of times in it.
type Belief struct {
	rates  [nRates]float64  // probability of each rate of the grid; rates[0] is "never"
	phases []phase          // probability of each period and time, without the unlikely ones
	mass   [nModels]float64 // probability of each period
	likely cluster          // around the likeliest time
	pays   [nWaits]float64  // gain of a visit after each wait of the table, in seconds
	halves [nModels]float64 // the wait after which half of a period's likely times have passed; 0 if not known
	fails  int              // failed visits in a row at the end
	gone   int              // of them, those that found the file missing
	known  bool             // some visit found the content
	visit  time.Time        // the last visit; zero if there was none
	last   float64          // the last visit that found the content, else the last visit; seconds since the epoch
	late   bool             // that visit found no change
	inTime int              // visits in a row at the end that found a change
	near   int              // of them, those soon after the visit before
}

// phase is the hypothesis that the file changes once a period, around a time in it.
type phase struct {
	model  int
	center float64 // seconds into the period
	p      float64
}

const (
	hour  = 3600.0
	dayS  = 24 * hour
	week  = 7 * dayS
	month = 30.44 * dayS
)

// nRates is the number of rates: never, then from one change in three hours down to one in 2.8 years, each half of the
// one before.
const nRates = 15

// rate returns the rate of a hypothesis, in changes per second.
func rate(k int) float64 {
	if k == 0 {
		return 0
	}
	return 1 / (3 * hour * math.Pow(2, float64(k-1)))
}

// rates tabulates rate.
var rates = func() (r [nRates]float64) {
	for k := range r {
		r[k] = rate(k)
	}
	return r
}()

// model is a model of periodic change. Times are in seconds.
type model struct {
	name     string
	period   float64
	cells    int     // number of times in the grid
	spread   float64 // standard deviation of the time of a change
	weekdays bool    // Monday to Friday only
}

const nModels = 4

var models = [nModels]model{
	{"daily", dayS, 36, 0.4 * hour, false},
	{"on weekdays", dayS, 36, 0.4 * hour, true},
	{"weekly", week, 28, 3 * hour, false},
	{"monthly", month, 30, dayS, false},
}

// Probabilities that do not depend on the model.
const (
	skipped = 0.04 // a predicted change does not happen
	strange = 0.02 // an observation has another cause
)

// observation is one fact of a history: in (from, to] the content changed, did not change, or last changed exactly at
// to.
type observation struct {
	from, to float64
	changed  bool
	exact    bool
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

func fromSeconds(s float64) time.Time { return time.Unix(0, int64(s*1e9)).UTC() }

// observations returns the observations of a history. Failed visits yield none.
func observations(history []Visit) []observation {
	honest := honestTimes(history)
	var all []observation
	prev := math.NaN()
	for _, v := range history {
		if !v.Known() {
			continue
		}
		now, modified := seconds(v.At), seconds(v.LastModified)
		useful := honest && !v.LastModified.IsZero() && modified < now-minute
		first := math.IsNaN(prev)
		switch {
		case useful && first: // the file is as old as that; its creation is not a change
			all = append(all, observation{from: modified, to: now})
		case first:
		case useful && v.Changed && modified > prev: // there may have been other changes before
			all = append(all, observation{from: modified, to: modified, changed: true, exact: true}, observation{from: modified, to: now})
		case !v.Changed && len(all) > 0 && !all[len(all)-1].changed && all[len(all)-1].to == prev:
			all[len(all)-1].to = now
		default:
			all = append(all, observation{from: prev, to: now, changed: v.Changed})
		}
		prev = now
	}
	return all
}

const minute = 60.0

// honestTimes reports whether Last-Modified has always agreed with the bytes. It does not if a server sends the current
// time, or changes it without changing the file.
func honestTimes(history []Visit) bool {
	var prev time.Time
	for _, v := range history {
		if !v.Known() {
			continue
		}
		if !v.LastModified.IsZero() {
			if v.At.Sub(v.LastModified) < 5*time.Second {
				return false
			}
			if !prev.IsZero() && v.Changed != v.LastModified.After(prev) {
				return false
			}
		}
		prev = v.At
	}
	return true
}

// Believe returns the belief for a history, which must be sorted by time. Of the hints, it uses the prior and the
// declared period.
func Believe(history []Visit, h Hints) *Belief {
	h = h.withDefaults()
	prior, declared := h.Prior, h.Declared
	b := &Belief{}
	if len(history) > 0 {
		b.visit = history[len(history)-1].At
	}
	for _, v := range history {
		if v.Known() {
			now := seconds(v.At)
			b.inTime++
			if b.known && now-b.last < nearVisit {
				b.near++
			}
			if !v.Changed {
				b.inTime, b.near = 0, 0
			}
			b.known, b.fails, b.gone = true, 0, 0
			b.last, b.late = now, !v.Changed
			continue
		}
		b.fails++
		if v.Outcome == catalog.NoVersion {
			b.gone++
		}
		if !b.known {
			b.last = seconds(v.At)
		}
	}
	seen := observations(history)
	var logs [nRates]float64
	best := math.Inf(-1)
	for k := range logs {
		logs[k] = math.Log(prior.rates[k]*declaredFactor(declared, meanInterval(k))) + likelihood(rates[k], seen)
		best = max(best, logs[k])
	}
	candidates := phases(seen, prior, declared, &best)
	total := 0.0
	for k, l := range logs {
		b.rates[k] = math.Exp(l - best)
		total += b.rates[k]
	}
	for i := range candidates {
		candidates[i].p = math.Exp(candidates[i].p - best)
		total += candidates[i].p
	}
	for k := range b.rates {
		b.rates[k] /= total
	}
	for _, c := range candidates {
		if c.p /= total; c.p > 1e-4 {
			b.phases = append(b.phases, c)
			b.mass[c.model] += c.p
		}
	}
	b.tabulate()
	return b
}

func meanInterval(k int) float64 {
	if k == 0 {
		return math.Inf(1)
	}
	return 1 / rate(k)
}

// declaredFactor returns the factor by which a declared period raises the probability of a mean interval near it.
// Portals are right in most cases.
func declaredFactor(declared time.Duration, interval float64) float64 {
	if declared <= 0 {
		return 1
	}
	if math.Abs(math.Log(declared.Seconds()/interval)) < math.Ln2 {
		return 6
	}
	return 1
}

// likelihood returns the logarithm of the likelihood of observations under random changes at rate l.
func likelihood(l float64, seen []observation) float64 {
	sum := 0.0
	for _, s := range seen {
		switch {
		case s.exact:
			sum += math.Log(max(l, 1e-12))
		case s.changed:
			sum += math.Log(max(-math.Expm1(-l*(s.to-s.from)), 1e-9))
		default:
			sum -= l * (s.to - s.from)
		}
	}
	return sum
}

// phases returns the phases that are not hopeless, with the logarithm of their weights as p. It raises *best to the
// greatest.
func phases(seen []observation, prior *Prior, declared time.Duration, best *float64) []phase {
	const hopeless = 9 // e^9 times less likely than the best so far
	var all []phase
	for m := range models {
		mod := &models[m]
		start := math.Log(prior.models[m] / float64(mod.cells) * declaredFactor(declared, mod.period))
		for c := range mod.cells {
			center := (float64(c) + 0.5) * mod.period / float64(mod.cells)
			sum := start
			product := 1.0 // of the factors that are not in the sum yet, since logarithms are slow
			for i := len(seen) - 1; i >= 0; i-- {
				product *= mod.likelihood(seen[i], center)
				if i == 0 || product < 1e-6 {
					sum += math.Log(product)
					product = 1
					if sum < *best-hopeless-3*float64(i) {
						break
					}
				}
			}
			if sum > *best-hopeless {
				all = append(all, phase{m, center, sum})
				*best = max(*best, sum)
			}
		}
	}
	return all
}

// likelihood returns the likelihood of one observation if the file changes around center.
func (m *model) likelihood(s observation, center float64) float64 {
	if s.exact {
		off := math.Mod(s.to-epoch-center, m.period)
		off = min(math.Abs(off), m.period-math.Abs(off))
		if m.weekdays && weekend(s.to) {
			return strange / m.period
		}
		z := off / m.spread
		return (1-strange)*math.Exp(-z*z/2)/(m.spread*2.5066) + strange/m.period
	}
	none := m.quiet(s.from, s.to, center)
	p := strange + (1-2*strange)*(1-none)
	if s.changed {
		return p
	}
	return 1 - p
}

// epoch is the beginning of all periods, a Monday at 0 h UTC.
var epoch = seconds(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))

func weekend(t float64) bool {
	d := int(math.Floor((t-epoch)/dayS)) % 7
	return (d+7)%7 >= 5
}

// quiet returns the probability that no predicted change happens in (from, to].
func (m *model) quiet(from, to, center float64) float64 {
	from, to = from-epoch-center, to-epoch-center
	none := 1.0
	for j := math.Floor((from-3*m.spread)/m.period) + 1; ; j++ {
		at := j * m.period
		if at > to+3*m.spread || none < 1e-6 {
			return none
		}
		if m.weekdays && weekend(at+center+epoch) {
			continue
		}
		none *= 1 - (1-skipped)*(below((to-at)/m.spread)-below((from-at)/m.spread))
	}
}

// below approximates the normal distribution function by the logistic one.
func below(z float64) float64 {
	switch {
	case z > 4:
		return 1
	case z < -4:
		return 0
	}
	return 1 / (1 + math.Exp(-1.702*z))
}
