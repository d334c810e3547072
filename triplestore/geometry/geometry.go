// Package geometry computes what GeoSPARQL 1.1 asks of geometries: it reads and writes their literals, relates two of
// them, measures them and makes new ones.
//
// A Geometry is parsed from a wktLiteral, geoJSONLiteral, gmlLiteral or kmlLiteral. Its coordinates are x and y of its
// reference system; longitude and latitude for the geographic ones, whatever order the literal has them in. Two
// geometries can be compared if both are geographic or both name the same other system. Geometries are shared and never
// change.
//
// Literals come from strangers. Their size is bounded, and so is that of geometries whose relation or overlay is
// computed. A panic of the geometry library becomes an error.
package geometry

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/peterstace/simplefeatures/geom"

	"odarchive/vocab"
)

// Reference systems. CRS84 is that of a wktLiteral without an IRI, and of every geoJSONLiteral.
const (
	CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
	// EPSG4326 has the latitude before the longitude.
	EPSG4326 = "http://www.opengis.net/def/crs/EPSG/0/4326"
	// EPSG3857 is the Mercator projection of web maps.
	EPSG3857 = "http://www.opengis.net/def/crs/EPSG/0/3857"
)

// Limits of what is read and computed.
const (
	MaxText   = 512 << 10 // bytes of a literal
	maxRelate = 200_000   // coordinates of both geometries together
	maxMake   = 50_000    // coordinates of the geometries from which a new one is made
	maxNested = 64        // collections within collections
)

// Errors that callers may test for.
var (
	ErrSyntax  = errors.New("not a geometry")
	ErrSystems = errors.New("geometries of different reference systems")
	ErrLarge   = errors.New("the geometry has too many coordinates")
	ErrUnit    = errors.New("unknown unit, or one that does not fit the reference system")
)

// Geometry is a geometry in a reference system. Its methods may be called concurrently.
type Geometry struct {
	g      geom.Geometry
	system string // IRI
	json   bool   // was a geoJSONLiteral
	bounds Box
	points int

	once     sync.Once
	prepared geom.PreparedGeometry // valid if ready; set by prepare
	ready    bool
}

// Parse reads a literal of a datatype that IsDatatype accepts.
func Parse(text, datatype string) (*Geometry, error) {
	if len(text) > MaxText {
		return nil, ErrLarge
	}
	switch datatype {
	case vocab.GeoWKTLiteral:
		return parseWKT(text)
	case vocab.GeoGeoJSONLiteral, vocab.GeoGeoJSONType:
		return parseJSON(text)
	case vocab.GeoGMLLiteral:
		return parseGML(text)
	case vocab.GeoKMLLiteral:
		return parseKML(text)
	}
	return nil, fmt.Errorf("%w: datatype <%s>", ErrSyntax, datatype)
}

// IsDatatype reports whether literals of a datatype are geometries.
func IsDatatype(iri string) bool {
	switch iri {
	case vocab.GeoWKTLiteral, vocab.GeoGeoJSONLiteral, vocab.GeoGeoJSONType, vocab.GeoGMLLiteral, vocab.GeoKMLLiteral:
		return true
	}
	return false
}

func parseWKT(text string) (*Geometry, error) {
	system := CRS84
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "<"); ok {
		iri, wkt, ok := strings.Cut(rest, ">")
		if !ok || iri == "" || strings.ContainsAny(iri, " \t\r\n<\"") {
			return nil, fmt.Errorf("%w: the IRI of the reference system has no end", ErrSyntax)
		}
		system, text = canonicalSystem(iri), strings.TrimSpace(wkt)
	}
	if text == "" { // the empty geometry (GeoSPARQL 1.1 §8.8.1)
		return newGeometry(geom.GeometryCollection{}.AsGeometry(), system, false)
	}
	if tooDeep(text, '(', ')') {
		return nil, fmt.Errorf("%w: nested too deep", ErrSyntax)
	}
	g, err := guard(func() (geom.Geometry, error) { return geom.UnmarshalWKT(text, geom.NoValidate{}) })
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	if latitudeFirst(system) {
		g = swap(g)
	}
	return newGeometry(g, system, false)
}

