package warc

import (
	"bytes"
	"io"
	"strings"
)

// Chunks decodes the chunked transfer coding (RFC 9112 §7.1) of a body that arrives in pieces, and finds its end. The
// zero value is ready to use.
type Chunks struct {
	state chunkState
	line  []byte // of a chunk's size, or a trailer
	left  uint64 // of the current chunk
}

type chunkState int

const (
	chunkSize  chunkState = iota // in the line with the size
	chunkData                    // in the data
	chunkEnd                     // in the line end behind the data
	chunkTrail                   // behind the last chunk, in the trailers
	chunkOver                    // behind the blank line that ends the trailers
	chunkBad                     // malformed
)

// maxChunkLine bounds the line that starts a chunk, with its extensions, and a trailer.
const maxChunkLine = 4 << 10

// Complete reports whether the last chunk was seen and nothing before it was malformed.
func (c *Chunks) Complete() bool { return c.state == chunkTrail || c.state == chunkOver }

// Write decodes the next piece of the body and writes the data in it to out, whose errors are ignored. It returns how
// many bytes of p belong to the body and its trailers: fewer than len(p) if the body ends in p. In a malformed body, no
// end is found.
func (c *Chunks) Write(p []byte, out io.Writer) (n int) {
	all := len(p)
	for len(p) > 0 {
		switch c.state {
		case chunkData:
			n := min(uint64(len(p)), c.left)
			_, _ = out.Write(p[:n])
			p = p[n:]
			if c.left -= n; c.left == 0 {
				c.state = chunkEnd
			}
		case chunkSize, chunkEnd, chunkTrail:
			i := bytes.IndexByte(p, '\n')
			line := p
			if i >= 0 {
				line, p = p[:i], p[i+1:]
			} else {
				p = nil
			}
			if c.line = append(c.line, line...); len(c.line) > maxChunkLine {
				c.tooLong(i >= 0)
			} else if i >= 0 {
				c.state = c.next(string(bytes.TrimSuffix(c.line, []byte("\r"))))
				c.line = c.line[:0]
			}
		case chunkOver:
			return all - len(p)
		default:
			return all
		}
	}
	return all
}

// tooLong handles a line that is too long: a trailer is ignored, any other line is malformed. ended reports whether the
// end of the line was found.
func (c *Chunks) tooLong(ended bool) {
	switch {
	case c.state != chunkTrail:
		c.state = chunkBad
	case ended:
		c.line = c.line[:0]
	default:
		c.line = append(c.line[:0], 'x') // so that the rest of the line is not taken for a blank line
	}
}

// next returns the state after a line.
func (c *Chunks) next(line string) chunkState {
	switch {
	case c.state == chunkTrail && line == "":
		return chunkOver
	case c.state == chunkTrail:
		return chunkTrail
	case c.state == chunkEnd && line != "":
		return chunkBad
	case c.state == chunkEnd:
		return chunkSize
	}
	line, _, _ = strings.Cut(line, ";")
	line = strings.Trim(line, " \t")
	if line == "" || len(line) > 15 {
		return chunkBad
	}
	c.left = 0
	for _, b := range []byte(line) {
		switch {
		case b >= '0' && b <= '9':
			b -= '0'
		case b|0x20 >= 'a' && b|0x20 <= 'f':
			b = b | 0x20 - 'a' + 10
		default:
			return chunkBad
		}
		c.left = c.left<<4 | uint64(b)
	}
	if c.left == 0 {
		return chunkTrail
	}
	return chunkData
}
