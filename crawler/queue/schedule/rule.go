package schedule

import (
	"hash/fnv"
	"io"
	"math"
	"time"
)

// Rule is a schedule as a crawl uses it. Next returns the time of a URL's next visit and the reason, from the URL's
// key, the update period that its source declares (0 for none) and its visits, the newest last. It may be called
// concurrently.
type Rule interface {
	Next(key string, declared time.Duration, history []Visit, now time.Time) (next time.Time, why string)
}

// PaperRule makes Paper a Rule.
type PaperRule Limits

// Next calls Paper.
func (r PaperRule) Next(_ string, _ time.Duration, history []Visit, now time.Time) (time.Time, string) {
	return Paper(history, now, Limits(r))
}

// unmade is how many more visits a plan of an AdaptiveRule counts than will be made, in days of its budget: a visit
// that finds no change often moves the next ones out of the plan.
const unmade = 0.6

// AdaptiveRule makes Belief.Decide a Rule, at the price that Plan computes. A crawl makes all the visits that the rule
// asks for, so unlike a Planner for a fixed budget, it needs no queue of overdue URLs.
type AdaptiveRule struct {
	opts    AdaptiveOptions
	planner *Planner
	moved   float64 // the price when Plan last returned true; only Plan uses it
}

// AdaptiveOptions of an AdaptiveRule.
type AdaptiveOptions struct {
	Limits Limits
	Round  time.Duration // a plan makes as many fetches as visiting every URL once in this time; default 7 days
	Price  time.Duration // price of a fetch until the first plan; default DefaultPrice
}

// NewAdaptiveRule returns a rule that has made no plan yet.
func NewAdaptiveRule(o AdaptiveOptions) *AdaptiveRule {
	if o.Round <= 0 {
		o.Round = 7 * 24 * time.Hour
	}
	if o.Price <= 0 {
		o.Price = DefaultPrice
	}
	r := &AdaptiveRule{opts: o, planner: NewPlanner(o.Limits), moved: o.Price.Seconds()}
	r.planner.queue, r.planner.price = unmade, o.Price.Seconds()
	return r
}

var (
	_ Rule = PaperRule{}
	_ Rule = (*AdaptiveRule)(nil)
)

// Next calls Belief.Decide with the current price.
func (r *AdaptiveRule) Next(key string, declared time.Duration, history []Visit, now time.Time) (time.Time, string) {
	d, _ := r.planner.Decide(idOf(key), history, now, declared)
	return d.Next, d.Why
}

func idOf(key string) uint64 {
	id := fnv.New64a()
	io.WriteString(id, key)
	return id.Sum64()
}

// Known is what a plan needs of a URL.
type Known struct {
	Key      string
	Declared time.Duration
	History  []Visit
}

const (
	minPlanned   = 500  // Plan needs so many visited URLs in its sample
	minPriceMove = 0.03 // it ignores a smaller change of the price's logarithm
)

// Plan computes the price of a fetch from all URLs, with which each calls visit. It examines only a sample of them.
// moved reports whether the price has changed so much that queued URLs should be scheduled again with Next: URLs
// scheduled at different prices become due in clumps. The error is that of each. Calls of Plan must not overlap; Next
// may be called meanwhile.
func (r *AdaptiveRule) Plan(now time.Time, each func(visit func(Known)) error) (moved bool, err error) {
	known := 0
	r.planner.resetSample()
	err = each(func(u Known) {
		known++
		r.planner.study(idOf(u.Key), u)
	})
	if err != nil || r.planner.studied() < minPlanned {
		return false, err
	}
	r.planner.Replan(now, known, float64(known)/(r.opts.Round.Hours()/24))
	price := r.Price().Seconds()
	if math.Abs(math.Log(price/r.moved)) < minPriceMove {
		return false, nil
	}
	r.moved = price
	return true, nil
}

// Price returns the current price of a fetch.
func (r *AdaptiveRule) Price() time.Duration { return r.planner.Hints(0).Price }
