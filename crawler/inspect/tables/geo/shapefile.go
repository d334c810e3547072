package geo

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/crs"
	"odarchive/crawler/inspect/tables/source"
	"odarchive/triplestore/geometry"
)

// Limits of a shapefile.
const (
	maxShape = 64 << 20 // bytes of one geometry; larger ones are left out
	maxText  = 64 << 10 // bytes of a .prj or .cpg file
)

// textBeside returns the text of a small file beside the one that is read, "" if there is none.
func textBeside(in source.Input, extension string) string {
	if in.Beside == nil {
		return ""
	}
	body, size, ok := in.Beside(extension)
	if !ok || size > maxText {
		return ""
	}
	text := make([]byte, size)
	n, _ := body.ReadAt(text, 0)
	return string(text[:n])
}

// shapefile profiles a shapefile (ESRI Shapefile Technical Description, 1998) with the attributes of its features, if
// the .dbf file is beside it.
func shapefile(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	shapes, err := openShapes(in)
	if err != nil {
		return nil, err
	}
	var d *dbf
	var names []string
	if in.Beside != nil {
		if body, size, ok := in.Beside(".dbf"); ok {
			if d, err = openDBF(body, size, codePage(textBeside(in, ".cpg"))); err == nil {
				names = d.names()
			}
		}
	}
	sum := source.Summary{System: crs.FromWKT(textBeside(in, ".prj")), Column: geometryColumn(names)}
	names = append(names, sum.Column)
	cells := make([]string, len(names))
	at, ended := int64(0), false
	unequal := false
	next := func() ([]string, error) {
		for {
			clear(cells)
			live := true
			var attributes error = io.EOF
			if d != nil && at < d.rows {
				live, attributes = d.row(at, cells)
			}
			at++
			if !ended {
				if err := shapes.next(); err == nil {
					cells[len(cells)-1] = shapes.pen.Text()
				} else if ended = errors.Is(err, io.EOF); !ended {
					return nil, err
				}
			}
			if attributes != nil && (ended || !errors.Is(attributes, io.EOF)) {
				return nil, attributes
			}
			unequal = unequal || d != nil && (ended || attributes != nil)
			if live {
				if !ended {
					shapes.add(&sum)
				}
				return cells, nil
			}
		}
	}
	p, err := csvprofile.ReadRecords(ctx, "", names, next, o.Reading(0))
	if err != nil {
		return nil, err
	}
	if d != nil {
		d.note(p)
	}
	if unequal {
		p.Note("the .dbf file has another number of records than the .shp file")
	}
	if shapes.skipped > 0 {
		p.Note("%d geometries of more than %d MiB are left out", shapes.skipped, maxShape>>20)
	}
	if o.Each == nil {
		sum.Apply(p)
	}
	if !source.Declared(p) {
		return nil, nil
	}
	return []*csvprofile.Profile{p}, nil
}

// shapes reads the geometries of a shapefile.
type shapes struct {
	r       *bufio.Reader
	left    int64 // bytes of the file
	buf     []byte
	pen     source.Pen
	patch   bool // the present geometry is a surface in space, which has no text
	skipped int
}

func openShapes(in source.Input) (*shapes, error) {
	s := &shapes{r: bufio.NewReaderSize(io.NewSectionReader(in.Body, 0, in.Size), block), left: in.Size - 100}
	head := make([]byte, 100)
	if _, err := io.ReadFull(s.r, head); err != nil {
		return nil, cutOff(nil)
	}
	if binary.BigEndian.Uint32(head) != 9994 || binary.LittleEndian.Uint32(head[28:]) != 1000 {
		return nil, fmt.Errorf("%w: not a shapefile", source.ErrFormat)
	}
	return s, nil
}

var errShape = fmt.Errorf("%w: the shapefile is damaged", source.ErrFormat)

// next reads the next geometry, or returns io.EOF.
func (s *shapes) next() error {
	s.pen.Reset()
	s.patch = false
	var head [8]byte
	if s.left < 8 {
		return io.EOF
	}
	if _, err := io.ReadFull(s.r, head[:]); err != nil {
		return err
	}
	size := int64(binary.BigEndian.Uint32(head[4:])) * 2
	if s.left -= 8; size > s.left || size < 4 {
		return fmt.Errorf("%w: a record has %d bytes", errShape, size)
	}
	s.left -= size
	if size > maxShape {
		s.skipped++
		_, err := io.CopyN(io.Discard, s.r, size)
		return err
	}
	if int64(cap(s.buf)) < size {
		s.buf = make([]byte, size)
	}
	s.buf = s.buf[:size]
	if _, err := io.ReadFull(s.r, s.buf); err != nil {
		return err
	}
	return s.draw(s.buf)
}

// add adds the present geometry to a summary.
func (s *shapes) add(sum *source.Summary) {
	if s.patch {
		sum.AddBox("PolyhedralSurface", boxAt(s.buf[4:]))
		return
	}
	sum.Add(&s.pen)
}

