package geo

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/crs"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of a FlatGeobuf file.
const (
	maxBufHeader = 4 << 20
	maxFeature   = 64 << 20
	maxNodes     = 8 << 20 // parts and points of one geometry, so that none comes very often
)

// flatGeobuf profiles a FlatGeobuf file, version 3 (https://flatgeobuf.org). The index is skipped.
func flatGeobuf(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	g := &geobuf{in: in}
	if err := g.open(); err != nil {
		return nil, err
	}
	column := geometryColumn(g.names)
	p, err := csvprofile.ReadRecords(ctx, "", append(g.names, column), g.next, o.Reading(0))
	if err != nil {
		return nil, err
	}
	if p.Name = strings.ToValidUTF8(g.name, "\uFFFD"); o.Each == nil {
		g.sum.Column = column
		g.sum.Apply(p)
		for i, title := range g.titles {
			if title != "" && i < len(p.Columns) && title != p.Columns[i].Name {
				p.Columns[i].Titles = []string{strings.ToValidUTF8(title, "\uFFFD")}
			}
		}
	}
	if !source.Declared(p) {
		return nil, nil
	}
	return []*csvprofile.Profile{p}, nil
}

// geobuf reads the features of a file.
type geobuf struct {
	in     source.Input
	at     int64
	name   string
	names  []string
	titles []string
	types  []byte
	kind   byte // of all geometries, 0 if they differ
	sum    source.Summary
	pen    source.Pen
	buf    []byte
	cells  []string
}

func (g *geobuf) read(n int) ([]byte, error) {
	if int64(n) > g.in.Size-g.at {
		return nil, fmt.Errorf("%w: it is cut off", source.ErrFormat)
	}
	if cap(g.buf) < n {
		g.buf = make([]byte, n)
	}
	read, err := g.in.Body.ReadAt(g.buf[:n], g.at)
	if read < n {
		return nil, cutOff(err)
	}
	g.at += int64(n)
	return g.buf[:n], nil
}

// open reads the header.
func (g *geobuf) open() error {
	b, err := g.read(12)
	if err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(b[8:])
	if string(b[:3]) != "fgb" || b[3] != 3 || size > maxBufHeader {
		return fmt.Errorf("%w: not FlatGeobuf of version 3", source.ErrFormat)
	}
	if b, err = g.read(int(size)); err != nil {
		return err
	}
	buf := &buffer{b: b}
	head := buf.table(0)
	g.name, g.kind = head.text(0), byte(head.number(2, 1, 0))
	columns := csvprofile.MaxCells / 4
	for _, c := range head.tables(7, &columns) {
		g.names, g.types, g.titles = append(g.names, c.text(0)), append(g.types, byte(c.number(1, 1, 0))), append(g.titles, c.text(2))
	}
	count, nodeSize := head.number(8, 8, 0), head.number(9, 2, 16)
	if head.field(10) != 0 {
		g.sum.System = systemOf(buf.table(head.field(10)))
	}
	if buf.bad {
		return errBuffer
	}
	g.cells = make([]string, len(g.names)+1)
	if nodeSize > 0 && count > 0 {
		if nodeSize < 2 || count > uint64(g.in.Size) {
			return fmt.Errorf("%w: an index of %d features", source.ErrFormat, count)
		}
		nodes := count
		for n := count; n > 1; {
			n = (n + nodeSize - 1) / nodeSize
			nodes += n
		}
		if count == 1 {
			nodes = 2
		}
		g.at += int64(nodes) * 40
	}
	return nil
}

// systemOf returns the reference system that a header names.
func systemOf(n node) crs.System {
	s := crs.FromWKT(n.text(4))
	if code := int(int32(n.number(1, 4, 0))); code > 0 && (n.text(0) == "" || strings.EqualFold(n.text(0), "EPSG")) {
		if by := crs.FromEPSG(code); by.Known() {
			if s.Name != "" {
				by.Name = s.Name
			}
			return by
		}
	}
	if !s.Known() {
		s = crs.Named(n.text(2))
	}
	return s
}

// next returns the cells of the next feature.
func (g *geobuf) next() ([]string, error) {
	if g.at >= g.in.Size {
		return nil, io.EOF
	}
	b, err := g.read(4)
	if err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(b)
	if size > maxFeature {
		return nil, fmt.Errorf("%w: a feature has %d bytes", source.ErrFormat, size)
	}
	if b, err = g.read(int(size)); err != nil {
		return nil, err
	}
	clear(g.cells)
	buf := &buffer{b: b}
	feature := buf.table(0)
	if err := g.properties(feature.vector(1, 1)); err != nil {
		return nil, err
	}
	g.pen.Reset()
	if at := feature.field(0); at != 0 {
		left := maxNodes
		if f, err := g.figure(buf.table(at), g.kind, 0, &left); err == nil && f.word != "" {
			f.draw(&g.pen, "")
			g.sum.Add(&g.pen)
		} else if err != nil {
			return nil, err
		}
	}
	g.cells[len(g.cells)-1] = g.pen.Text()
	if buf.bad {
		return nil, errBuffer
	}
	return g.cells, nil
}

