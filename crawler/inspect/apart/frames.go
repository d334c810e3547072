package apart

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Frames between the server and a child: a byte for the kind, four for the length, and the bytes.
const (
	frameRequest = 'Q' // server: a job; descriptors of its bodies may come with it
	frameBlock   = 'B' // server: bytes of a body
	frameReply   = 'C' // server: the answer to a question
	frameMore    = 'M' // server: a part was taken
	frameStop    = 'S' // server: the same, and no more is wanted

	frameHello    = 'H' // child: it is ready; what the system did not grant it
	frameRead     = 'R' // child: block, please: body (1 byte), offset (8), length (4)
	frameQuestion = 'N' // child: a question
	framePart     = 'P' // child: a part of a streamed answer
	frameAnswer   = 'A' // child: whether it ends now (1 byte), and the answer
	frameFailure  = 'F' // child: the same, and a Failure as JSON
)

const (
	frameHead  = 5
	maxFrame   = 16 << 20
	maxInline  = 256 << 10 // a longer body does not come with the request
	blockSize  = 256 << 10 // that a child asks for at most
	maxPart    = 64 << 10
	firstPart  = 8 << 10 // the first part is shorter, so that somebody who waits has something soon
	window     = 4       // parts that may be under way
	readLength = 13      // of a frameRead
)

// putHead writes the head of a frame of n bytes.
func putHead(b []byte, kind byte, n int) {
	b[0] = kind
	binary.LittleEndian.PutUint32(b[1:], uint32(n))
}

// writeFrame writes a frame in one piece.
func writeFrame(w io.Writer, kind byte, parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n > maxFrame {
		return fmt.Errorf("a frame of %d bytes", n)
	}
	b := make([]byte, frameHead, frameHead+n)
	putHead(b, kind, n)
	for _, p := range parts {
		b = append(b, p...)
	}
	_, err := w.Write(b)
	return err
}

// readHead reads the head of a frame; a frame longer than max is an error.
func readHead(r *bufio.Reader, max int) (kind byte, n int, err error) {
	head, err := r.Peek(frameHead)
	if err != nil {
		return 0, 0, err
	}
	length := binary.LittleEndian.Uint32(head[1:])
	kind = head[0]
	if int64(length) > int64(max) {
		return 0, 0, fmt.Errorf("a frame %q of %d bytes", kind, length)
	}
	_, err = r.Discard(frameHead)
	return kind, int(length), err
}

// readFrame reads a frame of at most max bytes.
func readFrame(r *bufio.Reader, max int) (kind byte, payload []byte, err error) {
	kind, n, err := readHead(r, max)
	if err != nil {
		return 0, nil, err
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(r, payload)
	return kind, payload, err
}

// request is the beginning of a frameRequest, as JSON with its length before it. The arguments and the bytes of bodies
// that are inline follow.
type request struct {
	Op      string
	Args    int // bytes
	Seconds int // of the operation
	CPU     int // seconds of processor time
	Bodies  []bodyHead
}

type bodyHead struct {
	Size int64
	How  string // as below
}

const (
	bodySame   = "same"   // as the body of this number of the request before
	bodyInline = "inline" // behind the request
	bodyFile   = "file"   // the next of the descriptors that came with the frame
	bodyBlocks = "blocks" // by frameRead
)
