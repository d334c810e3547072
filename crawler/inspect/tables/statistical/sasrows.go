package statistical

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// sasRows reads the rows of a data set.
type sasRows struct {
	*sasFile
	at    int64 // the page
	queue [][]byte
	row   int64 // rows that have been found, deleted ones among them
	cells []string
}

// next returns the next row.
func (s *sasRows) next() ([]string, error) {
	for len(s.queue) == 0 {
		if s.row >= s.rows && s.rows > 0 || s.at+1 >= s.pages {
			if s.row < s.rows && s.cut { // otherwise the missing ones were deleted
				return nil, malformed("the file ends after row %d of %d", s.row, s.rows)
			}
			return nil, io.EOF
		}
		s.at++
		p, err := s.readPage(s.at)
		if err != nil {
			return nil, err
		}
		if err := s.rowsOf(p); err != nil {
			return nil, err
		}
	}
	raw := s.queue[0]
	s.queue = s.queue[1:]
	if int64(len(raw)) != s.rowLength || s.packing != 0 && raw == nil {
		return nil, malformed("a row of %d bytes, not %d", len(raw), s.rowLength)
	}
	return s.cellsOf(raw), nil
}

// rowsOf puts the rows of a page into the queue.
func (s *sasRows) rowsOf(p sasPage) error {
	s.queue = s.queue[:0]
	head, pointer := s.pageHead()
	start, n := head, int64(0)
	switch {
	case p.kind == sasData:
		n = p.blocks
	case p.kind == sasMix:
		start += p.subheaders * pointer
		start += start % 8
		n = min(s.mixed, max(0, p.blocks-p.subheaders))
		if p.blocks < p.subheaders || n == 0 {
			n = s.mixed
		}
	case s.packing != 0 && p.described():
		return s.subheaders(p, s.packedRow)
	default:
		return nil
	}
	n = min(n, s.rows-s.row)
	var deleted []byte
	if p.deleted {
		deleted = s.deletedOf(p)
	}
	for i := range n {
		at := start + i*s.rowLength
		if at+s.rowLength > int64(len(p.bytes)) {
			if int64(len(p.bytes)) < s.page {
				return s.partly(malformed("the file ends after row %d of %d", s.row, s.rows))
			}
			break
		}
		s.row++
		if int(i/8) < len(deleted) && deleted[i/8]&(0x80>>(i%8)) != 0 {
			continue
		}
		s.queue = append(s.queue, p.bytes[at:at+s.rowLength])
	}
	return nil
}

// partly keeps the error for when the rows before it have been read.
func (s *sasRows) partly(err error) error {
	if len(s.queue) == 0 {
		return err
	}
	s.pages, s.cut = s.at+1, true // next says that rows are missing
	return nil
}

// deletedOf returns the bits that say which rows of a page were deleted, nil if there are none.
func (s *sasRows) deletedOf(p sasPage) []byte {
	head, pointer := s.pageHead()
	where := int64(12)
	if s.wide {
		where = 24
	}
	rows := max(0, p.blocks-p.subheaders)
	at := head + int64(s.order.Uint32(p.bytes[where:])) + (head+8+p.subheaders*pointer)%8 + p.subheaders*pointer + rows*s.rowLength
	if end := at + (rows+7)/8; at >= 0 && end <= int64(len(p.bytes)) {
		return p.bytes[at:end]
	}
	return nil
}

// packedRow unpacks the row in a subheader.
func (s *sasRows) packedRow(sub sasSub) error {
	if sub.described() || !sub.row || s.row >= s.rows {
		return nil
	}
	row := sub.bytes
	if sub.packed || int64(len(row)) < s.rowLength {
		unpacked, err := unpackRow(s.packing, row, int(s.rowLength))
		if err != nil {
			return s.partly(malformed("row %d: %v", s.row+1, err))
		}
		row = unpacked
	}
	s.row++
	s.queue = append(s.queue, row[:min(int64(len(row)), s.rowLength)])
	return nil
}

