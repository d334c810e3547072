package rdfio

import (
	"bytes"
	"errors"
	"io"
)

// xzWatch stands between an xz file and its decoder and follows the container's structure (The .xz File Format 1.1.0,
// sections 2 to 4) as the bytes pass, for two things the decoder does not do: refuse a block that asks for a dictionary
// of gigabytes, and tell a file that was cut off from one that ends.
type xzWatch struct {
	r     io.Reader
	state func(*xzWatch, byte) error
	buf   []byte // collected for the state
	skip  int64  // bytes to pass over before the state gets any
	check int    // bytes of a block's check
	block int64  // bytes of the open block or index so far
	vlis  uint64 // numbers still to come in the index
	begun bool   // an index's number of records is known
}

var errXZ = errors.New("not the structure of an xz file")

func (x *xzWatch) Read(p []byte) (int, error) {
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
	if err == io.EOF && (x.skip > 0 || x.begun || len(x.buf) > 0) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// between streams there may be padding of zeros.
func (x *xzWatch) between(c byte) error {
	if c == 0 && !x.begun {
		return nil
	}
	x.begun = true
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
	x.next((*xzWatch).blockStart)
	return nil
}

func (x *xzWatch) next(state func(*xzWatch, byte) error) { x.state, x.buf = state, x.buf[:0] }

// blockStart reads the size of a block's header, or the zero that begins the index.
func (x *xzWatch) blockStart(c byte) error {
	x.block = 1
	if c == 0 {
		x.vlis = 0
		x.next((*xzWatch).index)
		return nil
	}
	x.next((*xzWatch).blockHeader)
	x.buf = append(x.buf, c)
	return nil
}

func (x *xzWatch) blockHeader(c byte) error {
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
		if id == 0x21 && (size != 1 || xzDictionary(rest[0]) > maxWindow) {
			return limitError("an xz dictionary", maxWindow)
		}
		rest = rest[size:]
	}
	x.next((*xzWatch).chunk)
	return nil
}

// xzDictionary decodes the size of a dictionary (5.3.1).
func xzDictionary(c byte) int64 {
	c &= 0x3F
	if c >= 40 {
		return 1 << 32
	}
	return int64(2|c&1) << (c/2 + 11)
}

// chunk reads the head of an LZMA2 chunk.
func (x *xzWatch) chunk(c byte) error {
	x.buf = append(x.buf, c)
	switch control := x.buf[0]; {
	case control == 0:
		x.skip = (4-x.block%4)%4 + int64(x.check)
		x.next((*xzWatch).blockStart)
	case control <= 2 && len(x.buf) == 3:
		x.skip = int64(x.buf[1])<<8 + int64(x.buf[2]) + 1
		x.next((*xzWatch).chunk)
	case control >= 0x80 && len(x.buf) == 5:
		x.skip = int64(x.buf[3])<<8 + int64(x.buf[4]) + 1
		if control >= 0xC0 {
			x.skip++ // properties
		}
		x.next((*xzWatch).chunk)
	case control > 2 && control < 0x80:
		return errXZ
	}
	return nil
}

// index reads the numbers of the index; behind them come padding, a check, and the stream's footer.
func (x *xzWatch) index(c byte) error {
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
	if x.vlis == 0 {
		if n > 1<<40 {
			return errXZ
		}
		x.vlis = 2*n + 1
	}
	if x.vlis--; x.vlis > 0 {
		return nil
	}
	const crcAndFooter = 4 + 12
	x.skip = (4-x.block%4)%4 + crcAndFooter - 1
	x.next((*xzWatch).last)
	return nil
}

// last is the last byte of a stream.
func (x *xzWatch) last(c byte) error {
	if c != 'Z' {
		return errXZ
	}
	x.begun = false
	x.next((*xzWatch).between)
	return nil
}

// vli decodes a variable-length integer (1.2); the rest is nil where there is none.
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
