package faces

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The wire of POST /commands/{name}. The request is a line of JSON, a CommandOrder, and then the inputs in the order in
// which the line names them. The response is what the command prints. Both consist of frames: a byte for the kind, the
// length of the payload in four bytes (big endian), the payload. A response without a frame frameResult broke off.
const (
	frameBegin    = 'b' // an input begins: it could be opened
	frameData     = 'd' // bytes of the input
	frameEnd      = 'z' // the input ends
	frameBroken   = 'x' // the input could not be opened or read: the payload is the error
	frameStdout   = 'o' // bytes for standard output
	frameStderr   = 'e' // bytes for standard error
	frameFile     = 'f' // bytes for the file of --output
	frameProgress = 'p' // a CommandProgress
	frameAlive    = 'a' // nothing has happened for a while
	frameResult   = 'r' // a CommandResult; the last frame
)

// maxFrame bounds the payload of a frame, in bytes.
const maxFrame = 64 << 10

// maxOrder bounds the line of JSON of a request, in bytes. Texts of queries are in it. maxAnybodyOrder is for clients
// without a right.
const (
	maxOrder        = 64 << 20
	maxAnybodyOrder = 64 << 10
)

// CommandOrder is a command line without what concerns the client alone.
type CommandOrder struct {
	ID        string              `json:"id,omitempty"` // chosen by the client, to stop the command: at random, at least 22 characters
	Arguments []string            `json:"arguments,omitempty"`
	Flags     map[string][]string `json:"flags,omitempty"`  // those that were given; lists have several values
	Inputs    []string            `json:"inputs,omitempty"` // names of what follows, in the order in which the command opens it
	Dir       string              `json:"dir,omitempty"`    // the client's working directory, for relative names of files
}

// CommandProgress says how far a command is.
type CommandProgress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total"` // -1 if it is not known
	What  string `json:"what"`  // is counted
	Note  string `json:"note,omitempty"`
}

// CommandResult is the end of a command.
type CommandResult struct {
	Status  int    `json:"status"`            // exit status
	Error   string `json:"error,omitempty"`   // the sentence for standard error
	Stopped bool   `json:"stopped,omitempty"` // by the client
}

// frameWriter writes frames. It is not safe for concurrent use.
type frameWriter struct{ w *bufio.Writer }

func (f frameWriter) write(kind byte, payload []byte) error {
	for {
		part := payload[:min(len(payload), maxFrame)]
		var head [5]byte
		head[0] = kind
		binary.BigEndian.PutUint32(head[1:], uint32(len(part)))
		if _, err := f.w.Write(head[:]); err != nil {
			return err
		}
		if _, err := f.w.Write(part); err != nil {
			return err
		}
		if payload = payload[len(part):]; len(payload) == 0 {
			return nil
		}
	}
}

func (f frameWriter) writeJSON(kind byte, value any) error {
	text, err := json.Marshal(value)
	if err == nil && len(text) > maxFrame {
		err = fmt.Errorf("message of %d bytes", len(text))
	}
	if err != nil {
		return err
	}
	return f.write(kind, text)
}

// frameReader reads frames.
type frameReader struct {
	r    *bufio.Reader
	buf  []byte
	rest []byte // of the payload, which input has not read
}

// errFrame is the error of bytes that are not frames.
var errFrame = errors.New("not a frame of this protocol")

// next returns the next frame. The payload is valid until the next call. At the end of the stream the error is io.EOF,
// inside a frame io.ErrUnexpectedEOF.
func (f *frameReader) next() (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, errFrame
	}
	if f.buf == nil {
		f.buf = make([]byte, maxFrame)
	}
	if _, err := io.ReadFull(f.r, f.buf[:n]); err != nil {
		return 0, nil, noEOF(err)
	}
	return head[0], f.buf[:n], nil
}

// noEOF returns io.ErrUnexpectedEOF for io.EOF, and other errors as they are.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// inputs are the inputs of a request, which are read one after the other.
type inputs struct {
	frames *frameReader
	names  []string // of those that have not been opened
	open   bool     // one has been opened and not been read to its end
	err    error    // what ended reading; nothing follows
}

// Open opens the next input, which must have that name. What is left of the one before is skipped.
func (i *inputs) Open(name string) (io.ReadCloser, error) {
	if i.open {
		_, _ = io.Copy(io.Discard, &input{i}) // an error that ends all inputs is in i.err
	}
	if i.err != nil {
		return nil, i.err
	}
	if len(i.names) == 0 || i.names[0] != name {
		return nil, fmt.Errorf("the client did not send %q", name)
	}
	i.names = i.names[1:]
	kind, payload, err := i.frames.next()
	switch {
	case err != nil:
		i.err = interrupted(err)
		return nil, i.err
	case kind == frameBroken:
		return nil, errors.New(string(payload))
	case kind != frameBegin:
		i.err = errFrame
		return nil, i.err
	}
	i.open = true
	return io.NopCloser(&input{i}), nil
}

// finish reads the end of the request behind the last input. From then on, net/http sees when the client leaves.
func (i *inputs) finish() {
	if len(i.names) == 0 {
		_, _ = i.frames.r.Peek(1) // what follows, if anything does, is nothing that is read
	}
}

// interrupted is the error of a request that ended before its inputs did.
func interrupted(err error) error {
	return fmt.Errorf("the client's bytes broke off: %w", noEOF(err))
}

// input reads the opened input.
type input struct{ of *inputs }

func (in *input) Read(p []byte) (int, error) {
	i := in.of
	if i.err != nil {
		return 0, i.err
	}
	if !i.open {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if len(i.frames.rest) > 0 {
			n := copy(p, i.frames.rest)
			i.frames.rest = i.frames.rest[n:]
			return n, nil
		}
		kind, payload, err := i.frames.next()
		switch {
		case err != nil:
			i.err = interrupted(err)
			return 0, i.err
		case kind == frameEnd:
			i.open = false
			i.finish()
			return 0, io.EOF
		case kind == frameBroken:
			i.open = false
			return 0, errors.New(string(payload))
		case kind != frameData:
			i.err = errFrame
			return 0, i.err
		}
		i.frames.rest = payload
	}
}
