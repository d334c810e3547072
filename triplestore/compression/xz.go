package compression

import (
	"bytes"
	"fmt"
	"io"
)

// xzGuard parses the structure of an xz file (The .xz File Format 1.1.0, sections 2 to 4) as the decoder reads it. It
// adds two checks that the decoder lacks: a block may not need a dictionary larger than maxWindow, and a truncated file
// is an error.
type xzGuard struct {
	r         io.Reader
	maxWindow int64
	state     func(*xzGuard, byte) error // parses the next byte
	buf       []byte                     // bytes that state has collected
	skip      int64                      // bytes to skip before state gets the next one
	check     int                        // size of a block's check
	block     int64                      // bytes of the current block or index so far
	records   uint64                     // numbers left in the index
	open      bool                       // inside a stream
}

func newXZGuard(r io.Reader, maxWindow int64) *xzGuard {
	return &xzGuard{r: r, maxWindow: maxWindow, state: (*xzGuard).padding}
}

var errXZ = fmt.Errorf("xz: %w", ErrFormat)

func (x *xzGuard) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	for b := p[:n]; len(b) > 0; {
		if x.skip > 0 {
			pass := min(x.skip, int64(len(b)))
			x.skip -= pass
			x.block += pass
			b = b[pass:]
			continue
		}
		x.block++
		if bad := x.state(x, b[0]); bad != nil {
			return 0, bad
		}
		b = b[1:]
	}
	if err == io.EOF && (x.skip > 0 || x.open || len(x.buf) > 0) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// padding parses the zeros between streams and the header of the next stream.
func (x *xzGuard) padding(c byte) error {
	if c == 0 && !x.open {
		return nil
	}
	x.open = true
	x.buf = append(x.buf, c)
	if len(x.buf) < 12 {
		return nil
	}
	if !bytes.HasPrefix(x.buf, []byte("\xFD7zXZ\x00")) {
		return errXZ
	}
	if kind := x.buf[7] & 0x0F; kind == 0 {
		x.check = 0
	} else {
		x.check = 4 << ((kind - 1) / 3)
	}
	x.next((*xzGuard).blockStart)
	return nil
}

// next sets the parser of the next byte.
func (x *xzGuard) next(state func(*xzGuard, byte) error) { x.state, x.buf = state, x.buf[:0] }

// blockStart parses the size of a block's header, or the zero that begins the index.
func (x *xzGuard) blockStart(c byte) error {
	x.block = 1
	if c == 0 {
		x.records = 0
		x.next((*xzGuard).index)
		return nil
	}
	x.next((*xzGuard).blockHeader)
	x.buf = append(x.buf, c)
	return nil
}

// blockHeader checks the size of a block's dictionary.
func (x *xzGuard) blockHeader(c byte) error {
	x.buf = append(x.buf, c)
	if len(x.buf) < (int(x.buf[0])+1)*4 {
		return nil
	}
	flags, rest := x.buf[1], x.buf[2:]
	for _, present := range [2]byte{0x40, 0x80} {
		if flags&present != 0 {
			if _, rest = vli(rest); rest == nil {
				return errXZ
			}
		}
	}
	for range flags&3 + 1 {
		var id, size uint64
		if id, rest = vli(rest); rest == nil {
			return errXZ
		}
		if size, rest = vli(rest); rest == nil || size > uint64(len(rest)) {
			return errXZ
		}
		if id == 0x21 && (size != 1 || dictionarySize(rest[0]) > x.maxWindow) {
			return fmt.Errorf("xz: a dictionary of more than %d bytes: %w", x.maxWindow, ErrWindow)
		}
		rest = rest[size:]
	}
	x.next((*xzGuard).chunk)
	return nil
}

// dictionarySize decodes the size of a dictionary (5.3.1).
func dictionarySize(c byte) int64 {
	c &= 0x3F
	if c >= 40 {
		return 1 << 32
	}
	return int64(2|c&1) << (c/2 + 11)
}

// chunk parses the header of an LZMA2 chunk.
func (x *xzGuard) chunk(c byte) error {
	x.buf = append(x.buf, c)
	switch control := x.buf[0]; {
	case control == 0:
		x.skip = (4-x.block%4)%4 + int64(x.check)
		x.next((*xzGuard).blockStart)
	case control <= 2 && len(x.buf) == 3:
		x.skip = int64(x.buf[1])<<8 + int64(x.buf[2]) + 1
		x.next((*xzGuard).chunk)
	case control >= 0x80 && len(x.buf) == 5:
		x.skip = int64(x.buf[3])<<8 + int64(x.buf[4]) + 1
		if control >= 0xC0 {
			x.skip++ // properties
		}
		x.next((*xzGuard).chunk)
	case control > 2 && control < 0x80:
		return errXZ
	}
	return nil
}

// index parses the numbers of the index, and skips the padding, check and footer that follow.
func (x *xzGuard) index(c byte) error {
	x.buf = append(x.buf, c)
	if c&0x80 != 0 {
		if len(x.buf) > 9 {
			return errXZ
		}
		return nil
	}
	n, rest := vli(x.buf)
	if rest == nil {
		return errXZ
	}
	x.buf = x.buf[:0]
	if x.records == 0 {
		if n > 1<<40 {
			return errXZ
		}
		x.records = 2*n + 1
	}
	if x.records--; x.records > 0 {
		return nil
	}
	const crcAndFooter = 4 + 12
	x.skip = (4-x.block%4)%4 + crcAndFooter - 1
	x.next((*xzGuard).streamEnd)
	return nil
}

// streamEnd parses the last byte of a stream.
func (x *xzGuard) streamEnd(c byte) error {
	if c != 'Z' {
		return errXZ
	}
	x.open = false
	x.next((*xzGuard).padding)
	return nil
}

// vli decodes a variable-length integer (1.2). The rest is nil if b does not begin with one.
func vli(b []byte) (uint64, []byte) {
	var n uint64
	for i := 0; i < len(b) && i < 9; i++ {
		n |= uint64(b[i]&0x7F) << (7 * i)
		if b[i]&0x80 == 0 {
			return n, b[i+1:]
		}
	}
	return 0, nil
}
