package exec

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"odarchive/triplestore/sparql/internal/plan"
)

// parallel runs a chain of operators on several processors. The rows of its source are dealt out in portions; each
// portion goes through a copy of the chain, and the outputs are handed out in the order of the portions, so that nobody
// sees that there were several. The goroutine of the query works on portions too; helpers join it while processors are
// idle. A helper never waits: where it has run far enough ahead, it ends, and is called again when there is room.
type parallel struct {
	q      *query // runs nothing itself, so that helpers may fork it at any time
	node   *plan.Parallel
	ctx    context.Context // of all that runs here
	cancel context.CancelFunc
	sides  map[*plan.HashJoin]*hashSide
	most   int            // copies of the chain
	work   sync.WaitGroup // the helpers

	deal sync.Mutex // guards what follows; taken before mu
	src  op
	b    *batch // of the source, dealt out up to from
	from int
	size int // rows of the next portion

	mu      sync.Mutex // guards what follows
	settled *sync.Cond // a portion is no longer busy, or a helper has ended
	line    []*portion // in order: the first is handed out next
	idle    []*chain
	chains  []*chain
	helpers int
	dealt   int  // portions
	ended   bool // there are no more portions

	cur *portion // being handed out, by the query's goroutine alone
}

// portion is some rows of the source on their way. While it is busy it belongs to a goroutine, else to the next one that
// finds it in line.
type portion struct {
	c    *chain
	busy bool
	done bool // the chain has given all of it
	err  error
}

const (
	maxWaiting = 1 << 15              // rows of output that a portion keeps; the rest is computed when it is its turn
	maxDeal    = 5 * time.Millisecond // the time after which a portion may be smaller than it should be
)

func (q *query) openParallel(n *plan.Parallel) (op, error) {
	p := &parallel{node: n, size: max(1, q.opts.BatchSize/4), sides: map[*plan.HashJoin]*hashSide{}}
	p.most = n.Workers + 2
	p.settled = sync.NewCond(&p.mu)
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
		p.call()
		if !p.advance() {
			return nil, nil
		}
	}
}

// advance waits for the portion that is next, working on those behind it; false at the end.
func (p *parallel) advance() bool {
	for {
		c, more := p.choose()
		if p.cur != nil || !more {
			return more
		}
		if x := p.take(c); x != nil {
			if !p.isFirst(x) {
				x.fill(p.firstSettled)
			}
			p.settle(x)
		}
	}
}

// choose finds what the query's goroutine does next: the first portion becomes cur, or a chain is free for another one;
// false at the end.
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
		if c := p.free(); c != nil {
			return c, true
		}
		p.settled.Wait() // a helper is at the first portion
	}
}

func (p *parallel) isFirst(x *portion) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.line[0] == x
}

// settle gives a portion up.
func (p *parallel) settle(x *portion) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x.busy = false
	p.settled.Broadcast()
}

// firstSettled tells whether the portion that is next need not be waited for.
func (p *parallel) firstSettled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.line[0].busy
}

// call asks for help while processors are idle, from the second portion on.
func (p *parallel) call() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.dealt > 0 && !p.ended && p.helpers < p.node.Workers-1 && 2*len(p.line) <= p.most && p.q.opts.Workers.try() {
		p.helpers++
		p.work.Add(1)
		go p.help()
	}
}

// help works on portions while there are some to work on.
func (p *parallel) help() {
	defer p.work.Done()
	defer p.q.opts.Workers.leave()
	var x *portion
	defer func() {
		if v := recover(); v != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			if x == nil { // it was the source
				x = &portion{}
				p.line = append(p.line, x)
			}
			x.done, x.err = true, &crash{v, debug.Stack()}
			x.busy, p.ended = false, true
			p.helpers--
			p.settled.Broadcast()
		}
	}()
	for c := p.turn(); c != nil; c = p.turn() {
		if x = p.take(c); x == nil {
			continue
		}
		x.fill(nil)
		p.settle(x)
		x = nil
	}
}

// turn gives a helper a chain for another portion; nil where it is to end.
func (p *parallel) turn() *chain {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.free()
	if c != nil && p.ctx.Err() == nil {
		return c
	}
	if c != nil {
		p.idle = append(p.idle, c)
	}
	p.helpers--
	p.settled.Broadcast() // a chain may be idle again, or the end be known
	return nil
}

// free is a chain for another portion; nil where there are none, or enough of them. mu is held.
func (p *parallel) free() *chain {
	if p.ended {
		return nil
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c
	}
	if len(p.chains) >= p.most {
		return nil
	}
	c, err := p.newChain()
	if err != nil {
		return nil // the chains there are will do
	}
	p.chains = append(p.chains, c)
	return c
}

// take deals out the next portion, to a chain; nil if the source has ended, and the chain is idle again.
func (p *parallel) take(c *chain) *portion {
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
	x := &portion{c: c, busy: true, done: err != nil, err: err}
	p.ended = p.ended || err != nil
	p.line = append(p.line, x)
	p.dealt++
	return x
}

// fetch copies rows of the source. deal is held.
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

// retire makes a chain ready for another portion.
func (p *parallel) retire(c *chain) {
	c.reset()
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
}

// crash is a panic in a helper, on its way to the query's goroutine.
type crash struct {
	value any
	stack []byte
}

func (c *crash) Error() string { return fmt.Sprintf("exec: %v\n%s", c.value, c.stack) }

// raise passes errors on, and panics where a helper did.
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

// fork is the query for another goroutine: its caches are its own; computed terms, the budget and what is measured are
// shared.
func (q *query) fork(ctx context.Context) *query {
	f := *q
	f.ctx, f.terms, f.seeds = ctx, q.terms.fork(), map[*plan.Seed]*block{}
	exprs := *q.exprs
	f.exprs = &exprs
	return &f
}
