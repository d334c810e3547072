package exec

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"odarchive/triplestore/sparql/internal/plan"
)

// parallel runs a chain of operators on several processors. It divides the rows of its source into portions. Each
// portion is processed by a copy of the chain. The outputs are returned in the order of the portions, so the result is
// that of a single chain. The query's goroutine processes portions as well; helper goroutines are started while
// processors are idle. A helper never waits: it ends when enough portions are in line, and another one is started
// later.
type parallel struct {
	q         *query // is only forked, which helpers may do at any time
	node      *plan.Parallel
	ctx       context.Context // context of all operators below
	cancel    context.CancelFunc
	sides     map[*plan.HashJoin]*hashSide
	maxChains int            // copies of the chain
	work      sync.WaitGroup // the helpers

	deal sync.Mutex // guards what follows; taken before mu
	src  op
	b    *batch // current batch of the source; rows up to from are dealt
	from int
	size int // rows of the next portion

	mu      sync.Mutex // guards what follows
	changed *sync.Cond // signals that a portion is no longer busy or that a helper has ended
	line    []*portion // portions in order; the first one is returned next
	idle    []*chain
	chains  []*chain
	helpers int
	dealt   int  // number of portions dealt
	ended   bool // there are no further portions
	summing bool // the rows of new portions are aggregated in the chains

	newSum func(*query) (*group, error) // makes the groups of a chain; nil if rows are not aggregated
	addSum func(*chain) error           // adds the groups of a portion when it is its turn

	cur *portion // the portion whose output is being returned; only used by the query's goroutine
}

// portion is a number of rows of the source that a chain processes. While it is busy, one goroutine owns it; otherwise
// the query's goroutine may take it from the line.
type portion struct {
	c    *chain
	busy bool
	done bool // its output is complete
	sum  bool // its rows are aggregated
	err  error
}

const (
	maxWaiting = 1 << 15              // rows of output that a portion keeps at most; the rest is computed when it is returned
	maxDeal    = 5 * time.Millisecond // time after which a portion is dealt although it is not full
)

func (q *query) openParallel(n *plan.Parallel) (op, error) {
	p := &parallel{node: n, size: max(1, q.opts.BatchSize/4), sides: map[*plan.HashJoin]*hashSide{}}
	p.maxChains = n.Workers + 2
	p.changed = sync.NewCond(&p.mu)
	p.ctx, p.cancel = context.WithCancel(q.ctx)
	p.q = q.fork(p.ctx)
	if err := p.open(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *parallel) open() (err error) {
	if p.src, err = p.q.fork(p.ctx).open(p.node.Source); err != nil {
		return err
	}
	for x := p.node.In; x != p.node.Source; x = plan.Inputs(x)[0] {
		if h, ok := x.(*plan.HashJoin); ok {
			if p.sides[h], err = p.q.fork(p.ctx).openSide(h); err != nil {
				delete(p.sides, h)
				return err
			}
		}
	}
	c, err := p.newChain()
	if err == nil {
		p.chains, p.idle = []*chain{c}, []*chain{c}
	}
	return err
}

func (p *parallel) next() (*batch, error) {
	for {
		if p.cur != nil {
			b, err := p.cur.next()
			if b != nil || err != nil {
				return b, p.raise(err)
			}
			p.retire(p.cur.c)
			p.cur = nil
		}
		p.startHelpers()
		if !p.advance() {
			return nil, nil
		}
		if c := p.cur.c; c != nil && c.summed > 0 {
			if err := p.addSum(c); err != nil {
				return nil, err
			}
		}
	}
}

// advance waits for the next portion, which becomes cur, and processes later portions meanwhile. It returns false at
// the end.
func (p *parallel) advance() bool {
	for {
		c, more := p.choose()
		if p.cur != nil || !more {
			return more
		}
		if x := p.nextPortion(c); x != nil {
			if !p.isFirst(x) {
				p.fill(x, p.firstReady)
			}
			p.release(x)
		}
	}
}

// choose decides what the query's goroutine does next. If the first portion is not busy, it becomes cur; otherwise c is
// a chain with which to process another portion. more is false at the end.
func (p *parallel) choose() (c *chain, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if len(p.line) > 0 && !p.line[0].busy {
			p.cur, p.line = p.line[0], p.line[1:]
			return nil, true
		}
		if len(p.line) == 0 && p.ended {
			return nil, false
		}
		if c := p.freeChain(); c != nil {
			return c, true
		}
		p.changed.Wait() // a helper is processing the first portion
	}
}

func (p *parallel) isFirst(x *portion) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.line[0] == x
}

// release ends the ownership of a portion.
func (p *parallel) release(x *portion) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x.busy = false
	p.changed.Broadcast()
}

