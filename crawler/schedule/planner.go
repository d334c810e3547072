package schedule

import (
	"math"
	"sync"
	"time"
)

// Prior is how files change in general: the share of those that never change, of each rate, of each period. It is
// immutable.
type Prior struct {
	rates  [nRates]float64
	models [nModels]float64
}

// DefaultPrior is for an archive that has not seen much yet: most open data never changes, some changes all the time.
func DefaultPrior() *Prior {
	p := &Prior{models: [nModels]float64{0.05, 0.05, 0.06, 0.06}}
	p.rates[0] = 0.35
	sum := 0.0
	for k := 1; k < nRates; k++ { // log-normal around a month
		z := math.Log(1/rate(k)/month) / 2
		p.rates[k] = math.Exp(-z * z / 2)
		sum += p.rates[k]
	}
	for k := 1; k < nRates; k++ {
		p.rates[k] *= 0.43 / sum
	}
	return p
}

// sampleSize is how many URLs a planner looks at to find the price.
const sampleSize = 2000

// Planner shares a budget of fetches out among all URLs: it learns from a sample of them how files change in general and
// finds the price of a fetch at which the budget is just spent. Its methods may be called concurrently.
type Planner struct {
	limits Limits
	queue  float64 // days' fetches that should be overdue when a plan ends

	mu     sync.Mutex // guards what follows
	price  float64    // seconds
	prior  *Prior
	sample map[uint64]*Belief // by mixed id; those below cut
	cut    uint64
}

// NewPlanner shares out fetches of which no more can be made than Replan is told.
func NewPlanner(l Limits) *Planner {
	return &Planner{limits: l.withDefaults(), queue: queue, price: DefaultPrice.Seconds(), prior: DefaultPrior(),
		sample: map[uint64]*Belief{}, cut: math.MaxUint64}
}

// Hints for a URL at the present price.
func (p *Planner) Hints(declared time.Duration) Hints {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Hints{Declared: declared, Price: time.Duration(p.price * float64(time.Second)), Prior: p.prior}
}

// Decide is Decide with the planner's hints. The id, any number that stays the URL's own, lets the planner take what it
// learns of the URL into its sample. With the decision comes what it was drawn from, for Again.
func (p *Planner) Decide(id uint64, history []Visit, now time.Time, declared time.Duration) (Decision, *Belief) {
	h := p.hints(id, declared)
	b := Believe(history, h)
	d := b.Decide(now, p.limits, h)
	p.learn(id, b)
	return d, b
}

// Again decides anew at the present price, from a belief no visit has been added to since.
func (p *Planner) Again(id uint64, b *Belief, now time.Time) Decision {
	return b.Decide(now, p.limits, p.hints(id, 0))
}

// hints of a URL. Each has a price a little of its own: thousands of files change once a day, and a price at which all of
// them just pay or all just do not would swing to and fro.
func (p *Planner) hints(id uint64, declared time.Duration) Hints {
	h := p.Hints(declared)
	h.Price = time.Duration(float64(h.Price) * ownPrice(mix(id)))
	return h
}

func ownPrice(mixed uint64) float64 {
	u := float64(mixed*0x9e3779b97f4a7c15>>11) / (1 << 53)
	return math.Exp(0.3 * (u - 0.5))
}

// learn keeps a belief if its URL belongs to the sample: those whose mixed ids are smallest.
func (p *Planner) learn(id uint64, b *Belief) {
	mixed := mix(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if mixed > p.cut {
		return
	}
	p.sample[mixed] = b
	for len(p.sample) > sampleSize {
		p.cut -= p.cut / 8
		for k := range p.sample {
			if k > p.cut {
				delete(p.sample, k)
			}
		}
	}
}

// mix spreads ids evenly (the finaliser of splitmix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Replan finds the price anew, once a day or so, for so many URLs and fetches a day.
func (p *Planner) Replan(now time.Time, urls int, perDay float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sample) == 0 || urls == 0 {
		return
	}
	p.prior = p.prior.learn(p.sample)
	budget := perDay * (ahead/dayS + p.queue) * float64(len(p.sample)) / float64(urls)
	lo, hi := math.Log(minute), math.Log(10*365*dayS)
	for range 18 {
		if mid := (lo + hi) / 2; p.due(math.Exp(mid), seconds(now)) > budget {
			lo = mid
		} else {
			hi = mid
		}
	}
	p.price = math.Exp((lo + hi) / 2)
}

// forget the sample.
func (p *Planner) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sample, p.cut = map[uint64]*Belief{}, math.MaxUint64
}

// study takes a URL into the sample, if it belongs there and was visited.
func (p *Planner) study(id uint64, u Known) {
	p.mu.Lock()
	belongs := mix(id) <= p.cut
	p.mu.Unlock()
	if belongs && len(u.History) > 0 {
		p.learn(id, Believe(u.History, p.Hints(u.Declared)))
	}
}

// studied is how many URLs are in the sample.
func (p *Planner) studied() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sample)
}

// A plan looks so far ahead, and wants so much of a day's fetches in the queue at the end: what is overdue keeps every fetch of
// the budget in use through nights and weekends.
const (
	ahead = 2 * dayS
	queue = 0.75
)

// due counts the visits of the sample that are due within the time a plan looks ahead, at a price.
func (p *Planner) due(price, now float64) float64 {
	sum := 0.0
	for mixed, m := range p.sample {
		own := price * ownPrice(mixed)
		at := max(now, m.at(own, p.limits))
		if at >= now+ahead {
			continue
		}
		sum++
		if m.fails == 0 { // else it will have passed, most likely
			sum += (now + ahead - at) / m.usual(own, p.limits)
		}
	}
	return sum
}

// at is when a visit is due at a price.
func (b *Belief) at(price float64, l Limits) float64 {
	last := seconds(b.visit)
	if b.fails > 0 {
		return last + b.retryAfter(l).Seconds()
	}
	return last + max(l.Min.Seconds(), min(b.plan(price, l).at-last, l.Max.Seconds()))
}

// usual is the time between visits at a price.
func (b *Belief) usual(price float64, l Limits) float64 {
	switch m := &models[b.likely.model]; {
	case b.fails > 0:
		return b.retryAfter(l).Seconds()
	case !b.pinned(price):
		return b.index(price, l)
	case m.weekdays:
		return m.period * 7 / 5
	default:
		return max(m.period, l.Min.Seconds())
	}
}

// learn moves a prior towards what a sample shows (a step of expectation maximisation, held back by what was thought
// before).
func (p *Prior) learn(sample map[uint64]*Belief) *Prior {
	const weight = 500.0 // URLs that the default counts for
	next, base := &Prior{}, DefaultPrior()
	n := weight
	for k := range next.rates {
		next.rates[k] = weight * base.rates[k]
	}
	for m := range next.models {
		next.models[m] = weight * base.models[m]
	}
	for _, b := range sample {
		if !b.known {
			continue
		}
		n++
		for k, q := range b.rates {
			next.rates[k] += q
		}
		for m, q := range b.mass {
			next.models[m] += q
		}
	}
	for k := range next.rates {
		next.rates[k] /= n
	}
	for m := range next.models {
		next.models[m] /= n
	}
	return next
}
