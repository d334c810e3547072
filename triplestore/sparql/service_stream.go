package sparql

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/term"

	"golang.org/x/sync/errgroup"
)

const (
	// boundRows is how many rows restrict one request at first. Endpoints that refuse so many get fewer.
	boundRows = 100
	// leastBound is the number of rows below which a refusal is not for their number.
	leastBound = 10
	// boundRequests is how many requests for parts of one answer are under way at a time.
	boundRequests = 4
	// aheadRows is how many solutions are read ahead.
	aheadRows = 1024
)

// serviceStream is the answer of an endpoint, which may come in parts. It is read ahead in the background.
type serviceStream struct {
	rows   chan []term.Key // closed at the end, after err is set
	err    error
	cancel context.CancelFunc
	idle   func(wait func())
}

// stream asks an endpoint, with several requests if many rows restrict the solutions. idle is called around waiting.
func (f Federation) stream(ctx context.Context, req exec.ServiceRequest, idle func(func())) *serviceStream {
	ctx, cancel := context.WithCancel(ctx)
	s := &serviceStream{rows: make(chan []term.Key, aheadRows), cancel: cancel, idle: idle}
	go func() { // ends soon after cancel; Close waits for it
		defer close(s.rows)
		if err := f.askAll(ctx, req, s.rows); err != nil {
			s.err = fmt.Errorf("sparql: SERVICE <%s>: %w", req.Endpoint, remote(err))
		}
	}()
	return s
}

// askAll asks for all parts of an answer.
func (f *Federation) askAll(ctx context.Context, req exec.ServiceRequest, out chan<- []term.Key) error {
	if req.Rows == nil {
		return f.read(ctx, req, out, new(bool))
	}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(boundRequests)
	var size atomic.Int64
	size.Store(boundRows)
	for rest := req.Rows; len(rest) > 0 && inner.Err() == nil; {
		n := min(int(size.Load()), len(rest))
		part := req
		part.Rows, rest = rest[:n], rest[n:]
		group.Go(func() error { return f.askPart(inner, part, out, &size) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// askPart asks for the solutions that agree with some rows. If the endpoint refuses, it asks for each half, since the
// request may have been too large, and lowers size for the parts that follow.
func (f *Federation) askPart(ctx context.Context, req exec.ServiceRequest, out chan<- []term.Key, size *atomic.Int64) error {
	var some bool
	err := f.read(ctx, req, out, &some)
	refused, ok := errors.AsType[*refusal](err)
	if !ok || some || len(req.Rows) < leastBound || !slices.Contains(tooMuch, refused.code) {
		return err
	}
	half := len(req.Rows) / 2
	size.Store(int64(half))
	for _, rows := range [][][]term.Key{req.Rows[:half], req.Rows[half:]} {
		part := req
		part.Rows = rows
		if err := f.askPart(ctx, part, out, size); err != nil {
			return err
		}
	}
	return nil
}

// tooMuch are the statuses with which endpoints refuse requests that are too large for them.
var tooMuch = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusInternalServerError}

// read sends one request and passes its solutions on. It sets some before the first one.
func (f *Federation) read(ctx context.Context, req exec.ServiceRequest, out chan<- []term.Key, some *bool) error {
	in, err := f.ask(ctx, req)
	if err != nil {
		return err
	}
	defer in.Close()
	for {
		row, err := in.Next()
		if err != nil || row == nil {
			return err
		}
		*some = true
		select {
		case out <- slices.Clone(row):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

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
