package columnar

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// arrowRows reads rows from batches. Structures become columns of their parts.
type arrowRows struct {
	ctx   context.Context
	batch func() ([]*arrowArray, int64, error)
	names []string

	arrays []*arrowArray // of the current batch
	n, row int64
	cells  []string
}

// name adds the names of a column.
func (s *arrowRows) name(f *arrowField, prefix string, depth int) {
	if f.kind == arrowStruct && !f.coded && len(f.children) > 0 {
		for _, c := range f.children {
			s.name(c, prefix+f.name+".", depth+1)
		}
		return
	}
	s.names = append(s.names, prefix+f.name)
}

// read profiles the table.
func (s *arrowRows) read(o source.Options) ([]*csvprofile.Profile, error) {
	header := s.names[:min(len(s.names), csvprofile.MaxCells)]
	p, err := source.ReadRows(s.ctx, "", header, func() ([]string, error) {
		row, err := s.next()
		return row[:min(len(row), len(header))], err
	}, o.Reading(0))
	if p == nil {
		return nil, err
	}
	p.Omitted += len(s.names) - len(header)
	return []*csvprofile.Profile{p}, nil
}

// next returns the next row.
func (s *arrowRows) next() ([]string, error) {
	for s.row >= s.n {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if s.arrays, s.n, err = s.batch(); err != nil {
			return nil, err
		}
		s.row = 0
	}
	if s.row&0xfff == 0 && s.ctx.Err() != nil {
		return nil, s.ctx.Err()
	}
	s.cells = s.cells[:0]
	for _, a := range s.arrays {
		s.put(a, s.row, false)
	}
	s.row++
	return s.cells, nil
}

// put adds the cells of a column. Parts of a missing structure are missing.
func (s *arrowRows) put(a *arrowArray, i int64, missing bool) {
	missing = missing || a.null(i)
	if a.field.kind == arrowStruct && !a.field.coded && len(a.children) > 0 {
		for _, c := range a.children {
			s.put(c, i, missing)
		}
		return
	}
	if missing {
		s.cells = append(s.cells, "")
		return
	}
	s.cells = append(s.cells, a.text(i, 0))
}

// null reports whether value i is missing.
func (a *arrowArray) null(i int64) bool {
	return i < 0 || i >= a.n || a.valid != nil && a.valid[i/8]&(1<<(i%8)) == 0
}

// number returns an integer of a number of bytes.
func (a *arrowArray) number(b []byte, i, size int64, signed bool) int64 {
	if i < 0 || (i+1)*size > int64(len(b)) {
		return 0
	}
	b = b[i*size:]
	switch size {
	case 1:
		if signed {
			return int64(int8(b[0]))
		}
		return int64(b[0])
	case 2:
		if signed {
			return int64(int16(a.order.Uint16(b)))
		}
		return int64(a.order.Uint16(b))
	case 4:
		if signed {
			return int64(int32(a.order.Uint32(b)))
		}
		return int64(a.order.Uint32(b))
	case 8:
		return int64(a.order.Uint64(b))
	}
	return 0
}

// text formats value i.
func (a *arrowArray) text(i int64, depth int) string {
	if a.null(i) || depth > arrowMaxDepth {
		return ""
	}
	f := a.field
	if f.coded {
		return a.dict.entry(a.number(a.data, i, a.width(arrowInt), f.signed), depth+1)
	}
	switch f.kind {
	case arrowInt:
		v := a.number(a.data, i, a.width(arrowInt), f.signed)
		if f.bits == 64 && !f.signed {
			return strconv.FormatUint(uint64(v), 10)
		}
		return strconv.FormatInt(v, 10)
	case arrowFloat:
		switch v := a.number(a.data, i, a.width(arrowFloat), false); f.bits {
		case 16:
			return source.Number(halfFloat(uint16(v)), 32)
		case 32:
			return source.Number(float64(math.Float32frombits(uint32(v))), 32)
		default:
			return source.Number(math.Float64frombits(uint64(v)), 64)
		}
	case arrowBool:
		return strconv.FormatBool(a.data[i/8]&(1<<(i%8)) != 0)
	case arrowText, arrowLargeText, arrowTextView:
		return cellText(a.bytes(i))
	case arrowBinary, arrowLargeBinary, arrowFixedBinary, arrowBinaryView:
		return cellBinary(a.bytes(i))
	case arrowDecimal:
		return a.decimal(i)
	case arrowDate, arrowTime, arrowTimestamp, arrowDuration, arrowInterval:
		return a.temporal(i)
	case arrowList, arrowLargeList, arrowMap, arrowFixedList, arrowListView, arrowLargeListView:
		return a.list(i, depth)
	case arrowRunEnds:
		return a.run(i, depth)
	case arrowStruct:
		return a.parts(i, depth)
	case arrowUnion:
		return a.union(i, depth)
	}
	return ""
}

// entry returns a value of a dictionary.
func (a *arrowArray) entry(i int64, depth int) string {
	if a == nil {
		return ""
	}
	chain := []*arrowArray{}
	for p := a; p != nil; p = p.before {
		chain = append(chain, p)
	}
	for _, p := range slices.Backward(chain) {
		if i < p.n {
			return p.text(i, depth)
		}
		i -= p.n
	}
	return ""
}

