package geometry

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/peterstace/simplefeatures/geom"
)

// element is an element of a GML or KML literal, by local names: the namespaces of both have changed with versions, and
// literals often leave them out.
type element struct {
	name     string
	attr     map[string]string
	text     strings.Builder
	children []*element
}

// readAttributes are the attributes that matter.
var readAttributes = []string{"srsName", "srsDimension", "decimal", "cs", "ts"}

const maxElements = 60_000 // of a literal

// parseXML reads a literal's only root element.
func parseXML(text string) (*element, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	var root *element
	var open []*element
	elements := 0
	for {
		t, err := d.RawToken() // prefixes need not be declared
		if err == io.EOF && root != nil && len(open) == 0 {
			return root, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSyntax, unexpected(err))
		}
		switch t := t.(type) {
		case xml.StartElement:
			e := &element{name: t.Name.Local}
			for _, a := range t.Attr {
				if slices.Contains(readAttributes, a.Name.Local) {
					if e.attr == nil {
						e.attr = map[string]string{}
					}
					e.attr[a.Name.Local] = a.Value
				}
			}
			if elements++; elements > maxElements {
				return nil, ErrLarge
			}
			switch {
			case len(open) > 0:
				in := open[len(open)-1]
				in.children = append(in.children, e)
			case root != nil:
				return nil, fmt.Errorf("%w: a second root element", ErrSyntax)
			default:
				root = e
			}
			if open = append(open, e); len(open) > maxNested {
				return nil, fmt.Errorf("%w: nested too deep", ErrSyntax)
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1].name != t.Name.Local {
				return nil, fmt.Errorf("%w: </%s> closes nothing", ErrSyntax, t.Name.Local)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text.Write(t)
			}
		}
	}
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// child returns the first child of one of the names, or nil.
func (e *element) child(names ...string) *element {
	for _, c := range e.children {
		for _, name := range names {
			if c.name == name {
				return c
			}
		}
	}
	return nil
}

// numbers reads numbers between spaces.
func numbers(text string) ([]float64, error) {
	words := strings.Fields(text)
	out := make([]float64, len(words))
	for i, w := range words {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %.40q is not a number", ErrSyntax, w)
		}
		out[i] = v
	}
	return out, nil
}

// tuples reads coordinates of which each is a tuple of numbers, as KML and GML 2 write them: "1,2 3,4".
func tuples(text, decimal, inTuple, between string) (geom.Sequence, error) {
	if between != "" && strings.TrimSpace(between) != "" {
		text = strings.ReplaceAll(text, between, " ")
	}
	var flat []float64
	size := 0
	for _, tuple := range strings.Fields(text) {
		parts := strings.Split(tuple, inTuple)
		if size == 0 {
			size = len(parts)
		}
		if len(parts) < 2 || len(parts) > 3 || len(parts) != size {
			return geom.Sequence{}, fmt.Errorf("%w: %.40q is not a coordinate", ErrSyntax, tuple)
		}
		for _, p := range parts {
			if decimal != "" && decimal != "." {
				p = strings.ReplaceAll(p, decimal, ".")
			}
			v, err := strconv.ParseFloat(p, 64)
			if err != nil {
				return geom.Sequence{}, fmt.Errorf("%w: %.40q is not a number", ErrSyntax, p)
			}
			flat = append(flat, v)
		}
	}
	return sequence(flat, max(size, 2))
}

// sequence returns coordinates of two or three numbers each.
func sequence(flat []float64, size int) (geom.Sequence, error) {
	if size < 2 || size > 3 || len(flat)%size != 0 {
		return geom.Sequence{}, fmt.Errorf("%w: %d numbers are not coordinates of %d", ErrSyntax, len(flat), size)
	}
	kind := geom.DimXY
	if size == 3 {
		kind = geom.DimXYZ
	}
	return geom.NewSequence(flat, kind), nil
}

// pointOf returns the point of a sequence of one coordinate, or the empty one.
func pointOf(c geom.Sequence) (geom.Geometry, error) {
	switch c.Length() {
	case 0:
		return geom.NewEmptyPoint(geom.DimXY).AsGeometry(), nil
	case 1:
		return geom.NewPoint(c.Get(0)).AsGeometry(), nil
	}
	return geom.Geometry{}, fmt.Errorf("%w: a point of %d coordinates", ErrSyntax, c.Length())
}

// together returns geometries as one: as a multi-geometry if all are points, lines or polygons.
func together(parts []geom.Geometry) geom.Geometry {
	var points []geom.Point
	var lines []geom.LineString
	var polygons []geom.Polygon
	for _, g := range parts {
		switch {
		case g.IsPoint():
			points = append(points, g.MustAsPoint())
		case g.IsLineString():
			lines = append(lines, g.MustAsLineString())
		case g.IsPolygon():
			polygons = append(polygons, g.MustAsPolygon())
		}
	}
	switch len(parts) {
	case 0:
	case len(points):
		return geom.NewMultiPoint(points).AsGeometry()
	case len(lines):
		return geom.NewMultiLineString(lines).AsGeometry()
	case len(polygons):
		return geom.NewMultiPolygon(polygons).AsGeometry()
	}
	return geom.NewGeometryCollection(parts).AsGeometry()
}

// errElement is the error for an element that no geometry has, or that this package does not read.
func errElement(e *element) error {
	return errors.Join(ErrSyntax, fmt.Errorf("the element %.60q is not read as a geometry", e.name))
}
