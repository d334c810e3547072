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

// What ends a transfer that its sender would not have ended.
var (
	errIdle     = errors.New("no byte came for too long")
	errSlow     = errors.New("the bytes come too slowly")
	errTooLarge = errors.New("the file is larger than allowed")
	errRatio    = errors.New("the file grows too much when it is decompressed")
)

// incoming is a response's body on its way in: it keeps the times, counts the bytes and remembers how it ended.
type incoming struct {
	f        *Fetcher
	ctx      context.Context // of this request; lives no longer than the call that made it
	cancel   context.CancelCauseFunc
	src      io.ReadCloser
	idle     *time.Timer
	started  time.Time
	received int64
	err      error // how reading from the network ended; io.EOF is well
}

// begin starts the clocks.
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

// pace keeps to the bandwidth and gives up on what comes too slowly.
func (b *incoming) pace(n int) error {
	if l := b.f.bandwidth; l != nil {
		if err := l.WaitN(b.ctx, n); err != nil {
			return err
		}
		b.idle.Reset(b.f.opts.Timeouts.Idle) // our own waiting is not the sender's
		return nil
	}
	took := time.Since(b.started)
	if t := b.f.opts.Timeouts; took > t.Grace && float64(b.received) < took.Seconds()*float64(t.MinRate) {
		return errSlow
	}
	return nil
}

// drain reads what little may be left of a body nobody wants, so that the connection can be used again.
func (b *incoming) drain() {
	b.begin()
	defer b.idle.Stop()
	late := time.AfterFunc(time.Second, func() { b.cancel(errIdle) })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, b, 16<<10) // whatever comes of it: the connection is closed if it is not at its end
}

// end reads the rest behind a decoder's last byte: it tells a complete transfer from one that was cut off.
func (b *incoming) end() error {
	if b.err == nil {
		if n, err := io.CopyN(io.Discard, b, 64<<10); err == nil && n > 0 {
			b.err = io.EOF // more than any padding: the decoder had what it wanted, leave the rest
		}
	}
	if b.err == io.EOF {
		return nil
	}
	return b.err
}

func (b *incoming) close() {
	if b.idle != nil {
		b.idle.Stop()
	}
	b.cancel(nil)
	_ = b.src.Close() // the bytes are read or given up: nothing depends on how it closes
}

// spoolError marks a fault of ours on the way to the disk.
type spoolError struct{ error }

// ratioFrom is the size from which on the decompression ratio matters; below it, no harm is done.
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
			n, err, in.err = int(room), io.EOF, io.EOF
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
