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
	soft   bool // the budget is a wish: more can be fetched than it says

	mu     sync.Mutex // guards what follows
	perDay float64
	price  float64 // seconds
	prior  *Prior
	over   float64           // planned fetches over budget, so that none is lost where hosts are busy
	sample map[uint64]member // by mixed id; those below cut
	cut    uint64
}

// member of the sample.
type member struct {
	*Belief
	due time.Time
}

// NewPlanner shares out a number of fetches per day of which no more can be made.
func NewPlanner(perDay float64, l Limits) *Planner {
	return &Planner{limits: l.withDefaults(), perDay: perDay, price: DefaultPrice.Seconds(), prior: DefaultPrior(), over: 1,
		sample: map[uint64]member{}, cut: math.MaxUint64}
}

// SetBudget changes the number of fetches per day.
func (p *Planner) SetBudget(perDay float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.perDay = perDay
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
	p.learn(id, b, d.Next)
	return d, b
}

// Again decides anew at the present price, from a belief no visit has been added to since.
func (p *Planner) Again(id uint64, b *Belief, now time.Time) Decision {
	d := b.Decide(now, p.limits, p.hints(id, 0))
	p.learn(id, b, d.Next)
	return d
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
	return math.Exp(0.8 * (u - 0.5))
}

// learn keeps a belief if its URL belongs to the sample: those whose mixed ids are smallest.
func (p *Planner) learn(id uint64, b *Belief, due time.Time) {
	mixed := mix(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if mixed > p.cut {
		return
	}
	p.sample[mixed] = member{b, due}
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

// Replan finds the price anew, once a day or so: for so many URLs, after so many fetches since the last time.
func (p *Planner) Replan(now time.Time, urls int, since time.Duration, fetched int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sample) == 0 || urls == 0 {
		return
	}
	p.balance(now, urls, p.perDay*since.Hours()/24, float64(fetched))
	p.prior = p.prior.learn(p.sample)
	target := p.over * p.perDay / dayS * float64(len(p.sample)) / float64(urls)
	lo, hi := math.Log(minute), math.Log(10*365*dayS)
	for range 20 {
		mid := (lo + hi) / 2
		if p.planned(math.Exp(mid)) > target {
			lo = mid
		} else {
			hi = mid
		}
	}
	p.price = math.Exp((lo + hi) / 2)
}

// balance corrects the plan by how the last one went.
func (p *Planner) balance(now time.Time, urls int, budget, fetched float64) {
	if p.soft {
		switch {
		case fetched > 1.05*budget:
			p.over = max(p.over*0.97, 0.7)
		case fetched < 0.95*budget:
			p.over = min(p.over*1.03, 1.5)
		}
		return
	}
	overdue := 0.0
	for _, m := range p.sample {
		if m.due.Before(now) {
			overdue += float64(urls) / float64(len(p.sample))
		}
	}
	// A queue of overdue URLs keeps every fetch of the budget in use through nights and weekends; those that can wait best
	// stand in it.
	queue := min(4*budget, 0.08*float64(urls))
	switch {
	case overdue > 2*queue:
		p.over = max(p.over*0.97, 0.7)
	case fetched < 0.985*budget || overdue < queue:
		p.over = min(p.over*1.03, 3)
	}
}

// planned fetches per second of the sample at a price.
func (p *Planner) planned(price float64) float64 {
	sum := 0.0
	for mixed, m := range p.sample {
		sum += 1 / m.usual(price*ownPrice(mixed), p.limits)
	}
	return sum
}

// usual is the time between visits at a price.
func (b *Belief) usual(price float64, l Limits) float64 {
	if b.fails > 0 {
		return b.retryAfter(l).Seconds()
	}
	if top := b.top(); top >= 0 {
		m := &models[b.phases[top].model]
		if _, _, p := b.cluster(top); p >= sure && price <= m.period*worth(1/m.period) {
			if m.weekdays {
				return m.period * 7 / 5
			}
			return max(m.period, l.Min.Seconds())
		}
	}
	return b.index(price, l)
}

// learn moves a prior towards what a sample shows (a step of expectation maximisation, held back by what was thought
// before).
func (p *Prior) learn(sample map[uint64]member) *Prior {
	const weight = 2000.0 // URLs that the default counts for
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
