// Writes the geometries of rows as WKT, and counts and measures them for the profile of their table.
//
// A reader draws each geometry with a Pen: Word, Open, Coord and Close in the order of the text. A Summary adds up what
// the pen has drawn. Text and memory are bounded: of a geometry with a very long text, the cell has a description.

package source

import (
	"fmt"
	"hash"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/crs"
	"odarchive/triplestore/geometry"
)

// MaxText is the maximum length of a geometry's text, in bytes. The cell of a longer one has its kind, its number of
// points, and a hash of all coordinates, so that two versions differ if it does.
const MaxText = 256 << 10

// Pen draws one geometry after another. Its zero value is ready.
type Pen struct {
	text   []byte
	item   bool   // something precedes in the present list
	word   string // the first word
	points int64
	over   hash.Hash64 // of the text beyond MaxText; nil before
	box    geometry.Box
	some   bool // box is set
}

// Reset begins the next geometry.
func (p *Pen) Reset() { *p = Pen{text: p.text[:0]} }

func (p *Pen) write(s string) {
	if p.over != nil {
		p.over.Write([]byte(s))
		return
	}
	if p.text = append(p.text, s...); len(p.text) > MaxText {
		p.overflow()
	}
}

// overflow goes over from the text to its hash.
func (p *Pen) overflow() {
	p.over = xxhash.New()
	p.over.Write(p.text)
	p.text = p.text[:0]
}

func (p *Pen) comma() {
	if p.item {
		p.write(", ")
	}
	p.item = false
}

// Word writes the kind of a geometry: "POINT", "POLYGON Z". A bracket or "EMPTY" follows.
func (p *Pen) Word(kind string) {
	p.comma()
	if p.word == "" {
		p.word = kind
	}
	p.write(kind)
}

// Empty ends a geometry, or a part of one, without coordinates.
func (p *Pen) Empty() {
	p.comma()
	if len(p.text) > 0 && p.text[len(p.text)-1] != '(' && p.text[len(p.text)-1] != ' ' {
		p.write(" ")
	}
	p.write("EMPTY")
	p.item = true
}

// Open writes an opening bracket.
func (p *Pen) Open() { p.comma(); p.write("(") }

// Close writes a closing bracket.
func (p *Pen) Close() { p.write(")"); p.item = true }

// Coord writes a point: x and y, and then what more of z and m the kind has.
func (p *Pen) Coord(x, y float64, more ...float64) {
	p.comma()
	var buf [120]byte
	b := number(buf[:0], x)
	b = number(append(b, ' '), y)
	for _, v := range more {
		b = number(append(b, ' '), v)
	}
	if p.over != nil {
		p.over.Write(b)
	} else if p.text = append(p.text, b...); len(p.text) > MaxText {
		p.overflow()
	}
	p.item = true
	p.points++
	if math.IsNaN(x+y) || math.IsInf(x+y, 0) {
		return
	}
	if !p.some {
		p.box, p.some = geometry.Box{MinX: x, MinY: y, MaxX: x, MaxY: y}, true
		return
	}
	p.box = p.box.With(x, y)
}

// number appends a number as short as it can be read back. Large and small ones have an exponent, as WKT allows.
func number(b []byte, v float64) []byte {
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e15) {
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// Text returns the geometry, "" if nothing was drawn.
func (p *Pen) Text() string {
	if p.over != nil {
		return fmt.Sprintf("%s of %d points, xxh64 %016x", p.word, p.points, p.over.Sum64())
	}
	return string(p.text)
}

// Box returns the box around the geometry; ok is false if it has no points.
func (p *Pen) Box() (b geometry.Box, ok bool) { return p.box, p.some }

// kinds are the kinds of geometries as GeoSPARQL's simple features name them.
var kinds = map[string]string{
	"POINT": "Point", "LINESTRING": "LineString", "POLYGON": "Polygon", "MULTIPOINT": "MultiPoint", "MULTILINESTRING": "MultiLineString",
	"MULTIPOLYGON": "MultiPolygon", "GEOMETRYCOLLECTION": "GeometryCollection", "CIRCULARSTRING": "CircularString",
	"COMPOUNDCURVE": "CompoundCurve", "CURVEPOLYGON": "CurvePolygon", "MULTICURVE": "MultiCurve", "MULTISURFACE": "MultiSurface",
	"POLYHEDRALSURFACE": "PolyhedralSurface", "TIN": "TIN", "TRIANGLE": "Triangle",
}

// Summary adds up the geometries of a table.
type Summary struct {
	System crs.System
	Column string // of the table that has them; "" if none has

	types map[string]int64
	count int64
	box   geometry.Box
}

// Add adds what the pen has drawn. A geometry without points counts as none.
func (s *Summary) Add(p *Pen) {
	if b, ok := p.Box(); ok {
		word, _, _ := strings.Cut(p.word, " ")
		s.AddBox(kinds[word], b)
	}
}

// AddBox adds a geometry of a kind ("Point") by the box around it.
func (s *Summary) AddBox(kind string, b geometry.Box) {
	if s.types == nil {
		s.types = map[string]int64{}
		s.box = b
	}
	if kind != "" {
		s.types[kind]++
	}
	s.count++
	s.box = s.box.Or(b)
}

// InDegrees reports whether all coordinates may be longitudes and latitudes.
func (s *Summary) InDegrees() bool {
	return s.count == 0 || s.box.MinX >= -180 && s.box.MaxX <= 180 && s.box.MinY >= -90 && s.box.MaxY <= 90
}

// Count returns the number of geometries.
func (s *Summary) Count() int64 { return s.count }

// Apply adds the summary to a table's profile, nil for none.
func (s *Summary) Apply(p *csvprofile.Profile) {
	if p == nil {
		return
	}
	g := csvprofile.Geometry{CRS: s.System.IRI, System: s.System.Name, Count: s.count}
	if slices.ContainsFunc(p.Columns, func(c csvprofile.Column) bool { return c.Name == s.Column }) {
		g.Column = s.Column
	}
	for kind, n := range s.types {
		g.Types = append(g.Types, csvprofile.Count{Value: kind, Count: n})
	}
	var degrees *geometry.Box
	if s.count > 0 {
		g.Bounds = &[4]float64{s.box.MinX, s.box.MinY, s.box.MaxX, s.box.MaxY}
		if b, ok := s.System.Degrees(s.box); ok {
			degrees = &b
		}
	}
	p.SetGeometry(g, degrees)
}