func parseJSON(text string) (*Geometry, error) {
	if tooDeep(text, '{', '}') || tooDeep(text, '[', ']') {
		return nil, fmt.Errorf("%w: nested too deep", ErrSyntax)
	}
	g, err := guard(func() (geom.Geometry, error) { return geom.UnmarshalGeoJSON([]byte(text), geom.NoValidate{}) })
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	return newGeometry(g, CRS84, true)
}

// tooDeep reports whether brackets are nested deeper than any literal needs.
func tooDeep(text string, opening, closing byte) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case opening:
			if depth++; depth > maxNested {
				return true
			}
		case closing:
			depth--
		}
	}
	return false
}

// newGeometry measures a geometry, whose coordinates must be numbers.
func newGeometry(g geom.Geometry, system string, json bool) (*Geometry, error) {
	out := &Geometry{g: g, system: system, json: json, bounds: emptyBox}
	_, err := guard(func() (struct{}, error) {
		var err error
		if g, err = mended(g); err != nil {
			return struct{}{}, err
		}
		out.g = g
		c := g.DumpCoordinates()
		out.points = c.Length()
		for i := range out.points {
			p := c.GetXY(i)
			if math.IsNaN(p.X+p.Y) || math.IsInf(p.X, 0) || math.IsInf(p.Y, 0) {
				return struct{}{}, fmt.Errorf("%w: a coordinate is not a number", ErrSyntax)
			}
			out.bounds = out.bounds.With(p.X, p.Y)
		}
		return struct{}{}, nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// guard calls f and turns a panic into an error: the library assumes valid geometries, which a literal may not hold.
func guard[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("geometry: %v", r)
		}
	}()
	return f()
}

// System returns the IRI of the reference system.
func (g *Geometry) System() string { return g.system }

// Bounds returns the box around the geometry, with longitude as x if it is geographic.
func (g *Geometry) Bounds() Box { return g.bounds }

// Geographic reports whether the coordinates are longitude and latitude on WGS 84.
func (g *Geometry) Geographic() bool { return geographic(g.system) }

// Literal returns the text and datatype of the literal of g: GeoJSON if it was read from GeoJSON, else WKT, with the
// IRI of the reference system unless that is the default.
func (g *Geometry) Literal() (text, datatype string) {
	if g.json && g.Geographic() {
		if text, ok := g.JSON(); ok {
			return text, vocab.GeoGeoJSONLiteral
		}
	}
	return g.WKT(), vocab.GeoWKTLiteral
}

// WKT returns the text of the wktLiteral.
func (g *Geometry) WKT() string {
	if g.system == CRS84 {
		return g.g.AsText()
	}
	out := g.g
	if latitudeFirst(g.system) {
		out = swap(out)
	}
	return "<" + g.system + "> " + out.AsText()
}

// JSON returns the text of the geoJSONLiteral. ok is false if the reference system has none.
func (g *Geometry) JSON() (text string, ok bool) {
	w, err := g.Transform(CRS84)
	if err != nil {
		return "", false
	}
	b, err := guard(func() ([]byte, error) { return w.g.MarshalJSON() })
	return string(b), err == nil
}

// like returns a geometry computed from g, in its reference system and syntax.
func (g *Geometry) like(made geom.Geometry) (*Geometry, error) {
	return newGeometry(made, g.system, g.json)
}

// Point returns the point at a longitude and latitude.
func Point(lon, lat float64) *Geometry {
	g, err := newGeometry(geom.XY{X: lon, Y: lat}.AsPoint().AsGeometry(), CRS84, false)
	if err != nil { // not a number
		g = &Geometry{system: CRS84, bounds: emptyBox}
	}
	return g
}

// Rectangle returns a box of longitudes and latitudes as a geometry.
func Rectangle(b Box) (*Geometry, error) {
	return newGeometry(geom.NewEnvelope(geom.XY{X: b.MinX, Y: b.MinY}, geom.XY{X: b.MaxX, Y: b.MaxY}).AsGeometry(), CRS84, false)
}
