package schedule

import (
	"hash/fnv"
	"io"
	"math"
	"time"
)

// Rule is a schedule as a crawl uses it: from a URL's key, the update period its source declares (0: none) and its visits so
// far (the newest last) to its next visit, and why. It may be called concurrently.
type Rule interface {
	Next(key string, declared time.Duration, history []Visit, now time.Time) (next time.Time, why string)
}

// PaperRule is Paper as a Rule.
type PaperRule Limits

// Next is Paper.
func (r PaperRule) Next(_ string, _ time.Duration, history []Visit, now time.Time) (time.Time, string) {
	return Paper(history, now, Limits(r))
}

// AdaptiveRule is Decide as a Rule, at a price that Plan finds. All that it asks for is fetched, so no URL has to be overdue
// to keep a budget in use.
type AdaptiveRule struct {
	opts    AdaptiveOptions
	planner *Planner
	moved   float64 // the price when Plan last said that it had moved; used by one Plan at a time
}

// AdaptiveOptions of an AdaptiveRule.
type AdaptiveOptions struct {
	Limits Limits
	Round  time.Duration // a plan is for as many fetches as would visit every URL once in this time; 7 days
	Price  time.Duration // of a fetch, until the first plan; DefaultPrice
}

// NewAdaptiveRule has made no plan yet.
func NewAdaptiveRule(o AdaptiveOptions) *AdaptiveRule {
	if o.Round <= 0 {
		o.Round = 7 * 24 * time.Hour
	}
	if o.Price <= 0 {
		o.Price = DefaultPrice
	}
	r := &AdaptiveRule{opts: o, planner: NewPlanner(o.Limits), moved: o.Price.Seconds()}
	r.planner.queue, r.planner.price = 0, o.Price.Seconds()
	return r
}

var (
	_ Rule = PaperRule{}
	_ Rule = (*AdaptiveRule)(nil)
)

// Next is Decide at the present price.
func (r *AdaptiveRule) Next(key string, declared time.Duration, history []Visit, now time.Time) (time.Time, string) {
	d, _ := r.planner.Decide(idOf(key), history, now, declared)
	return d.Next, d.Why
}

func idOf(key string) uint64 {
	id := fnv.New64a()
	io.WriteString(id, key)
	return id.Sum64()
}

// Known is a URL as a plan sees it.
type Known struct {
	Key      string
	Declared time.Duration
	History  []Visit
}

// What Plan goes by: fewer visited URLs than this tell too little, and a price that has moved by less is not worth to move
// what is queued.
const (
	leastPlanned = 500
	priceMoved   = 0.03
)

// Plan finds the price of a fetch anew, from all URLs, which each gives one after the other and of which it looks closely at
// a sample only. It says whether the price has moved so far that what is queued should be asked about again (Next): URLs that
// wait at the price of another day come due in clumps. The error is each's. One Plan at a time; Next may be called meanwhile.
func (r *AdaptiveRule) Plan(now time.Time, each func(visit func(Known)) error) (moved bool, err error) {
	known := 0
	r.planner.forget()
	err = each(func(u Known) {
		known++
		r.planner.study(idOf(u.Key), u)
	})
	if err != nil || r.planner.studied() < leastPlanned {
		return false, err
	}
	r.planner.Replan(now, known, float64(known)/(r.opts.Round.Hours()/24))
	price := r.Price().Seconds()
	if math.Abs(math.Log(price/r.moved)) < priceMoved {
		return false, nil
	}
	r.moved = price
	return true, nil
}

// Price of a fetch at the moment, for those who want to see it.
func (r *AdaptiveRule) Price() time.Duration { return r.planner.Hints(0).Price }
