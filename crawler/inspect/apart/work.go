package apart

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Do has the child do a job. If others ended the child, the job is tried again with another one, unless a part of its
// answer was passed on.
func (d *Document) Do(ctx context.Context, t Task) (answer []byte, err error) {
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if d.c == nil {
			d.told = 0
			if d.c, err = d.p.take(); err != nil {
				return nil, err
			}
			d.c.jobs++
		}
		w := &work{d: d, c: d.c, t: t}
		answer, err := w.do(ctx)
		if w.c.ended {
			d.c = nil
		}
		if death, ok := errors.AsType[*Death](err); ok && !death.Blame && !w.passed && try < maxTries && ctx.Err() == nil {
			continue
		}
		return answer, err
	}
}

// work is a job under way.
type work struct {
	d       *Document
	c       *process
	t       Task
	passed  bool // a part was passed on
	stopped error
	reading error // of a body
	late    atomic.Bool
	block   []byte
}

// Clocks, from the inside out, each longer than the one before: the operation's own, which keeps a partial result;
// processor time, which a child counts itself; and the time by the clock, for a child that hangs. On a busy machine a
// clock near the processor's would blame documents for it.
func (t Task) clocks() (seconds, cpu int, byTheClock time.Duration) {
	seconds = max(1, int(t.Time/time.Second))
	cpu = 2*seconds + 2 // two processors: one of them collects garbage
	if t.Slow {
		seconds = int(maxSlow / time.Second)
	}
	return seconds, cpu, 4*t.Time + time.Minute
}

// maxSlow is how long a Slow task may take by the clock.
const maxSlow = 24 * time.Hour

func (w *work) do(ctx context.Context) ([]byte, error) {
	_, _, byTheClock := w.t.clocks()
	late := time.AfterFunc(byTheClock, func() { w.late.Store(true); w.c.kill() })
	defer late.Stop()
	// A child that computes when ctx ends gets a second; one that answers meanwhile can be used again.
	over := make(chan struct{})
	defer close(over)
	defer context.AfterFunc(ctx, func() {
		select {
		case <-over:
		case <-time.After(time.Second):
			w.c.kill()
		}
	})()
	answer, err := w.exchange(ctx, func() {
		if w.t.Slow {
			late.Reset(byTheClock)
		}
	})
	var failure *Failure
	switch {
	case err == nil || errors.As(err, &failure):
	case errors.Is(err, errGone):
		w.c.end()
		w.d.p.died.Add(1)
		if ctx.Err() == nil {
			return nil, w.death()
		}
	default: // it speaks nonsense, or something here failed
		w.c.kill()
		w.c.end()
		w.d.p.died.Add(1)
	}
	switch {
	case w.reading != nil:
		return nil, w.reading
	case w.stopped != nil:
		return nil, w.stopped
	case ctx.Err() != nil && err != nil:
		return nil, context.Cause(ctx)
	}
	return answer, err
}

// errGone is in the chain of errors of the line to a child that has ended.
var errGone = errors.New("the process ended")

func gone(err error) error { return fmt.Errorf("%w: %w", errGone, err) }

// exchange sends the request, and reads frames until the answer has come. It calls heard after each other one.
func (w *work) exchange(ctx context.Context, heard func()) ([]byte, error) {
	if err := w.request(); err != nil {
		return nil, err
	}
	for {
		kind, n, err := readHead(w.c.in, maxFrame)
		if err != nil {
			if _, wrong := w.c.in.Peek(1); wrong == nil { // it is still there
				return nil, nonsense("it sent %v", err)
			}
			return nil, gone(err)
		}
		if most := map[byte]int{frameRead: readLength, frameQuestion: maxPart, framePart: maxPart, frameAnswer: maxFrame,
			frameFailure: maxPart}; n > most[kind] {
			return nil, nonsense("it sent a frame %q of %d bytes", kind, n)
		}
		payload := make([]byte, n)
		if _, err := io.ReadFull(w.c.in, payload); err != nil {
			return nil, gone(err)
		}
		switch kind {
		case frameRead:
			err = w.read(payload)
		case frameQuestion:
			err = w.reply(payload)
		case framePart:
			err = w.part(ctx, payload)
		case frameAnswer, frameFailure:
			return w.last(kind, payload)
		default:
			return nil, nonsense("it sent a frame %q", kind)
		}
		if err != nil {
			return nil, err
		}
		heard()
	}
}

// nonsense is the error about a child that does not keep to the protocol: a fault of the program, or a document has
// taken it over.
func nonsense(format string, args ...any) error {
	return &Death{Why: "the process that examined it was ended: " + fmt.Sprintf(format, args...), Blame: true}
}

