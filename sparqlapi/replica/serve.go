package replica

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"odarchive/sparqlapi/problem"
)

// LagHeader is the header field that says how many seconds a replica is behind.
const LagHeader = "X-Replica-Lag"

// generation is a state that is served.
type generation struct {
	node    Node
	handler http.Handler
	number  uint64 // of its last write set

	users   map[*request]bool // guarded by served.mu
	retired bool              // guarded by served.mu
	left    chan struct{}     // closed when it is retired and nobody uses it
}

// request is a request in progress.
type request struct {
	w      http.ResponseWriter
	cancel context.CancelCauseFunc
}

// cut ends a request, also if its client does not read.
func (r *request) cut() {
	r.cancel(problem.ErrStopping)
	_ = http.NewResponseController(r.w).SetWriteDeadline(time.Now()) // without it, the handler ends when the client reads
}

// served are the states in use. The newest answers requests; older ones finish theirs.
type served struct {
	mu      sync.Mutex // guards the fields below
	current *generation
	last    uint64               // number of current, also after it was retired
	old     map[*generation]bool // older states that are in use
	changed chan struct{}
	closing sync.WaitGroup
	err     error // of closing a state
}

func (s *served) newest() *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// number returns the number of the state that is served, 0 if there is none.
func (s *served) number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// older returns how many older states are in use.
func (s *served) older() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.old)
}

// forget lets the next state have any number.
func (s *served) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = 0
}

// publish makes a state the one that answers.
func (s *served) publish(g *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
	s.current, s.last = g, g.number
	close(s.changed)
	s.changed = make(chan struct{})
}

// retire closes the current state as soon as nobody uses it. The caller holds mu.
func (s *served) retire() {
	g := s.current
	if g == nil {
		return
	}
	s.current = nil
	g.retired = true
	if s.old == nil {
		s.old = map[*generation]bool{}
	}
	s.old[g] = true
	if len(g.users) == 0 {
		close(g.left)
	}
	s.closing.Go(func() {
		<-g.left
		err := g.node.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.old, g)
		s.err = errors.Join(s.err, err)
	})
}

// retireAll retires the current state and waits until all are closed. After patience it cuts off the requests that are
// left.
func (s *served) retireAll(patience time.Duration) error {
	s.mu.Lock()
	s.retire()
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.closing.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		s.mu.Lock()
		for g := range s.old {
			for r := range g.users {
				r.cut()
			}
		}
		s.mu.Unlock()
		<-done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.err
	s.err = nil
	return err
}

// enter returns the state that answers, and waits for one while there is none.
func (s *served) enter(r *http.Request, by *request, patience time.Duration) *generation {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		s.mu.Lock()
		g, changed := s.current, s.changed
		if g != nil {
			g.users[by] = true
			s.mu.Unlock()
			return g
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-late.C:
			return nil
		case <-r.Context().Done():
			return nil
		}
	}
}

func (s *served) leave(g *generation, by *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(g.users, by); len(g.users) == 0 && g.retired {
		close(g.left)
	}
}

// waitForState is how long a request waits while a restored state replaces the old one.
const waitForState = 10 * time.Second

// ServeHTTP answers from the newest state. Every answer says how old that is.
func (f *Follower) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l := f.Lag()
	if l.Known {
		w.Header().Set(LagHeader, strconv.FormatFloat(l.Time.Seconds(), 'f', 1, 64))
	}
	patience := waitForState
	switch r.URL.Path {
	case "/readyz":
		if err := f.notReady(l); err != nil {
			problem.Send(w, r,
				problem.With(http.StatusServiceUnavailable, "Not ready", err, "state", "replica", "lag", l.Time.Seconds()).(*problem.Error))
			return
		}
		patience = 0
	case "/healthz":
		if f.served.newest() == nil {
			fmt.Fprintln(w, "ok")
			return
		}
	case "/replicate":
		problem.Send(w, r, &problem.Error{Status: http.StatusNotFound, Title: "A replica serves no replicas",
			Detail: "this server is a replica itself; follow " + f.opts.Writer})
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	by := &request{w, cancel}
	g := f.served.enter(r, by, patience)
	if g == nil {
		problem.Send(w, r, &problem.Error{Status: http.StatusServiceUnavailable, Title: "The replica has no state yet",
			Detail: l.describe(), RetryAfter: time.Second})
		return
	}
	defer f.served.leave(g, by)
	if l := f.Lag(); l.Known && w.Header().Get(LagHeader) == "" { // it waited for the first state
		w.Header().Set(LagHeader, strconv.FormatFloat(l.Time.Seconds(), 'f', 1, 64))
	}
	g.handler.ServeHTTP(w, r.WithContext(ctx))
}

// notReady returns why the replica should get no requests, or nil.
func (f *Follower) notReady(l Lag) error {
	switch {
	case f.served.newest() == nil || !l.Known:
		return errors.New("the replica has no state yet: " + l.describe())
	case f.opts.MaxLag > 0 && l.Time > f.opts.MaxLag:
		return fmt.Errorf("more than %v behind: %s", f.opts.MaxLag, l.describe())
	}
	return nil
}

// State says how the replica is, for /readyz and pages.
func (f *Follower) State() string { return "replica of " + f.opts.Writer + ", " + f.Lag().describe() }

// Collect sends the figures of the replica.
func (f *Follower) Collect(gauge func(name, help string, value float64)) {
	l := f.Lag()
	seconds := -1.0
	if l.Known {
		seconds = l.Time.Seconds()
	}
	gauge("replica_lag_seconds", "Seconds since the state that is served was the writer's newest; -1 if it never was.", seconds)
	gauge("replica_lag_records", "Write sets of the writer that are known here and not served yet.", float64(l.Records))
	gauge("replica_lag_bytes", "Bytes of write sets that are here and not served yet.", float64(l.Bytes))
	gauge("replica_position", "Number of the last write set that is served.", float64(l.Number))
	gauge("replica_states_opened", "States opened for readers since the process began.", float64(l.States))
	gauge("replica_state_open_seconds", "What opening the newest state took.", l.Opening.Seconds())
	following := 1.0
	if l.Err != nil {
		following = 0
	}
	gauge("replica_following", "1 while the writer answers.", following)
}

// View calls f with the node of the state that is served, which stays open until f returns.
func (f *Follower) View(do func(Node) error) error {
	by := &request{w: nil, cancel: func(error) {}}
	g := f.served.enter(&http.Request{}, by, 0)
	if g == nil {
		return errors.New("there is no state")
	}
	defer f.served.leave(g, by)
	return do(g.node)
}
