package csvprofile

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// zeroBytes marks the bytes of x that are zero. Bytes above the first marked one may be marked wrongly.
func zeroBytes(x uint64) uint64 { return (x - ones) &^ x & highs }

// eachZero marks exactly the bytes of x that are zero.
func eachZero(x uint64) uint64 { return ^((x&^highs + ^uint64(highs)) | x) & highs }

// plain reads unquoted cells from p on, eight bytes at a time, until the record ends (done) or it finds a cell that it
// cannot read: a quoted one, or one in the last bytes of buf. It returns the offset of that cell, or of the next
// record.
func (r *Rows) plain(buf []byte, p int) (next int, done bool) {
	const low = ^uint64(highs)
	const control = ('\r' + 1) * ones // line ends and other control characters are below it
	begin := p
	quote, delim, wDelim := r.quote, r.delim[0], r.wDelim
	if begin < len(buf) && buf[begin] == quote {
		return begin, false
	}
	cells := r.cells
	for ; p+8 <= len(buf); p += 8 {
		w := binary.LittleEndian.Uint64(buf[p:])
		d := w ^ wDelim
		for m := ^((d&low + low | d) & (w&low + (highs - control) | w)) & highs; m != 0; m &= m - 1 {
			at := p + bits.TrailingZeros64(m)>>3
			c := buf[at]
			if c != delim && c != '\n' && (c != '\r' || at+1 >= len(buf)) {
				if c == '\r' {
					r.cells = cells
					return begin, false
				}
				continue
			}
			if len(cells) < MaxCells {
				cells = append(cells, buf[begin:at])
			}
			begin = at + 1
			if c != delim {
				if c == '\r' && buf[begin] == '\n' {
					begin++
				}
				r.cells, r.pos = cells, begin
				return begin, true
			}
			if begin < len(buf) && buf[begin] == quote {
				r.cells = cells
				return begin, false
			}
		}
	}
	r.cells = cells
	return begin, false
}
