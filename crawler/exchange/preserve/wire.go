package preserve

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A stream of files and versions consists of frames: a byte for the kind, the length of the payload as a uvarint, and
// the payload. A stream without a last frame frameDone broke off.
const (
	frameHello   = 'h' // a Hello; the first frame
	frameObject  = 'o' // an Object: a file begins
	frameVersion = 'v' // a Version
	frameData    = 'd' // bytes of the version
	frameEnd     = 'e' // the bytes end; with a payload, they are bad, and the payload says why
	frameNothing = 'n' // the version has no bytes
	frameFile    = 'z' // the file ends
	frameDone    = 'q' // the stream ends
)

// Limits of frames in bytes. A description has a response's header, at most twice.
const (
	maxDescription = 16 << 20
	maxData        = 64 << 10
)

// Wire is a Receiver that writes everything to a stream. Close must be called at the end, only if all went well.
type Wire struct {
	w   *bufio.Writer
	buf []byte
}

// Hello says what a stream is of. JSON names are those of the stream.
type Hello struct {
	Agent      string `json:"agent,omitempty"`      // IRI of the crawler
	Identifier string `json:"identifier,omitempty"` // address of the selection
	Title      string `json:"title,omitempty"`      // what was selected, in a sentence
}

// NewWire returns a Wire that writes to w.
func NewWire(w io.Writer, h Hello) (*Wire, error) {
	wire := &Wire{w: bufio.NewWriterSize(w, maxData), buf: make([]byte, maxData)}
	return wire, wire.description(frameHello, h)
}

var _ Receiver = (*Wire)(nil)

func (w *Wire) frame(kind byte, payload []byte) error {
	head := binary.AppendUvarint([]byte{kind}, uint64(len(payload)))
	if _, err := w.w.Write(head); err != nil {
		return err
	}
	_, err := w.w.Write(payload)
	return err
}

func (w *Wire) description(kind byte, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if len(text) > maxDescription {
		return Badf("its description has %d bytes, more than %d", len(text), maxDescription)
	}
	return w.frame(kind, text)
}

// Begin implements Receiver.
func (w *Wire) Begin(_ context.Context, o Object) error { return w.description(frameObject, o) }

// Version implements Receiver. If bytes turn out to be bad, it returns nil: the other end hears of it, and reports it.
func (w *Wire) Version(ctx context.Context, v Version, body io.Reader) error {
	if err := w.description(frameVersion, v); err != nil {
		return err
	}
	if body == nil {
		return w.frame(frameNothing, nil)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := body.Read(w.buf)
		if n > 0 {
			if err := w.frame(frameData, w.buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return w.frame(frameEnd, nil)
		case isBad(err):
			return w.frame(frameEnd, []byte(err.Error()))
		case err != nil:
			return err
		}
	}
}

// End implements Receiver.
func (w *Wire) End(context.Context) error { return w.frame(frameFile, nil) }

// Close ends the stream.
func (w *Wire) Close() error {
	if err := w.frame(frameDone, nil); err != nil {
		return err
	}
	return w.w.Flush()
}

// ErrBroken is the error of a stream that ends early.
var ErrBroken = errors.New("the stream of versions broke off")

var errStream = errors.New("not a stream of versions, or one of another version of this program")

// Receive reads a stream that a Wire wrote, up to its end, into the Receiver that open returns. bad is called for each
// file or version that the receiver did not keep.
func Receive(ctx context.Context, in io.Reader, open func(Hello) (Receiver, error), bad func(error)) error {
	s := &stream{r: bufio.NewReaderSize(in, maxData)}
	kind, n, err := s.next()
	if err != nil {
		return err
	}
	var h Hello
	if kind != frameHello {
		return errStream
	}
	if err := s.read(n, &h); err != nil {
		return err
	}
	to, err := open(h)
	if err != nil {
		return err
	}
	return s.receive(ctx, to, bad)
}

// receive is Receive behind the first frame.
func (s *stream) receive(ctx context.Context, to Receiver, bad func(error)) error {
	open, skip := false, false // a file has begun; the receiver has refused it
	var object Object
	refused := func(err error) error {
		if isBad(err) {
			bad(fmt.Errorf("%s: %w", object.URL, err))
			return nil
		}
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		kind, n, err := s.next()
		if err != nil {
			return err
		}
		switch kind {
		case frameObject:
			object, open, skip = Object{}, true, false
			if err := s.read(n, &object); err != nil {
				return err
			}
			if err := to.Begin(ctx, object); err != nil {
				skip = true
				if err := refused(err); err != nil {
					return err
				}
			}
		case frameVersion:
			var v Version
			if err := s.read(n, &v); err != nil {
				return err
			}
			if !open {
				return errStream
			}
			body, err := s.body()
			if err != nil {
				return err
			}
			if !skip {
				if body == nil {
					err = to.Version(ctx, v, nil)
				} else {
					err = to.Version(ctx, v, body)
				}
				if err = refused(err); err != nil {
					return err
				}
			}
			if err := body.finish(); err != nil {
				return err
			}
		case frameFile:
			if open && !skip {
				if err := refused(to.End(ctx)); err != nil {
					return err
				}
			}
			open = false
		case frameDone:
			return nil
		default:
			return errStream
		}
	}
}

func isBad(err error) bool {
	_, is := errors.AsType[*Bad](err)
	return is
}

// stream reads frames.
type stream struct{ r *bufio.Reader }

// next reads the head of a frame.
func (s *stream) next() (kind byte, n int, err error) {
	kind, err = s.r.ReadByte()
	if errors.Is(err, io.EOF) {
		return 0, 0, ErrBroken
	}
	if err != nil {
		return 0, 0, err
	}
	size, err := binary.ReadUvarint(s.r)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, 0, ErrBroken
	}
	if err != nil {
		return 0, 0, err
	}
	if size > maxDescription || kind == frameData && size > maxData {
		return 0, 0, errStream
	}
	return kind, int(size), nil
}

func (s *stream) payload(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(s.r, b); err != nil {
		return nil, ErrBroken
	}
	return b, nil
}

func (s *stream) read(n int, value any) error {
	b, err := s.payload(n)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, value); err != nil {
		return fmt.Errorf("%w: %w", errStream, err)
	}
	return nil
}

// body returns the bytes that follow the description of a version, nil if there are none.
func (s *stream) body() (*body, error) {
	if next, err := s.r.Peek(1); err == nil && next[0] == frameNothing {
		_, _, err := s.next()
		return nil, err
	}
	return &body{stream: s}, nil
}

// body reads the bytes of one version.
type body struct {
	stream *stream
	left   int // of the frame
	err    error
}

func (b *body) Read(p []byte) (int, error) {
	for b.err == nil && b.left == 0 {
		kind, n, err := b.stream.next()
		switch {
		case err != nil:
			b.err = err
		case kind == frameData:
			b.left = n
		case kind == frameEnd && n == 0:
			b.err = io.EOF
		case kind == frameEnd:
			why, err := b.stream.payload(n)
			b.err = &Bad{errors.New(string(why))}
			if err != nil {
				b.err = err
			}
		default:
			b.err = errStream
		}
	}
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.stream.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	if errors.Is(err, io.EOF) {
		b.err, err = ErrBroken, ErrBroken
	}
	return n, err
}

// finish reads what its reader left.
func (b *body) finish() error {
	if b == nil {
		return nil
	}
	_, err := io.Copy(io.Discard, b)
	if isBad(err) {
		return nil // the receiver has reported it, or skipped it with the file
	}
	return err
}
