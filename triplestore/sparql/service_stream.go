package sparql

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/term"

	"golang.org/x/sync/errgroup"
)

const (
	// boundRows is the number of rows that restrict one request, until the endpoint refuses so many. It is a prime
	// number, so that an answer with several solutions for each row does not have a round number of them (see
	// mayBeCut).
	boundRows = 97
	// filterRows is the number of rows that restrict a request with FILTER.
	filterRows = 19
	// leastBound is the number of rows below which a refusal cannot be due to their number.
	leastBound = 10
	// boundRequests is the number of requests for parts of one answer that are open at the same time.
	boundRequests = 4
	// aheadRows is the number of solutions that are read ahead.
	aheadRows = 1024
)

// endpoints are the endpoints that one query asks. Its methods may be called concurrently.
type endpoints struct {
	strict bool         // an answer that may be incomplete is an error
	warn   func(string) // called with a sentence otherwise

	mu sync.Mutex // guards by
	by map[string]*endpoint
}

// endpoint is what a query has learned about an endpoint.
type endpoint struct {
	*endpoints
	address string
	known   atomic.Bool  // it has answered a request that was restricted by rows
	form    atomic.Int32 // the rowForm that it understands
	size    atomic.Int64 // the number of rows with which to restrict a request
	cut     atomic.Int64 // the number of rows at which an answer was cut off; 0 if none was
}

// of returns the endpoint with an address.
func (e *endpoints) of(address string) *endpoint {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.by[address] == nil {
		if e.by == nil {
			e.by = map[string]*endpoint{}
		}
		e.by[address] = &endpoint{endpoints: e, address: address}
		e.by[address].size.Store(boundRows)
	}
	return e.by[address]
}

// incomplete reports that an answer may lack rows: as an error if the query is strict, or else as a warning.
func (e *endpoint) incomplete(why string) error {
	text := incompleteAnswer(e.address, why)
	if e.strict {
		return fmt.Errorf("%w: %s", ErrIncomplete, text)
	}
	e.warn(text)
	return nil
}

// serviceStream reads the answer of an endpoint ahead, in the background. The answer may consist of several parts.
type serviceStream struct {
	rows   chan []term.Key // closed at the end, after err is set
	err    error
	cancel context.CancelFunc
	idle   func(wait func()) // calls wait
}

// stream starts to read an answer, with several requests if the request has many rows. idle is called with each
// function that waits for the endpoint.
func (f Federation) stream(ctx context.Context, req exec.ServiceRequest, ep *endpoint, idle func(func())) *serviceStream {
	ctx, cancel := context.WithCancel(ctx)
	s := &serviceStream{rows: make(chan []term.Key, aheadRows), cancel: cancel, idle: idle}
	go func() { // ends soon after cancel; Close waits for it
		defer close(s.rows)
		err := contain(func() error { return f.askAll(ctx, req, ep, s.rows) })
		switch {
		case ctx.Err() != nil: // the error of the interrupted request is not the endpoint's
			s.err = fmt.Errorf("sparql: SERVICE <%s>: %w", req.Endpoint, context.Cause(ctx))
		case err != nil:
			s.err = fmt.Errorf("sparql: SERVICE <%s>: %w", req.Endpoint, remote(err))
		}
	}()
	return s
}

// crash is a panic of a goroutine that reads an answer. Next repeats it in the goroutine of the query: elsewhere, it
// would end the program and not only the query.
type crash struct {
	value any
	stack []byte
}

func (c *crash) Error() string {
	return fmt.Sprintf("sparql: reading the answer of a service: %v\n%s", c.value, c.stack)
}

// contain calls f and returns a panic of f as a *crash.
func contain(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &crash{v, debug.Stack()}
		}
	}()
	return f()
}

// askAll sends the requests for all parts of an answer. If nothing is known about the endpoint yet, it waits for the
// first part before it requests others.
func (f *Federation) askAll(ctx context.Context, req exec.ServiceRequest, ep *endpoint, out chan<- []term.Key) error {
	if req.Rows == nil {
		return f.read(ctx, req, asValues, ep, out, new(bool))
	}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(boundRequests)
	for rest := req.Rows; len(rest) > 0 && inner.Err() == nil; {
		n := min(int(ep.size.Load()), len(rest))
		part := req
		part.Rows, rest = rest[:n], rest[n:]
		if !ep.known.Load() {
			if err := f.askPart(inner, part, ep, out); err != nil {
				return err
			}
			ep.known.Store(true)
			continue
		}
		group.Go(func() error { return contain(func() error { return f.askPart(inner, part, ep, out) }) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// askPart requests the solutions that agree with some rows. If the endpoint refuses, the request may have been too
// large; askPart then makes two requests with half of the rows each, and parts that follow become smaller, too. If the
// endpoint refuses even a few rows, it may not know VALUES; askPart then uses FILTER.
func (f *Federation) askPart(ctx context.Context, req exec.ServiceRequest, ep *endpoint, out chan<- []term.Key) error {
	form := rowForm(ep.form.Load())
	var some bool
	err := f.read(ctx, req, form, ep, out, &some)
	refused, ok := errors.AsType[*refusal](err)
	if !ok || some || !slices.Contains(tooMuch, refused.code) {
		return err
	}
	if len(req.Rows) < leastBound && form == asValues {
		if ep.form.CompareAndSwap(int32(asValues), int32(asFilter)) {
			ep.size.Store(filterRows)
		}
		return f.askPart(ctx, req, ep, out)
	}
	if len(req.Rows) == 1 {
		return err
	}
	half := (len(req.Rows) + 1) / 2
	ep.size.Store(int64(half))
	for _, rows := range [][][]term.Key{req.Rows[:half], req.Rows[half:]} {
		part := req
		part.Rows = rows
		if err := f.askPart(ctx, part, ep, out); err != nil {
			return err
		}
	}
	return nil
}

// tooMuch has the statuses with which endpoints refuse requests that are too large or that they do not understand.
var tooMuch = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusInternalServerError,
	http.StatusNotImplemented}

// Next returns the next row, or nil after the last one.
func (s *serviceStream) Next() (row []term.Key, err error) {
	select {
	case row = <-s.rows:
	default:
		s.idle(func() { row = <-s.rows })
	}
	if row != nil {
		return row, nil
	}
	if c, ok := errors.AsType[*crash](s.err); ok {
		panic(c)
	}
	return nil, s.err
}

// Close cancels the requests and waits until they have ended.
func (s *serviceStream) Close() {
	s.cancel()
	for range s.rows {
	}
}