// cellsOf formats a row.
func (s *sasRows) cellsOf(raw []byte) []string {
	s.cells = s.cells[:0]
	for _, v := range s.fields {
		b := raw[v.at : v.at+v.width]
		if v.text {
			s.cells = append(s.cells, s.texts.text(b))
			continue
		}
		n := s.float(b)
		if math.IsNaN(n) {
			s.cells = append(s.cells, "")
			continue
		}
		s.cells = append(s.cells, sasNumber(n, v.kind))
	}
	return s.cells
}

// float decodes a number, whose last bytes may have been dropped.
func (s *sasFile) float(b []byte) float64 {
	var full [8]byte
	if s.order == binary.ByteOrder(binary.LittleEndian) {
		copy(full[8-len(b):], b)
	} else {
		copy(full[:], b)
	}
	return math.Float64frombits(s.order.Uint64(full[:]))
}

// errPacked is about rows that do not unpack to their length.
var errPacked = errors.New("it does not unpack to the length of a row")

// unpackRow unpacks a row of n bytes.
func unpackRow(packing byte, in []byte, n int) ([]byte, error) {
	u := unpacker{in: in, out: make([]byte, 0, n), n: n}
	if packing == 'd' {
		u.dictionary()
	} else {
		u.runs()
	}
	if len(u.out) != n {
		return nil, errPacked
	}
	return u.out, nil
}

// unpacker unpacks a row. What goes beyond the row or the input is dropped.
type unpacker struct {
	in, out []byte
	at, n   int
}

// byte returns the next byte, 0 at the end.
func (u *unpacker) byte() int {
	if u.at >= len(u.in) {
		u.at++
		return 0
	}
	u.at++
	return int(u.in[u.at-1])
}

func (u *unpacker) copy(n int) {
	n = min(n, len(u.in)-min(u.at, len(u.in)), u.n-len(u.out))
	u.out = append(u.out, u.in[u.at:u.at+n]...)
	u.at += n
}

func (u *unpacker) fill(c, n int) {
	for n = min(n, u.n-len(u.out)); n > 0; n-- {
		u.out = append(u.out, byte(c))
	}
}

func (u *unpacker) repeat(back, n int) {
	if back > len(u.out) || back <= 0 {
		u.at = len(u.in)
		return
	}
	for n = min(n, u.n-len(u.out)); n > 0; n-- {
		u.out = append(u.out, u.out[len(u.out)-back])
	}
}

// runs unpacks run lengths ("COMPRESS=CHAR").
func (u *unpacker) runs() {
	for u.at < len(u.in) && len(u.out) < u.n {
		c := u.byte()
		low := c & 15
		switch c >> 4 {
		case 0, 1, 2, 3:
			u.copy(c*256 + u.byte() + 64)
		case 4:
			n := low*256 + u.byte() + 18
			u.fill(u.byte(), n)
		case 5:
			u.fill('@', low*256+u.byte()+17)
		case 6:
			u.fill(' ', low*256+u.byte()+17)
		case 7:
			u.fill(0, low*256+u.byte()+17)
		case 8, 9, 10, 11:
			u.copy((c>>4-8)*16 + low + 1)
		case 12:
			u.fill(u.byte(), low+3)
		case 13:
			u.fill('@', low+2)
		case 14:
			u.fill(' ', low+2)
		case 15:
			u.fill(0, low+2)
		}
	}
}

// dictionary unpacks Ross' data compression ("COMPRESS=BINARY").
func (u *unpacker) dictionary() {
	for u.at < len(u.in) && len(u.out) < u.n {
		control := u.byte()<<8 | u.byte()
		for bit := 0x8000; bit > 0 && u.at < len(u.in) && len(u.out) < u.n; bit >>= 1 {
			if control&bit == 0 {
				u.copy(1)
				continue
			}
			c := u.byte()
			low := c & 15
			switch c >> 4 {
			case 0:
				u.fill(u.byte(), low+3)
			case 1:
				n := low + u.byte()<<4 + 19
				u.fill(u.byte(), n)
			case 2:
				back := low + 3 + u.byte()<<4
				u.repeat(back, u.byte()+16)
			default:
				u.repeat(low+3+u.byte()<<4, c>>4)
			}
		}
	}
}
