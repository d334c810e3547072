package schedule

import (
	"hash/fnv"
	"io"
	"sync"
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

// AdaptiveRule is Decide as a Rule, with a planner that it keeps up to date itself.
type AdaptiveRule struct {
	opts    AdaptiveOptions
	planner *Planner

	mu      sync.Mutex // guards what follows
	planned time.Time
	fetched int
}

// AdaptiveOptions of an AdaptiveRule.
type AdaptiveOptions struct {
	Limits Limits
	Round  time.Duration // the fetches per day are those that would visit every URL once in this time; 7 days
	URLs   func() int    // how many are known; nil: the price of a fetch stays DefaultPrice
	Every  time.Duration // between two plans; 6 hours
}

// NewAdaptiveRule starts at DefaultPrice and learns from the visits it is asked about.
func NewAdaptiveRule(o AdaptiveOptions) *AdaptiveRule {
	if o.Round <= 0 {
		o.Round = 7 * 24 * time.Hour
	}
	if o.Every <= 0 {
		o.Every = 6 * time.Hour
	}
	r := &AdaptiveRule{opts: o, planner: NewPlanner(0, o.Limits)}
	r.planner.soft = true
	return r
}

var (
	_ Rule = PaperRule{}
	_ Rule = (*AdaptiveRule)(nil)
)

// Next is Decide at the present price.
func (r *AdaptiveRule) Next(key string, declared time.Duration, history []Visit, now time.Time) (time.Time, string) {
	r.plan(now)
	id := fnv.New64a()
	io.WriteString(id, key)
	d, _ := r.planner.Decide(id.Sum64(), history, now, declared)
	return d.Next, d.Why
}

// plan anew when it is time to.
func (r *AdaptiveRule) plan(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fetched++
	if r.planned.IsZero() {
		r.planned = now
	}
	since := now.Sub(r.planned)
	if r.opts.URLs == nil || since < r.opts.Every {
		return
	}
	urls := r.opts.URLs()
	r.planner.SetBudget(float64(urls) / (r.opts.Round.Hours() / 24))
	r.planner.Replan(now, urls, since, r.fetched)
	r.planned, r.fetched = now, 0
}

// Price of a fetch at the moment, for those who want to see it.
func (r *AdaptiveRule) Price() time.Duration { return r.planner.Hints(0).Price }
