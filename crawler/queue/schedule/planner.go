package schedule

import (
	"math"
	"sync"
	"time"
)

// Prior is how files change in general: the share of files of each rate, including never, and of each period. It is
// immutable.
type Prior struct {
	rates  [nRates]float64
	models [nModels]float64
}

// DefaultPrior returns the prior of an archive without much experience: most open data never changes, some changes all
// the time.
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

// sampleSize is the number of URLs from which a Planner computes the price.
const sampleSize = 2000

// Planner distributes a budget of fetches over all URLs. From a sample of them, it learns how files change in general,
// and computes the price of a fetch at which the budget is just spent. Its methods may be called concurrently.
type Planner struct {
	limits Limits
	queue  float64 // fetches that should be overdue when a plan ends, in days of the budget

	mu     sync.Mutex // guards what follows
	price  float64    // seconds
	prior  *Prior
	sample map[uint64]*Belief // by mixed id, up to cut
	cut    uint64
}

// NewPlanner returns a Planner for a fixed budget of fetches, which Replan sets.
func NewPlanner(l Limits) *Planner {
	return &Planner{limits: l.withDefaults(), queue: queue, price: DefaultPrice.Seconds(), prior: DefaultPrior(),
		sample: map[uint64]*Belief{}, cut: math.MaxUint64}
}

// Hints returns the hints for a URL at the current price.
func (p *Planner) Hints(declared time.Duration) Hints {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Hints{Declared: declared, Price: time.Duration(p.price * float64(time.Second)), Prior: p.prior}
}

// Decide calls Believe and Belief.Decide with the planner's hints. id must be unique to the URL; the planner may add
// the URL to its sample. Decide also returns the belief, for Again.
func (p *Planner) Decide(id uint64, history []Visit, now time.Time, declared time.Duration) (Decision, *Belief) {
	h := p.hints(id, declared)
	b := Believe(history, h)
	d := b.Decide(now, p.limits, h)
	p.learn(id, b)
	return d, b
}

// Again decides at the current price, from the belief that the last Decide for the URL returned.
func (p *Planner) Again(id uint64, b *Belief, now time.Time) Decision {
	return b.Decide(now, p.limits, p.hints(id, 0))
}

// hints returns the hints for a URL. Prices differ slightly between URLs. Thousands of files change once a day, and at
// one price for all, either all or none of them would be worth a visit, so that the price would oscillate.
func (p *Planner) hints(id uint64, declared time.Duration) Hints {
	h := p.Hints(declared)
	h.Price = time.Duration(float64(h.Price) * ownPrice(mix(id)))
	return h
}

func ownPrice(mixed uint64) float64 {
	u := float64(mixed*0x9e3779b97f4a7c15>>11) / (1 << 53)
	return math.Exp(0.2 * (u - 0.5))
}

// learn adds a belief to the sample if its URL belongs there. The sample consists of the smallest mixed ids.
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

// Replan computes the price for a number of URLs and of fetches a day. It should be called about once a day.
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

// resetSample empties the sample.
func (p *Planner) resetSample() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sample, p.cut = map[uint64]*Belief{}, math.MaxUint64
}

// study adds a URL to the sample if it belongs there and was visited.
func (p *Planner) study(id uint64, u Known) {
	p.mu.Lock()
	belongs := mix(id) <= p.cut
	p.mu.Unlock()
	if belongs && len(u.History) > 0 {
		p.learn(id, Believe(u.History, p.Hints(u.Declared)))
	}
}

// studied returns the size of the sample.
func (p *Planner) studied() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sample)
}

const (
	ahead = 2 * dayS // the time that a plan covers, in seconds
	// overdue fetches at its end, in days of the budget: they use up the budget in nights and weekends, and of planned
	// visits that are not made
	queue = 1.35
)

// due returns how many visits of the sample are due at a price within the time that a plan covers.
func (p *Planner) due(price, now float64) float64 {
	sum := 0.0
	for mixed, m := range p.sample {
		own := price * ownPrice(mixed)
		at := max(now, m.at(own, now, p.limits))
		if at >= now+ahead {
			continue
		}
		sum++
		if m.fails == 0 { // a failure has most likely ended by then
			sum += (now + ahead - at) / m.interval(own, p.limits)
		}
	}
	return sum
}

// at returns when a visit is due at a price, in seconds since the epoch.
func (b *Belief) at(price, now float64, l Limits) float64 {
	last := seconds(b.visit)
	if b.fails > 0 {
		return last + b.retryAfter(l).Seconds()
	}
	return last + max(l.Min.Seconds(), min(b.plan(price, now, l).at-last, l.Max.Seconds()))
}

// interval returns the usual time between visits at a price, in seconds.
func (b *Belief) interval(price float64, l Limits) float64 {
	switch m := &models[b.likely.model]; {
	case b.fails > 0:
		return b.retryAfter(l).Seconds()
	case !b.pinned(price):
		return b.worthwhileWait(price, l)
	case m.weekdays:
		return m.period * 7 / 5
	default:
		return max(m.period, l.Min.Seconds())
	}
}

// learn returns a prior that is the mean of a sample and the default prior (a step of expectation maximisation).
func (p *Prior) learn(sample map[uint64]*Belief) *Prior {
	const weight = 500.0 // the default prior counts as so many URLs
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
