package access

import (
	"context"
	"runtime"
	"time"
)

// GateSettings of Places. Zero values mean the defaults.
type GateSettings struct {
	Queries   int           // costly queries at a time; default 32
	PerClient int           // of them, by one client; default a quarter
	Queue     int           // costly queries that wait; default 256, a quarter of them of one client
	Wait      time.Duration // how long they wait; default 10 s
	Updates   int           // updates at a time, running or waiting for each other; default 16
	Bodies    int64         // bytes of all request bodies of clients without the token; default 64 MiB
	Answers   int64         // bytes of all answers that wait for their readers; default 1 GiB
}

func (s GateSettings) withDefaults() GateSettings {
	if s.Queries <= 0 {
		s.Queries = 32
	}
	if s.PerClient <= 0 {
		s.PerClient = max(s.Queries/4, 1)
	}
	if s.Queue <= 0 {
		s.Queue = 256
	}
	if s.Wait <= 0 {
		s.Wait = 10 * time.Second
	}
	if s.Updates <= 0 {
		s.Updates = 16
	}
	if s.Bodies <= 0 {
		s.Bodies = 64 << 20
	}
	if s.Answers <= 0 {
		s.Answers = 1 << 30
	}
	return s
}

// Places are what all queries of a server share.
type Places struct {
	// Bodies is the memory for request bodies of clients that need not show a token.
	Bodies *Budget
	// Answers is the room for answers whose readers are slower than the queries.
	Answers *Budget

	quick, costly, updates, processors, parked *Gate
}

// cheap is the estimated cost up to which a query counts as cheap. It never waits behind costly ones.
const cheap = 50 * time.Millisecond

// NewPlaces returns Places. Costly queries compute on as many processors as the program has.
func NewPlaces(s GateSettings) *Places {
	s = s.withDefaults()
	perQueue := max(s.Queue/4, 1)
	return &Places{
		Bodies: NewBudget(s.Bodies, max(s.Bodies/4, 1)),
		costly: NewGate(Limits{Places: s.Queries, PerClient: s.PerClient, Queue: s.Queue, PerQueue: perQueue, Wait: s.Wait}),
		quick: NewGate(Limits{Places: 2*s.Queries + 32, PerClient: s.PerClient + 16, Queue: s.Queue, PerQueue: perQueue,
			Wait: s.Wait}),
		updates:    NewGate(Limits{Places: s.Updates, Queue: s.Queue, Wait: s.Wait}),
		Answers:    NewBudget(s.Answers, max(s.Answers/4, 1)),
		parked:     NewGate(Limits{Places: 2 * s.Queries, PerClient: s.PerClient, Queue: -1}),
		processors: NewGate(Limits{Places: runtime.GOMAXPROCS(0)}),
	}
}

// Update waits for a place for an update. The error is that of Gate.Enter.
func (p *Places) Update(ctx context.Context) (leave func(), err error) {
	return p.updates.Enter(ctx, ClientOf(ctx))
}

// QueryGate is the place of a query. Its methods belong to one goroutine.
type QueryGate struct {
	Turn *Turn

	ctx    context.Context
	places *Places
	client string
	gate   *Gate  // of the place
	leave  func() // gives up the place
	unpark func() // gives up the place among the parked queries; nil if this one is not parked
}

// Query waits for a place to plan a query, and to run it if it is cheap. The caller calls Leave. The error is that of
// Gate.Enter.
func (p *Places) Query(ctx context.Context) (*QueryGate, error) {
	client := ClientOf(ctx)
	leave, err := p.quick.Enter(ctx, client)
	if err != nil {
		return nil, err
	}
	return &QueryGate{Turn: NewTurn(p.processors, client), ctx: ctx, places: p, client: client, gate: p.quick, leave: leave}, nil
}

// Admit waits until the query may run, whose estimated cost is known now. leave is Leave. The error is that of
// Gate.Enter.
func (q *QueryGate) Admit(cost time.Duration) (leave func(), err error) {
	if cost <= cheap {
		return q.Leave, nil
	}
	q.Turn.Costly()
	q.leave()
	place, err := q.places.costly.Enter(q.ctx, q.client)
	if err != nil {
		return nil, err
	}
	q.gate, q.leave = q.places.costly, place
	return q.Leave, nil
}

// Park gives the place up while the query waits for its reader. It returns *Full if too many queries do; then the query
// keeps its place, and should end.
func (q *QueryGate) Park() error {
	unpark, err := q.places.parked.Enter(q.ctx, q.client)
	if err != nil {
		return err
	}
	q.unpark = unpark
	q.leave()
	return nil
}

// Resume waits for a place after Park. The error is why the query's context is done.
func (q *QueryGate) Resume() error {
	for {
		place, err := q.gate.Enter(q.ctx, q.client)
		if err == nil {
			q.unpark()
			q.leave, q.unpark = place, nil
			return nil
		}
		if q.ctx.Err() != nil {
			return err
		}
		select { // others need the places
		case <-time.After(resumeWait):
		case <-q.ctx.Done():
		}
	}
}

// resumeWait is how long a parked query waits before it asks for a place again.
const resumeWait = 100 * time.Millisecond

// Leave gives the place up. It may be called twice.
func (q *QueryGate) Leave() {
	q.leave()
	if q.unpark != nil {
		q.unpark()
	}
}

// Running returns how many queries run or are planned, and how many wait. Parked queries do neither.
func (p *Places) Running() (running, waiting int) {
	for _, g := range []*Gate{p.quick, p.costly} {
		held, w := g.State()
		running += held
		waiting += w
	}
	return running, waiting
}
