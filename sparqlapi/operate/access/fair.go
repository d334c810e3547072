// Shares what is scarce among clients: places for queries, turns on the processors, and memory for request
// bodies.
//
// A Gate has a number of places. Each client may hold some of them and wait for some more; the clients that wait take
// turns, however many requests each has. A Turn gives a running query its time on the processors. A Budget counts
// bytes.
//
// WithClient names the client of a request in its context.

package access

import (
	"context"
	"sync"
	"time"
)

type clientKey struct{}

// WithClient returns a context of a request of a client: an address, a network, or the holder of a token.
func WithClient(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// ClientOf returns the client that WithClient named, or "".
func ClientOf(ctx context.Context) string {
	client, _ := ctx.Value(clientKey{}).(string)
	return client
}

// Full is the error of a Gate that lets nobody in.
type Full struct {
	Own   bool          // the client itself has taken its share; otherwise all clients together have taken all
	After time.Duration // when to try again
}

func (e *Full) Error() string {
	if e.Own {
		return "this client has as many queries running and waiting as one client may have"
	}
	return "all places for queries are taken"
}

// Limits of a Gate. Zero values mean no limit, except for Places.
type Limits struct {
	Places    int           // held at a time
	PerClient int           // of them, by one client
	Queue     int           // requests waiting at a time; negative for none
	PerQueue  int           // of them, of one client
	Wait      time.Duration // how long a request waits
}

// Gate lets requests in, the clients that wait in turn. Its methods may be called concurrently.
type Gate struct {
	limits Limits

	mu      sync.Mutex // guards what follows
	held    int
	waiting int
	clients map[string]*client
	ring    []*client // clients with waiting requests, the next one first
}

type client struct {
	name   string
	held   int
	queue  []*waiter // oldest first
	inRing bool
}

type waiter struct {
	let chan struct{} // closed when it may go in
	in  bool
}

// NewGate returns a Gate.
func NewGate(l Limits) *Gate {
	l.Places = max(l.Places, 1)
	return &Gate{limits: l, clients: map[string]*client{}}
}

// Enter waits for a place. The caller must call leave, which may be called twice, unless err is not nil: *Full, or why
// ctx is done.
func (g *Gate) Enter(ctx context.Context, name string) (leave func(), err error) {
	g.mu.Lock()
	c := g.clients[name]
	if c == nil {
		c = &client{name: name}
		g.clients[name] = c
	}
	if len(c.queue) == 0 && g.hasPlaceFor(c) {
		g.give(c)
		g.mu.Unlock()
		return g.leaver(c), nil
	}
	l := g.limits
	if full := (l.PerQueue > 0 && len(c.queue) >= l.PerQueue); full || l.Queue != 0 && g.waiting >= max(l.Queue, 0) {
		g.forget(c)
		g.mu.Unlock()
		return nil, &Full{Own: full || g.ownShare(c), After: g.limits.Wait}
	}
	w := &waiter{let: make(chan struct{})}
	c.queue = append(c.queue, w)
	g.waiting++
	g.enqueue(c)
	g.mu.Unlock()
	return g.wait(ctx, c, w)
}

func (g *Gate) wait(ctx context.Context, c *client, w *waiter) (leave func(), err error) {
	var over <-chan time.Time
	if g.limits.Wait > 0 {
		timer := time.NewTimer(g.limits.Wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-w.let:
		return g.leaver(c), nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-over:
		err = &Full{After: g.limits.Wait}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.in { // let in at the same moment
		return g.leaver(c), nil
	}
	for i, x := range c.queue {
		if x == w {
			c.queue = append(c.queue[:i:i], c.queue[i+1:]...)
			break
		}
	}
	g.waiting--
	if full, ok := err.(*Full); ok {
		full.Own = g.ownShare(c)
	}
	g.forget(c)
	return nil, err
}

// Waiting reports whether any request waits.
func (g *Gate) Waiting() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting > 0
}

// State returns how many places are held and how many requests wait.
func (g *Gate) State() (held, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held, g.waiting
}

// ownShare reports whether c holds as many places as one client may.
func (g *Gate) ownShare(c *client) bool {
	return g.limits.PerClient > 0 && c.held >= g.limits.PerClient
}

func (g *Gate) hasPlaceFor(c *client) bool { return g.held < g.limits.Places && !g.ownShare(c) }

func (g *Gate) give(c *client) {
	g.held++
	c.held++
}

// leaver returns a function that gives the place of c back, once.
func (g *Gate) leaver(c *client) func() {
	var once sync.Once
	return func() {
		once.Do(func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.held--
			c.held--
			g.admit()
			g.forget(c)
		})
	}
}

// admit lets waiting requests in, one of each client in turn.
func (g *Gate) admit() {
	for skipped := 0; g.held < g.limits.Places && skipped < len(g.ring); {
		c := g.ring[0]
		g.ring = g.ring[1:]
		c.inRing = false
		if len(c.queue) == 0 {
			continue
		}
		if !g.hasPlaceFor(c) {
			g.enqueue(c)
			skipped++
			continue
		}
		w := c.queue[0]
		c.queue = c.queue[1:]
		g.waiting--
		g.give(c)
		w.in = true
		close(w.let)
		skipped = 0
		g.enqueue(c)
	}
}

// enqueue puts c at the end of the ring if it has waiting requests and is not in it.
func (g *Gate) enqueue(c *client) {
	if !c.inRing && len(c.queue) > 0 {
		c.inRing = true
		g.ring = append(g.ring, c)
	}
}

// forget drops a client that neither holds nor waits.
func (g *Gate) forget(c *client) {
	if c.held == 0 && len(c.queue) == 0 && !c.inRing {
		delete(g.clients, c.name)
	}
}
