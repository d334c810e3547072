package sparql

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/term"

	"golang.org/x/sync/errgroup"
)

const (
	// boundRows is how many rows restrict one request at first. Endpoints that refuse so many get fewer. It is a prime
	// number, so that answers with the same number of solutions for each row do not have a round number of them
	// (mayBeCut).
	boundRows = 97
	// filterRows is how many rows restrict a request by FILTER.
	filterRows = 19
	// leastBound is the number of rows below which a refusal is not for their number.
	leastBound = 10
	// boundRequests is how many requests for parts of one answer are under way at a time.
	boundRequests = 4
	// aheadRows is how many solutions are read ahead.
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
	known   atomic.Bool  // it has answered a request that rows restrict
	form    atomic.Int32 // the rowForm that it takes
	size    atomic.Int64 // how many rows restrict a request
	cut     atomic.Int64 // the number of rows after which its answers were cut off; 0 if none was
}

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

// serviceStream is the answer of an endpoint, which may come in parts. It is read ahead in the background.
type serviceStream struct {
	rows   chan []term.Key // closed at the end, after err is set
	err    error
	cancel context.CancelFunc
	idle   func(wait func())
}

// stream asks an endpoint, with several requests if many rows restrict the solutions. idle is called around waiting.
func (f Federation) stream(ctx context.Context, req exec.ServiceRequest, ep *endpoint, idle func(func())) *serviceStream {
	ctx, cancel := context.WithCancel(ctx)
	s := &serviceStream{rows: make(chan []term.Key, aheadRows), cancel: cancel, idle: idle}
	go func() { // ends soon after cancel; Close waits for it
		defer close(s.rows)
		err := f.askAll(ctx, req, ep, s.rows)
		switch {
		case ctx.Err() != nil: // whatever the interrupted request says, the endpoint has not failed
			s.err = fmt.Errorf("sparql: SERVICE <%s>: %w", req.Endpoint, context.Cause(ctx))
		case err != nil:
			s.err = fmt.Errorf("sparql: SERVICE <%s>: %w", req.Endpoint, remote(err))
		}
	}()
	return s
}

// askAll asks for all parts of an answer. As long as nothing is known about the endpoint, the first part goes alone.
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
		group.Go(func() error { return f.askPart(inner, part, ep, out) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// askPart asks for the solutions that agree with some rows. If the endpoint refuses, the request may have been too large:
// then askPart asks for each half, and lowers the size of the parts that follow. An endpoint that refuses even few rows
// may not know VALUES: then it gets them in a FILTER.
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

// tooMuch are the statuses with which endpoints refuse requests that are too large for them, or that they do not
// understand.
var tooMuch = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusInternalServerError, http.StatusNotImplemented}

// Next returns nil after the last row.
func (s *serviceStream) Next() (row []term.Key, err error) {
	select {
	case row = <-s.rows:
	default:
		s.idle(func() { row = <-s.rows })
	}
	if row == nil {
		return nil, s.err
	}
	return row, nil
}

// Close ends the requests and waits for that.
func (s *serviceStream) Close() {
	s.cancel()
	for range s.rows {
	}
}
