package statistical

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"math"

	"odarchive/crawler/inspect/tables/source"
)

// spssRows reads the rows.
type spssRows struct {
	*spssFile
	data  *source.Cursor
	codes [8]byte // of the next elements in a compressed file
	code  int     // of those the next one
	row   int64
	ended bool
	raw   []byte // of one variable
	cells []string
}

// open returns the data behind the dictionary.
func (f *spssFile) open(r *source.Cursor) (*source.Cursor, error) {
	if f.compression != 2 {
		return r, nil
	}
	r.Skip(8)
	trailer, length := int64(r.U64()), int64(r.U64())
	start := r.Pos()
	if r.Err() != nil || trailer < start || trailer > f.in.Size || length < 24 || length > f.in.Size-trailer {
		return nil, malformed("the directory of its compressed blocks is outside of the file")
	}
	return source.NewCursor(&zBlocks{src: io.NewSectionReader(f.in.Body, start, trailer-start), left: f.in.Size * 2000}, f.order), nil
}

// zBlocks unpacks zlib streams that follow one another.
type zBlocks struct {
	src  *io.SectionReader
	z    io.ReadCloser
	buf  *countedByteReader
	left int64 // bytes that may still come out
}

// countedByteReader lets a decompressor read no further than it must.
type countedByteReader struct {
	r   io.Reader
	buf []byte
	at  int
	n   int
}

func (c *countedByteReader) fill() error {
	if c.buf == nil {
		c.buf = make([]byte, 32<<10)
	}
	for c.at >= c.n {
		n, err := c.r.Read(c.buf)
		c.at, c.n = 0, n
		if n == 0 && err != nil {
			return err
		}
	}
	return nil
}

func (c *countedByteReader) ReadByte() (byte, error) {
	if err := c.fill(); err != nil {
		return 0, err
	}
	c.at++
	return c.buf[c.at-1], nil
}

func (c *countedByteReader) Read(p []byte) (int, error) {
	if err := c.fill(); err != nil {
		return 0, err
	}
	n := copy(p, c.buf[c.at:c.n])
	c.at += n
	return n, nil
}

func (b *zBlocks) Read(p []byte) (int, error) {
	for {
		if b.z == nil {
			if b.buf == nil {
				b.buf = &countedByteReader{r: b.src}
			}
			if err := b.buf.fill(); err != nil {
				return 0, err
			}
			z, err := zlib.NewReader(b.buf)
			if err != nil {
				return 0, malformed("a compressed block: %v", err)
			}
			b.z = z
		}
		n, err := b.z.Read(p)
		if b.left -= int64(n); b.left < 0 {
			return 0, malformed("it unpacks to too much")
		}
		if errors.Is(err, io.EOF) {
			b.z, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// element returns the next eight bytes of a row; false at the end of the data.
func (s *spssRows) element(first bool, out []byte) bool {
	if s.compression == 0 {
		if first && !s.data.More() {
			return false
		}
		copy(out, s.data.Bytes(8))
		return s.data.Err() == nil
	}
	for {
		if s.code == 0 {
			if !s.data.More() {
				return false
			}
			copy(s.codes[:], s.data.Bytes(8))
		}
		code := s.codes[s.code]
		s.code = (s.code + 1) % 8
		switch code {
		case 0:
			continue
		case 252:
			s.ended = true
			return false
		case 253:
			copy(out, s.data.Bytes(8))
		case 254:
			copy(out, "        ")
		case 255:
			s.order.PutUint64(out, math.Float64bits(s.sysmis))
		default:
			s.order.PutUint64(out, math.Float64bits(float64(code)-s.bias))
		}
		return s.data.Err() == nil
	}
}

// next returns the next row.
func (s *spssRows) next() ([]string, error) {
	if s.ended || len(s.variables) == 0 {
		return nil, io.EOF
	}
	s.cells = s.cells[:0]
	for i, v := range s.variables {
		s.raw = s.raw[:0]
		for part := range v.parts {
			width := v.width
			if v.parts > 1 { // each part but the last has 255 bytes of the string
				if width = 255; part == v.parts-1 {
					width = min(255, max(1, v.width-252*part))
				}
			}
			start := len(s.raw)
			for at := 0; at == 0 || at < width; at += 8 {
				var b [8]byte
				if !s.element(i == 0 && part == 0 && at == 0, b[:]) {
					if i == 0 && part == 0 && at == 0 && s.data.Err() == nil {
						return nil, io.EOF
					}
					return nil, malformed("the file ends within row %d", s.row+1)
				}
				s.raw = append(s.raw, b[:]...)
			}
			if v.width > 0 {
				s.raw = s.raw[:start+width]
			}
		}
		if v.width > 0 {
			s.raw = s.raw[:min(len(s.raw), v.width)]
		}
		if len(s.cells) < maxVariables {
			s.cells = append(s.cells, s.value(v, s.raw))
		}
	}
	s.row++
	return s.cells, nil
}

// value returns a cell, "" for values that are missing.
func (s *spssRows) value(v *spssVariable, raw []byte) string {
	for _, m := range v.missing {
		if v.width == 0 && bytes.Equal(m, raw) || v.width > 0 && v.width <= 8 &&
			bytes.Equal(bytes.TrimRight(m, " "), bytes.TrimRight(raw, " ")) {
			return ""
		}
	}
	if v.ranged && v.width == 0 {
		if n := math.Float64frombits(s.order.Uint64(raw)); n >= v.low && n <= v.high {
			return ""
		}
	}
	return s.cell(v, raw)
}

// cell formats a value by the variable's print format.
func (f *spssFile) cell(v *spssVariable, raw []byte) string {
	if v.width > 0 {
		return f.texts.text(raw)
	}
	n := math.Float64frombits(f.order.Uint64(raw))
	if n == f.sysmis || n == -math.MaxFloat64 {
		return ""
	}
	return spssNumber(n, v.format)
}

// spssNumber formats a number by the type of a print format.
func spssNumber(n float64, format byte) string {
	switch format {
	case 20, 23, 24, 28, 29, 30, 38, 39: // DATE ADATE JDATE MOYR QYR WKYR EDATE SDATE
		return shown(from1582.date(math.Floor(n/86400)), n)
	case 22, 41: // DATETIME YMDHMS
		return shown(from1582.moment(n), n)
	case 21, 25, 40: // TIME DTIME MTIME
		return shown(clock(n), n)
	}
	return number(n, 64)
}
