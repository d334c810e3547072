package schedule

import (
	"math"
	"time"

	"odarchive/crawler/catalog"
)

// A belief is what a history tells about how a file changes: how likely each of a set of hypotheses is. The hypotheses
// are that it never changes, that it changes at random with one of a grid of rates, and that it changes once a period
// (daily, on weekdays, weekly, monthly) at one of a grid of times in it.
type Belief struct {
	rates  [nRates]float64 // probability of each rate of the grid; rates[0] is "never"
	phases []phase         // probability of each period and time, the unlikely ones left out
	mass   [nModels]float64
	likely cluster          // the likeliest time, with those around it
	pays   [nWaits]float64  // what a visit pays after each wait of the table, seconds
	halves [nModels]float64 // the wait after which a period's change has come in half of its likely times; 0: not known
	fails  int              // visits in a row at the end that showed no content
	gone   int              // of them, those that said the file is not there
	known  bool
	visit  time.Time // the last visit, whatever came of it; zero: there was none
	last   float64   // the last visit that showed the content, else the last visit; seconds since the epoch
	late   bool      // that visit found no change
	inTime int       // visits in a row at the end that found a change
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

// nRates is the number of rates: never, then from one change in three hours to one in four years, each half of the
// one before.
const nRates = 15

// rate of a hypothesis, changes per second.
func rate(k int) float64 {
	if k == 0 {
		return 0
	}
	return 1 / (3 * hour * math.Pow(2, float64(k-1)))
}

// rates is the table of the grid.
var rates = func() (r [nRates]float64) {
	for k := range r {
		r[k] = rate(k)
	}
	return r
}()

// model of periodic change.
type model struct {
	name     string
	period   float64
	cells    int     // times tried
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

// Chances that do not depend on the model: that a foreseen change does not happen, and that something else does.
const (
	skipped = 0.04
	strange = 0.02
)

// sight is one thing a history shows: that in (from, to] the content changed, did not, or changed last exactly at to.
type sight struct {
	from, to float64
	changed  bool
	exact    bool
}

func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

func fromSeconds(s float64) time.Time { return time.Unix(0, int64(s*1e9)).UTC() }

// sights of a history. Visits that did not show the content tell nothing about it.
func sights(history []Visit) []sight {
	honest := honestTimes(history)
	var all []sight
	prev := math.NaN()
	for _, v := range history {
		if !v.Known() {
			continue
		}
		now, modified := seconds(v.At), seconds(v.LastModified)
		useful := honest && !v.LastModified.IsZero() && modified < now-minute
		first := math.IsNaN(prev)
		switch {
		case useful && first: // as old as that; when it was new is no change
			all = append(all, sight{from: modified, to: now})
		case first:
		case useful && v.Changed && modified > prev: // before it, there may have been other changes: not known
			all = append(all, sight{from: modified, to: modified, changed: true, exact: true}, sight{from: modified, to: now})
		case !v.Changed && len(all) > 0 && !all[len(all)-1].changed && all[len(all)-1].to == prev:
			all[len(all)-1].to = now
		default:
			all = append(all, sight{from: prev, to: now, changed: v.Changed})
		}
		prev = now
	}
	return all
}

const minute = 60.0

// honestTimes says whether Last-Modified has always told what the bytes told. Servers that say "now", or change it without
// changing the file, are not believed.
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

// Believe weighs the hypotheses by a history, under the hints' prior.
func Believe(history []Visit, h Hints) *Belief {
	h = h.withDefaults()
	prior, declared := h.Prior, h.Declared
	b := &Belief{}
	if len(history) > 0 {
		b.visit = history[len(history)-1].At
	}
	for _, v := range history {
		if v.Known() {
			b.known, b.fails, b.gone = true, 0, 0
			b.last, b.late = seconds(v.At), !v.Changed
			b.inTime++
			if b.late {
				b.inTime = 0
			}
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
	seen := sights(history)
	var logs [nRates]float64
	best := math.Inf(-1)
	for k := range logs {
		logs[k] = math.Log(prior.rates[k]*told(declared, meanInterval(k))) + likelihood(rates[k], seen)
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
	b.foresee()
	return b
}

func meanInterval(k int) float64 {
	if k == 0 {
		return math.Inf(1)
	}
	return 1 / rate(k)
}

// told is how much a declared period speaks for a mean interval: portals are right in most cases.
func told(declared time.Duration, interval float64) float64 {
	if declared <= 0 {
		return 1
	}
	if math.Abs(math.Log(declared.Seconds()/interval)) < math.Ln2 {
		return 6
	}
	return 1
}

// likelihood of sights under changes at random, as a logarithm.
func likelihood(l float64, seen []sight) float64 {
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

// phases weighs all periods and times; p is a logarithm here.
func phases(seen []sight, prior *Prior, declared time.Duration, best *float64) []phase {
	const hopeless = 9 // e^9 times less likely than the best so far: left out
	var all []phase
	for m := range models {
		mod := &models[m]
		start := math.Log(prior.models[m] / float64(mod.cells) * told(declared, mod.period))
		for c := range mod.cells {
			center := (float64(c) + 0.5) * mod.period / float64(mod.cells)
			sum := start
			product := 1.0 // of what is not in the sum yet: a logarithm costs more than the rest
			for i := len(seen) - 1; i >= 0; i-- {
				product *= mod.sight(seen[i], center)
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

// sight is the likelihood of one sight when the file changes around center.
func (m *model) sight(s sight, center float64) float64 {
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

// epoch is a Monday, 0 h UTC: where periods are counted from.
var epoch = seconds(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))

func weekend(t float64) bool {
	d := int(math.Floor((t-epoch)/dayS)) % 7
	return (d+7)%7 >= 5
}

// quiet is the probability that no foreseen change falls into (from, to].
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

// below is the normal distribution function, by the logistic one.
func below(z float64) float64 {
	switch {
	case z > 4:
		return 1
	case z < -4:
		return 0
	}
	return 1 / (1 + math.Exp(-1.702*z))
}
