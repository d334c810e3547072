package arrays

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"odarchive/crawler/inspect/tables/source"
)

// The classic formats of NetCDF ("NetCDF file format specifications", Unidata): numbers are big-endian, names and
// values are padded to four bytes, and the values of variables over the record dimension are interleaved record by
// record.

// classicKinds are the datatypes by their number; 2 is char.
var classicKinds = map[int]kind{
	1: {size: 1, signed: true, big: true}, 2: {size: 1, big: true}, 3: {size: 2, signed: true, big: true},
	4: {size: 4, signed: true, big: true},
	5: {size: 4, float: true, big: true}, 6: {size: 8, float: true, big: true}, 7: {size: 1, big: true}, 8: {size: 2, big: true},
	9: {size: 4, big: true}, 10: {size: 8, signed: true, big: true}, 11: {size: 8, big: true},
}

const classicChar = 2

// classicReader reads a header.
type classicReader struct {
	r       *bufio.Reader
	version byte
	left    int64 // bytes of the file after the place of the reader
	total   int   // attributes
	err     error
}

var errHeader = fmt.Errorf("%w: the header of NetCDF is damaged", source.ErrFormat)

func (c *classicReader) bytes(n int64) []byte {
	if c.err != nil || n < 0 || n > c.left || n > 64<<20 {
		c.err = errors.Join(c.err, errHeader)
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(c.r, b); err != nil {
		c.err = errHeader
	}
	c.left -= n
	return b
}

func (c *classicReader) u32() int64 {
	if b := c.bytes(4); c.err == nil {
		return int64(binary.BigEndian.Uint32(b))
	}
	return 0
}

// wide reads an offset or, in CDF-5, a number of elements.
func (c *classicReader) wide(is bool) int64 {
	if !is {
		return c.u32()
	}
	b := c.bytes(8)
	if c.err != nil {
		return 0
	}
	n := binary.BigEndian.Uint64(b)
	if n > math.MaxInt64 {
		c.err = errHeader
		return 0
	}
	return int64(n)
}

func (c *classicReader) count() int64 { return c.wide(c.version == 5) }

// list reads the beginning of a list: its tag and its number of elements, each of which takes at least size bytes.
func (c *classicReader) list(tag int64, size int64) int64 {
	got, n := c.u32(), c.count()
	if c.err == nil && (got != tag && (got != 0 || n != 0) || n > c.left/size) {
		c.err = errHeader
	}
	if c.err != nil {
		return 0
	}
	return n
}

func padded(n int64) int64 { return (n + 3) &^ 3 }

func (c *classicReader) name() string {
	n := c.count()
	if n > maxName {
		c.err = errors.Join(c.err, errHeader)
	}
	b := c.bytes(padded(n))
	if c.err != nil {
		return ""
	}
	return cut(b[:n], maxName)
}

// attributes reads a list of attributes.
func (c *classicReader) attributes() (all []Attribute) {
	for range c.list(0x0c, 12) {
		name := c.name()
		typ := int(c.u32())
		k, known := classicKinds[typ]
		n := c.count()
		if c.total++; !known || n > c.left || c.total > maxAttributes {
			c.err = errors.Join(c.err, errHeader)
		}
		if c.err != nil {
			return all
		}
		b := c.bytes(padded(n * int64(k.size)))
		if c.err != nil {
			return all
		}
		b = b[:n*int64(k.size)]
		if typ == classicChar {
			all = append(all, Attribute{name, strings.TrimSpace(cut(b, maxValue))})
			continue
		}
		all = append(all, Attribute{name, numbers(k, b)})
	}
	return all
}

// numbers returns the text of some numbers.
func numbers(k kind, b []byte) string {
	var text strings.Builder
	for i := 0; i+k.size <= len(b) && text.Len() < maxValue; i += k.size {
		if i > 0 {
			text.WriteString(", ")
		}
		_, s := k.number(b[i:])
		text.WriteString(s)
	}
	return text.String()
}

// openClassic reads the header of a file.
func openClassic(in source.Input) (*File, error) {
	c := &classicReader{r: bufio.NewReaderSize(io.NewSectionReader(in.Body, 0, in.Size), 64<<10), left: in.Size}
	magic := c.bytes(4)
	if c.err != nil || string(magic[:3]) != "CDF" || magic[3] != 1 && magic[3] != 2 && magic[3] != 5 {
		return nil, fmt.Errorf("%w: it is no file of NetCDF", source.ErrFormat)
	}
	c.version = magic[3]
	records := c.count()
	f := &File{body: in.Body, size: in.Size}
	recordDim := -1
	for i := range c.list(0x0a, 8) {
		name, size := c.name(), c.count()
		if c.err != nil || i >= maxDims {
			return nil, errors.Join(c.err, errHeader)
		}
		if size == 0 && recordDim < 0 {
			recordDim = int(i)
		}
		f.Dims = append(f.Dims, Dim{name, size})
	}
	f.Attributes = c.attributes()
	vars := c.variables(f, recordDim)
	if c.err != nil {
		return f, c.err
	}
	step := recordStep(vars)
	first := int64(math.MaxInt64)
	for _, v := range vars {
		if v.record {
			first = min(first, v.begin)
		}
	}
	if recordDim >= 0 {
		room := int64(0)
		if step > 0 && first < in.Size {
			room = (in.Size - first + step - 1) / step
		}
		if f.Dims[recordDim].Size = records; records < 0 || records > room { // all bits set: the file was being written
			f.Dims[recordDim].Size = room
		}
	}
	for _, v := range vars {
		v.finish(f, recordDim, step)
	}
	return f, nil
}

// classicVar is a variable with its place in the file.
type classicVar struct {
	*Var
	dims   []int
	typ    int
	begin  int64
	size   int64 // bytes, of one record if record is set
	record bool
}

// variables reads the list of variables.
func (c *classicReader) variables(f *File, recordDim int) (all []*classicVar) {
	for i := range c.list(0x0b, 16) {
		v := &classicVar{Var: &Var{Name: c.name()}}
		n := c.count()
		if n > 64 || i >= maxObjects {
			c.err = errors.Join(c.err, errHeader)
		}
		if c.err != nil {
			return all
		}
		v.size = 1
		for j := range n {
			d := c.count()
			if c.err != nil || d >= int64(len(f.Dims)) {
				c.err = errors.Join(c.err, errHeader)
				return all
			}
			v.dims = append(v.dims, int(d))
			if int(d) == recordDim && j == 0 {
				v.record = true
				continue
			}
			if s := f.Dims[d].Size; s > 0 && v.size > math.MaxInt64/16/s {
				c.err = errHeader
				return all
			}
			v.size *= f.Dims[d].Size
		}
		v.Attributes = c.attributes()
		v.typ = int(c.u32())
		c.count() // the size, which may be wrong for large variables
		v.begin = c.wide(c.version != 1)
		k, known := classicKinds[v.typ]
		if !known {
			c.err = errors.Join(c.err, errHeader)
		}
		if c.err != nil {
			return all
		}
		v.size *= int64(k.size)
		all = append(all, v)
		f.Vars = append(f.Vars, v.Var)
	}
	return all
}

// recordStep returns the number of bytes of one record. The part of a lone variable is not padded.
func recordStep(vars []*classicVar) (step int64) {
	n, lone := 0, int64(0)
	for _, v := range vars {
		if v.record {
			step += padded(v.size)
			lone = v.size
			n++
		}
		if step > math.MaxInt64/4 {
			return 0
		}
	}
	if n == 1 {
		return lone
	}
	return step
}

// finish sets the shape of a variable, and how it is read if it is a column: of numbers, or of texts that are rows of
// characters.
func (v *classicVar) finish(f *File, recordDim int, step int64) {
	k := classicKinds[v.typ]
	v.Type = k.xsd()
	if v.typ == classicChar {
		v.Type = "string"
	}
	for _, d := range v.dims {
		v.Dims, v.Shape = append(v.Dims, f.Dims[d].Name), append(v.Shape, f.Dims[d].Size)
	}
	width := int64(k.size)
	switch {
	case v.typ == classicChar && len(v.dims) == 2 && v.Shape[1] > 0 && v.Shape[1] <= 64<<10:
		width = v.Shape[1]
		v.Dims, v.Shape = v.Dims[:1], v.Shape[:1]
	case len(v.dims) != 1:
		return
	}
	stride := width
	if v.record {
		stride = step
	}
	v.held = 64<<10 + width
	v.open = func() (func() error, error) {
		w := &window{r: f.body, size: f.size}
		how := conventionsOf(v.Var)
		at := v.begin
		v.cells = make([]string, 1)
		return func() error {
			b, err := w.at(at, width, stride)
			if err != nil {
				return err
			}
			at += stride
			if v.typ == classicChar {
				v.cells[0] = strings.TrimRight(cut(b, len(b)), " ")
				return nil
			}
			x, s := k.number(b)
			v.cells[0] = how.text(x, s)
			return nil
		}, nil
	}
}

// window reads a file in pieces.
type window struct {
	r    io.ReaderAt
	size int64
	buf  []byte
	from int64
}

// at returns n bytes of the file. It reads ahead if the next ones, stride bytes later, are near.
func (w *window) at(off, n, stride int64) ([]byte, error) {
	if off < 0 || off > w.size-n {
		return nil, io.ErrUnexpectedEOF
	}
	if off < w.from || off+n > w.from+int64(len(w.buf)) {
		length := n
		if stride < 4096 {
			length = min(max(n, 64<<10), w.size-off)
		}
		if int64(cap(w.buf)) < length {
			w.buf = make([]byte, length)
		}
		w.buf, w.from = w.buf[:length], off
		if got, err := w.r.ReadAt(w.buf, off); int64(got) < length {
			w.buf = w.buf[:0]
			return nil, errors.Join(err, io.ErrUnexpectedEOF)
		}
	}
	return w.buf[off-w.from:][:n], nil
}