// properties reads the values of a feature.
func (g *geobuf) properties(b []byte) error {
	sizes := [...]int{1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8}
	for len(b) >= 2 {
		i := int(binary.LittleEndian.Uint16(b))
		if b = b[2:]; i >= len(g.types) {
			return errBuffer
		}
		t := int(g.types[i])
		if t < len(sizes) {
			if len(b) < sizes[t] {
				return errBuffer
			}
			g.cells[i] = geobufNumber(t, b[:sizes[t]])
			b = b[sizes[t]:]
			continue
		}
		if len(b) < 4 || t > 14 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
			return errBuffer
		}
		n := int(binary.LittleEndian.Uint32(b))
		raw := b[4 : 4+n]
		b = b[4+n:]
		switch {
		case t < 14:
			g.cells[i] = strings.ToValidUTF8(string(raw), "\uFFFD")
		case n <= 32:
			g.cells[i] = hex.EncodeToString(raw)
		default:
			g.cells[i] = fmt.Sprintf("%d bytes, xxh64 %016x", n, xxhash.Sum64(raw))
		}
	}
	if len(b) > 0 {
		return errBuffer
	}
	return nil
}

// geobufNumber returns a number or boolean as text.
func geobufNumber(t int, b []byte) string {
	v := uint64(0)
	for k, c := range b {
		v |= uint64(c) << (8 * k)
	}
	switch t {
	case 0:
		return strconv.Itoa(int(int8(v)))
	case 2:
		return strconv.FormatBool(v != 0)
	case 3:
		return strconv.Itoa(int(int16(v)))
	case 5:
		return strconv.Itoa(int(int32(v)))
	case 7:
		return strconv.FormatInt(int64(v), 10)
	case 9: // as short as a float of 32 bits can be read back
		f, _ := strconv.ParseFloat(strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32), 64)
		return decimal(f)
	case 10:
		return decimal(math.Float64frombits(v))
	}
	return strconv.FormatUint(v, 10)
}

var errTooMany = errors.New("a geometry has too many parts")

// geobufWords are the words of geometries by their types.
var geobufWords = [...]string{1: "POINT", 2: "LINESTRING", 3: "POLYGON", 4: "MULTIPOINT", 5: "MULTILINESTRING", 6: "MULTIPOLYGON",
	7: "GEOMETRYCOLLECTION"}

// figure reads a geometry, of the type that the header states if its own is 0. The figure has no word if the type is
// one of curves and surfaces, which are left out.
func (g *geobuf) figure(n node, kind byte, depth int, left *int) (f figure, err error) {
	if depth > 8 {
		return f, errTooMany
	}
	if own := byte(n.number(6, 1, 0)); own != 0 {
		kind = own
	}
	if int(kind) >= len(geobufWords) || kind == 0 {
		return f, nil
	}
	f.word, f.dims = geobufWords[kind], 2
	if kids := n.tables(7, left); len(kids) > 0 {
		inner := map[byte]byte{4: 1, 5: 2, 6: 3}[kind]
		for _, k := range kids {
			kid, err := g.figure(k, inner, depth+1, left)
			if err != nil {
				return f, err
			}
			if kid.word != "" {
				f.kids = append(f.kids, kid)
			}
		}
		return f, nil
	}
	xy, z := n.vector(1, 8), n.vector(2, 8)
	points := len(xy) / 16
	if *left -= points; *left < 0 {
		return f, errTooMany
	}
	if len(z) == 8*points && points > 0 {
		f.dims = 3
	}
	part := func(from, to int) []float64 {
		numbers := make([]float64, 0, f.dims*(to-from))
		for i := from; i < to; i++ {
			if numbers = append(numbers, float(xy[16*i:]), float(xy[16*i+8:])); f.dims == 3 {
				numbers = append(numbers, float(z[8*i:]))
			}
		}
		return numbers
	}
	ends := n.vector(0, 4)
	from := 0
	for k := range max(1, len(ends)/4) {
		to := points
		if len(ends) > 0 {
			to = int(binary.LittleEndian.Uint32(ends[4*k:]))
		}
		if to < from || to > points {
			return f, errBuffer
		}
		if kind == 4 {
			for i := from; i < to; i++ {
				f.kids = append(f.kids, figure{word: "POINT", dims: f.dims, parts: [][]float64{part(i, i+1)}})
			}
		} else if kind == 5 {
			f.kids = append(f.kids, figure{word: "LINESTRING", dims: f.dims, parts: [][]float64{part(from, to)}})
		} else if to > from {
			f.parts = append(f.parts, part(from, to))
		}
		from = to
	}
	return f, nil
}