// request sends the request: with the bytes of short bodies that the child does not have yet, and descriptors of long
// ones.
func (w *work) request() error {
	d := w.d
	seconds, cpu, _ := w.t.clocks()
	r := request{Op: w.t.Op, Args: len(w.t.Args), Seconds: seconds, CPU: cpu}
	var inline net.Buffers
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	room := int64(maxFrame / 2)
	for i, b := range d.bodies {
		h := bodyHead{Size: b.Size, How: bodyBlocks}
		switch {
		case i < d.told:
			h.How = bodySame
		case b.Size <= maxInline && b.Size <= room:
			head, err := b.whole()
			if err != nil {
				w.reading = err
				return err
			}
			h.How = bodyInline
			inline = append(inline, head)
			room -= b.Size
		default:
			if f := b.reopen(); f != nil {
				h.How = bodyFile
				files = append(files, f)
			}
		}
		r.Bodies = append(r.Bodies, h)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	first := append(binary.AppendUvarint(make([]byte, frameHead, frameHead+10+len(text)), uint64(len(text))), text...)
	if err := w.c.send(frameRequest, append(net.Buffers{first, w.t.Args}, inline...), files); err != nil {
		return gone(err)
	}
	d.told = len(d.bodies)
	return nil
}

// whole returns the bytes of a short body, without a copy if it has them in memory.
func (b Body) whole() ([]byte, error) {
	if h, ok := b.R.(headed); ok {
		if head, err := h.Head(int(b.Size)); err != nil || int64(len(head)) == b.Size {
			return head, err
		}
	}
	p := make([]byte, b.Size)
	if n, err := b.R.ReadAt(p, 0); err != nil && (err != io.EOF || n < len(p)) {
		return nil, err
	}
	return p, nil
}

// reopen returns the file of a body for reading only, nil if it has none that a child can get.
func (b Body) reopen() *os.File {
	if !passesFiles {
		return nil
	}
	if r, ok := b.R.(interface{ Reopen() (*os.File, error) }); ok {
		if f, err := r.Reopen(); err == nil {
			return f
		}
	}
	if f, ok := b.R.(*os.File); ok {
		if f, err := os.Open(f.Name()); err == nil {
			return f
		}
	}
	return nil
}

// read sends a block that the child asks for.
func (w *work) read(payload []byte) error {
	if len(payload) != readLength || int(payload[0]) >= len(w.d.bodies) {
		return nonsense("it asked for bytes of no document")
	}
	body := w.d.bodies[payload[0]]
	at, n := binary.LittleEndian.Uint64(payload[1:]), binary.LittleEndian.Uint32(payload[9:])
	if n > blockSize || at > uint64(body.Size) || uint64(n) > uint64(body.Size)-at {
		return nonsense("it asked for %d bytes at %d of %d", n, at, body.Size)
	}
	if w.block == nil {
		w.block = make([]byte, frameHead+blockSize)
	}
	b := w.block[:frameHead+int(n)]
	if got, err := body.R.ReadAt(b[frameHead:], int64(at)); got < int(n) {
		w.reading = fmt.Errorf("read %d bytes at %d: %w", n, at, err) // the child gets nothing and fails
		b = b[:frameHead]
	}
	if err := w.c.send(frameBlock, net.Buffers{b}, nil); err != nil {
		return gone(err)
	}
	return nil
}

func (w *work) reply(question []byte) error {
	if w.t.Reply == nil {
		return nonsense("it asked a question")
	}
	answer, err := w.t.Reply(question)
	if err != nil {
		return err
	}
	if err := writeFrame(w.c.line, frameReply, answer); err != nil {
		return gone(err)
	}
	return nil
}

// part passes on a part, and tells the child whether more is wanted.
func (w *work) part(ctx context.Context, payload []byte) error {
	if w.t.Part == nil {
		return nonsense("it sent a part of an answer that has none")
	}
	if w.stopped == nil && ctx.Err() == nil {
		w.passed = true
		w.stopped = w.t.Part(payload)
	}
	word := byte(frameMore)
	if w.stopped != nil || ctx.Err() != nil {
		word = frameStop
	}
	if err := writeFrame(w.c.line, word); err != nil {
		return gone(err)
	}
	return nil
}

// last reads the last frame of a job.
func (w *work) last(kind byte, payload []byte) ([]byte, error) {
	if len(payload) == 0 {
		return nil, nonsense("it sent an answer without a head")
	}
	if payload[0] != 0 {
		w.c.end()
	}
	payload = payload[1:]
	if kind == frameAnswer {
		return payload, nil
	}
	var f Failure
	if err := json.Unmarshal(payload, &f); err != nil {
		return nil, nonsense("it sent a failure that cannot be read")
	}
	f.Text, f.Code, f.Stack = Clean(f.Text, maxText), Clean(f.Code, maxText), f.Stack[:min(len(f.Stack), 8<<10)]
	if f.Panic && !w.c.ended { // nobody knows what state it is in
		w.c.kill()
		w.c.end()
	}
	return nil, &f
}
