package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"odarchive/crawler/web/spool"
)

const copyBuffer = 32 << 10

var buffers = sync.Pool{New: func() any { b := make([]byte, copyBuffer); return &b }}

// The reasons for which this side ends a transfer.
var (
	errIdle     = errors.New("no byte came for too long")
	errSlow     = errors.New("the bytes come too slowly")
	errTooLarge = errors.New("the file is larger than allowed")
	errRatio    = errors.New("the file grows too much when it is decompressed")
)

// incoming reads the body of a response. It enforces the time limits, counts the bytes and keeps the error at the end.
type incoming struct {
	f        *Fetcher
	ctx      context.Context // of this request; lives no longer than the call that made it
	cancel   context.CancelCauseFunc
	src      io.ReadCloser
	idle     *time.Timer
	started  time.Time
	received int64
	wire     *capture // records what is read; nil if the connection does
	stopped  bool     // this side stopped reading
	err      error    // the error that ended reading from the network; io.EOF for none
}

// begin starts the timers.
func (b *incoming) begin() {
	b.started = time.Now()
	b.idle = time.AfterFunc(b.f.opts.Timeouts.Idle, func() { b.cancel(errIdle) })
}

func (b *incoming) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.src.Read(p[:min(len(p), copyBuffer)])
	b.received += int64(n)
	if b.wire != nil && n > 0 {
		b.wire.received(p[:n])
	}
	if n > 0 {
		b.idle.Reset(b.f.opts.Timeouts.Idle)
	}
	if err == nil && n > 0 {
		err = b.pace(n)
	}
	if cause := context.Cause(b.ctx); err != nil && err != io.EOF && cause != nil {
		err = cause
	}
	b.err = err
	return n, err
}

// pace waits for the bandwidth limit, or without one, returns errSlow if the average rate is too low.
func (b *incoming) pace(n int) error {
	if l := b.f.bandwidth.Load(); l != nil {
		if err := l.WaitN(b.ctx, n); err != nil {
			return err
		}
		b.idle.Reset(b.f.opts.Timeouts.Idle) // the sender did not cause the wait
		return nil
	}
	took := time.Since(b.started)
	if t := b.f.opts.Timeouts; took > t.Grace && float64(b.received) < took.Seconds()*float64(t.MinRate) {
		return errSlow
	}
	return nil
}

// drain reads the rest of an unwanted body, if it is short, so that the connection can be reused.
func (b *incoming) drain() {
	b.begin()
	defer b.idle.Stop()
	late := time.AfterFunc(b.f.opts.unwantedTime(), func() { b.cancel(errIdle) })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, b, b.f.opts.unwanted()) // close closes the connection if the body is not at its end
}

// end reads what follows the last byte that a decoder needed, and returns the error of a transfer that was cut off.
func (b *incoming) end() error {
	if b.err == nil {
		if n, err := io.CopyN(io.Discard, b, 64<<10); err == nil && n > 0 {
			b.err, b.stopped = io.EOF, true // longer than padding: the rest is not needed
		}
	}
	if b.err == io.EOF {
		return nil
	}
	return b.err
}

// cut returns Wire.Cut.
func (b *incoming) cut() string {
	var timeout interface{ Timeout() bool }
	switch {
	case b.err == io.EOF && !b.stopped:
		return ""
	case b.err == nil || b.stopped:
		return "length"
	case errors.Is(b.err, errIdle), errors.Is(b.err, errSlow), errors.Is(b.err, errTotal), errors.As(b.err, &timeout) && timeout.Timeout():
		return "time"
	}
	return "disconnect"
}

func (b *incoming) close() {
	if b.idle != nil {
		b.idle.Stop()
	}
	b.cancel(nil)
	_ = b.src.Close() // the bytes are read or given up: nothing depends on how it closes
}

// spoolError marks an error of writing to the spool.
type spoolError struct{ error }

// ratioFrom is the decoded size from which the decompression ratio is checked. Smaller bodies do no harm.
const ratioFrom = 16 << 20

func (f *Fetcher) copyBody(to *spool.File, src io.Reader, in *incoming, limit int64, cutOff bool) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		n, err := src.Read(*buf)
		if room := limit - to.Size(); int64(n) > room {
			if !cutOff {
				return fmt.Errorf("%w: more than %d bytes", errTooLarge, limit)
			}
			n, err, in.err, in.stopped = int(room), io.EOF, io.EOF, true
		}
		if n > 0 {
			if _, err := to.Write((*buf)[:n]); err != nil {
				return &spoolError{err}
			}
		}
		if size := to.Size(); size > ratioFrom && size > in.received*f.opts.MaxRatio {
			return fmt.Errorf("%w: more than %d:1", errRatio, f.opts.MaxRatio)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