func float(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

func boxAt(b []byte) geometry.Box {
	return geometry.Box{MinX: float(b), MinY: float(b[8:]), MaxX: float(b[16:]), MaxY: float(b[24:])}
}

// draw draws the geometry of a record. Measures (M) are left out.
func (s *shapes) draw(b []byte) error {
	kind := binary.LittleEndian.Uint32(b)
	b = b[4:]
	z := ""
	if kind > 10 && kind < 20 {
		z, kind = " Z", kind-10
	} else if kind > 20 && kind < 30 {
		kind -= 20
	}
	switch kind {
	case 0:
		return nil
	case 1:
		if len(b) < 16 || z != "" && len(b) < 24 {
			return errShape
		}
		s.pen.Word("POINT" + z)
		s.pen.Open()
		s.coord(b, z, 16)
		s.pen.Close()
		return nil
	case 8:
		return s.multipoint(b, z)
	case 3, 5:
		parts, zs, err := split(b, z != "")
		if err != nil || len(parts) == 0 {
			return err
		}
		if kind == 3 {
			s.lines("LINESTRING", z, parts, zs)
		} else {
			s.polygons(z, parts, zs)
		}
		return nil
	case 31:
		if len(b) < 32 {
			return errShape
		}
		s.patch = !math.IsNaN(float(b) + float(b[8:]) + float(b[16:]) + float(b[24:]))
		return nil
	}
	return fmt.Errorf("%w: a geometry of type %d", errShape, kind)
}

// coord draws the point at the beginning of b, with the height at an offset if there are heights.
func (s *shapes) coord(b []byte, z string, height int) {
	if z != "" {
		s.pen.Coord(float(b), float(b[8:]), float(b[height:]))
		return
	}
	s.pen.Coord(float(b), float(b[8:]))
}

func (s *shapes) multipoint(b []byte, z string) error {
	if len(b) < 36 {
		return errShape
	}
	n := int64(binary.LittleEndian.Uint32(b[32:]))
	b = b[36:]
	heights := 16*n + 16 // behind the points and the range of heights
	if n*16 > int64(len(b)) || z != "" && heights+8*n > int64(len(b)) {
		return errShape
	}
	if n == 0 {
		return nil
	}
	s.pen.Word("MULTIPOINT" + z)
	s.pen.Open()
	for i := range n {
		s.pen.Open()
		s.coord(b[16*i:], z, int(heights-16*i+8*i))
		s.pen.Close()
	}
	s.pen.Close()
	return nil
}

// part is a line or ring: the bytes of its points.
type part struct {
	points []byte
	first  int // number of its first point
}

// split returns the parts of a line or polygon, and the bytes of the heights of all points.
func split(b []byte, z bool) (parts []part, zs []byte, err error) {
	if len(b) < 40 {
		return nil, nil, errShape
	}
	n, points := int64(binary.LittleEndian.Uint32(b[32:])), int64(binary.LittleEndian.Uint32(b[36:]))
	if n*4+points*16 > int64(len(b)-40) {
		return nil, nil, errShape
	}
	index, b := b[40:40+4*n], b[40+4*n:]
	if z {
		if 16*points+16+8*points > int64(len(b)) {
			return nil, nil, errShape
		}
		zs = b[16*points+16:]
	}
	for i := range n {
		from, to := int64(binary.LittleEndian.Uint32(index[4*i:])), points
		if i+1 < n {
			to = int64(binary.LittleEndian.Uint32(index[4*i+4:]))
		}
		if from > to || to > points {
			return nil, nil, errShape
		}
		if from < to {
			parts = append(parts, part{b[16*from : 16*to], int(from)})
		}
	}
	return parts, zs, nil
}

// points draws the points of a part in brackets.
func (s *shapes) points(p part, z string, zs []byte) {
	s.pen.Open()
	for i := 0; i*16 < len(p.points); i++ {
		b := p.points[16*i:]
		if z != "" {
			s.pen.Coord(float(b), float(b[8:]), float(zs[8*(p.first+i):]))
			continue
		}
		s.pen.Coord(float(b), float(b[8:]))
	}
	s.pen.Close()
}

// lines draws one line, or several as a "MULTI" geometry.
func (s *shapes) lines(word, z string, parts []part, zs []byte) {
	if len(parts) == 1 {
		s.pen.Word(word + z)
		s.points(parts[0], z, zs)
		return
	}
	s.pen.Word("MULTI" + word + z)
	s.pen.Open()
	for _, p := range parts {
		s.points(p, z, zs)
	}
	s.pen.Close()
}

// polygons draws rings as polygons: rings that run clockwise are outer ones.
func (s *shapes) polygons(z string, parts []part, zs []byte) {
	groups := grouped(parts)
	if len(groups) > 1 {
		s.pen.Word("MULTIPOLYGON" + z)
		s.pen.Open()
	} else {
		s.pen.Word(strings.TrimSpace("POLYGON" + z))
	}
	for _, g := range groups {
		s.pen.Open()
		for _, ring := range g {
			s.points(ring, z, zs)
		}
		s.pen.Close()
	}
	if len(groups) > 1 {
		s.pen.Close()
	}
}