// span returns the bounds of value i in what it is a list of.
func (a *arrowArray) span(i int64) (from, to int64) {
	size := a.offsetSize()
	return a.number(a.offsets, i, size, true), a.number(a.offsets, i+1, size, true)
}

// bytes returns the bytes of value i.
func (a *arrowArray) bytes(i int64) []byte {
	if a.field.kind == arrowFixedBinary {
		width := a.width(arrowFixedBinary)
		return a.data[i*width : (i+1)*width]
	}
	if a.field.kind == arrowBinaryView || a.field.kind == arrowTextView {
		return a.view(i)
	}
	from, to := a.span(i)
	if from < 0 || to < from || to > int64(len(a.data)) {
		return nil
	}
	return a.data[from:to]
}

// view returns the bytes of a view: up to 12 in itself, or a part of one of its buffers.
func (a *arrowArray) view(i int64) []byte {
	v := a.data[16*i : 16*i+16]
	n := int64(int32(a.order.Uint32(v)))
	if n < 0 {
		return nil
	}
	if n <= 12 {
		return v[4 : 4+n]
	}
	which, from := int64(int32(a.order.Uint32(v[8:]))), int64(int32(a.order.Uint32(v[12:])))
	if which < 0 || which >= int64(len(a.views)) || from < 0 || from+n > int64(len(a.views[which])) {
		return nil
	}
	return a.views[which][from : from+n]
}

// decimal formats a decimal number.
func (a *arrowArray) decimal(i int64) string {
	width := a.width(arrowDecimal)
	b := slices.Clone(a.data[i*width : (i+1)*width])
	if a.order.Uint16([]byte{1, 0}) == 1 { // little-endian
		slices.Reverse(b)
	}
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return decimal(n.String(), a.field.scale)
}

// temporal formats a date, a time, a moment or a duration.
func (a *arrowArray) temporal(i int64) string {
	f := a.field
	v := a.number(a.data, i, a.width(f.kind), true)
	switch f.kind {
	case arrowDate:
		if f.unit == 0 {
			return day(v)
		}
		return day(floorDiv(v, 86_400_000))
	case arrowTime:
		return time.Unix(0, 0).UTC().Add(time.Duration(v) * unitOf(f.unit)).Format("15:04:05.999999999")
	case arrowTimestamp:
		return moment(v, f.unit, f.zone)
	case arrowDuration:
		return "PT" + source.Number(float64(v)*unitOf(f.unit).Seconds(), 64) + "S"
	}
	switch f.unit {
	case 0:
		return fmt.Sprintf("P%dM", v)
	case 1:
		return fmt.Sprintf("P%dDT%sS", a.number(a.data, 2*i, 4, true), source.Number(float64(a.number(a.data, 2*i+1, 4, true))/1000, 64))
	}
	return fmt.Sprintf("P%dM%dDT%sS", a.number(a.data, 4*i, 4, true), a.number(a.data, 4*i+1, 4, true),
		source.Number(float64(a.number(a.data, 2*i+1, 8, true))/1e9, 64))
}

// list formats a list, or a map with the keys before the values.
func (a *arrowArray) list(i int64, depth int) string {
	if len(a.children) == 0 {
		return ""
	}
	from, to := i*int64(a.field.bits), (i+1)*int64(a.field.bits)
	switch a.field.kind {
	case arrowFixedList:
	case arrowListView, arrowLargeListView:
		size := a.offsetSize()
		from = a.number(a.offsets, i, size, true)
		to = from + min(max(a.number(a.data, i, size, true), 0), cellItems)
	default:
		from, to = a.span(i)
	}
	var out []string
	for j := from; j >= 0 && j < min(to, from+cellItems, a.children[0].n); j++ {
		if c := a.children[0]; a.field.kind == arrowMap && len(c.children) == 2 {
			out = append(out, c.children[0].text(j, depth+1)+": "+c.children[1].text(j, depth+1))
			continue
		}
		out = append(out, a.children[0].text(j, depth+1))
	}
	return strings.Join(out, "; ")
}

// run formats a value of which only its first and last repetition are known: the first child has where each run of
// equal values ends, the second has their values.
func (a *arrowArray) run(i int64, depth int) string {
	if len(a.children) != 2 {
		return ""
	}
	ends := a.children[0]
	if ends.field.kind != arrowInt || ends.field.coded {
		return ""
	}
	at := sort.Search(int(ends.n), func(k int) bool { return ends.number(ends.data, int64(k), ends.width(arrowInt), true) > i })
	return a.children[1].text(int64(at), depth+1)
}

// parts formats a structure in a list.
func (a *arrowArray) parts(i int64, depth int) string {
	var out []string
	for _, c := range a.children {
		if t := c.text(i, depth+1); t != "" {
			out = append(out, c.field.name+": "+t)
		}
	}
	return strings.Join(out, ", ")
}

// union formats a value of one of several types.
func (a *arrowArray) union(i int64, depth int) string {
	id := int(int8(a.offsets[i]))
	if k := slices.Index(a.field.ids, id); len(a.field.ids) > 0 {
		id = k
	}
	if id < 0 || id >= len(a.children) {
		return ""
	}
	if a.field.mode == 1 {
		i = a.number(a.data, i, 4, true)
	}
	return a.children[id].text(i, depth+1)
}