// firstReady reports whether the next portion is not busy.
func (p *parallel) firstReady() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.line[0].busy
}

// startHelpers starts helpers while processors are idle, from the second portion on.
func (p *parallel) startHelpers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.dealt > 0 && !p.ended && p.helpers < p.node.Workers-1 && 2*len(p.line) <= p.maxChains && p.q.opts.Workers.try() {
		p.helpers++
		p.work.Add(1)
		go p.help()
	}
}

// help is a helper: it processes portions until helperChain returns nil.
func (p *parallel) help() {
	defer p.work.Done()
	defer p.q.opts.Workers.leave()
	var x *portion
	defer func() {
		if v := recover(); v != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			if x == nil { // the source panicked
				x = &portion{}
				p.line = append(p.line, x)
			}
			x.done, x.err = true, &crash{v, debug.Stack()}
			x.busy, p.ended = false, true
			p.helpers--
			p.changed.Broadcast()
		}
	}()
	for c := p.helperChain(); c != nil; c = p.helperChain() {
		if x = p.nextPortion(c); x == nil {
			continue
		}
		p.fill(x, nil)
		p.release(x)
		x = nil
	}
}

// helperChain returns a chain for a helper's next portion, or nil if the helper should end.
func (p *parallel) helperChain() *chain {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.freeChain()
	if c != nil && p.ctx.Err() == nil {
		return c
	}
	if c != nil {
		p.idle = append(p.idle, c)
	}
	p.helpers--
	p.changed.Broadcast() // a chain may have become idle, or the portions may have ended
	return nil
}

// freeChain returns a chain for another portion, or nil if no portion is left or all chains are in use. The caller
// holds mu.
func (p *parallel) freeChain() *chain {
	if p.ended {
		return nil
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c
	}
	if len(p.chains) >= p.maxChains {
		return nil
	}
	c, err := p.newChain()
	if err != nil {
		return nil // the existing chains suffice
	}
	p.chains = append(p.chains, c)
	return c
}

// nextPortion deals the next portion to a chain. If the source has ended, it makes the chain idle and returns nil.
func (p *parallel) nextPortion(c *chain) *portion {
	p.deal.Lock()
	defer p.deal.Unlock()
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	var err error
	if !ended {
		err = p.fetch(c.feed)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.feed.n == 0 && err == nil {
		p.ended = true
		p.idle = append(p.idle, c)
		return nil
	}
	x := &portion{c: c, busy: true, done: err != nil, sum: p.summing, err: err}
	p.ended = p.ended || err != nil
	p.line = append(p.line, x)
	p.dealt++
	return x
}

// fetch copies rows of the source. The caller holds deal.
func (p *parallel) fetch(f *feed) error {
	began := time.Now()
	f.grow(p.size)
	for f.n < p.size {
		if p.b == nil || p.from >= p.b.n {
			if f.n > 0 && time.Since(began) > maxDeal {
				break
			}
			b, err := p.src.next()
			if err != nil {
				return err
			}
			if p.b, p.from = b, 0; b == nil {
				break
			}
		}
		n := min(p.size-f.n, p.b.n-p.from)
		for i, col := range p.b.cols[:len(f.rows)] {
			if col == nil {
				clear(f.rows[i][f.n : f.n+n])
				continue
			}
			copy(f.rows[i][f.n:], col[p.from:p.from+n])
		}
		f.n += n
		p.from += n
	}
	p.size = min(2*p.size, portionSize*p.q.opts.BatchSize)
	return nil
}

// retire makes a chain idle, ready for another portion.
func (p *parallel) retire(c *chain) {
	c.reset()
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
}

// crash is the error of a portion whose helper has panicked. raise repeats the panic in the query's goroutine.
type crash struct {
	value any
	stack []byte
}

func (c *crash) Error() string { return fmt.Sprintf("exec: %v\n%s", c.value, c.stack) }

// raise returns an error, and panics if it is a crash.
func (p *parallel) raise(err error) error {
	if c, ok := err.(*crash); ok {
		panic(c)
	}
	return err
}

func (p *parallel) close() {
	p.cancel()
	p.work.Wait()
	p.ended, p.line, p.idle, p.cur = true, nil, nil, nil
	if p.src != nil {
		p.src.close()
	}
	for _, s := range p.sides {
		s.close()
	}
	for _, c := range p.chains {
		c.close()
	}
}

// fork returns a copy of the query for another goroutine. The copy has its own caches, and shares computed terms, the
// budget and the trace.
func (q *query) fork(ctx context.Context) *query {
	f := *q
	f.ctx, f.terms, f.seeds, f.answers = ctx, q.terms.fork(), map[*plan.Seed]*block{}, nil
	f.services, f.calling = nil, 0
	exprs := *q.exprs
	f.exprs = &exprs
	return &f
}
