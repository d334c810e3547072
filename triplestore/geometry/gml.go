package geometry

import (
	"strconv"
	"strings"

	"github.com/peterstace/simplefeatures/geom"
)

// parseGML reads a gmlLiteral: an element of GML 2 or 3 (simple features, envelopes, and curves and surfaces that are
// made of straight lines). Without srsName its coordinates are longitude and latitude.
func parseGML(text string) (*Geometry, error) {
	if strings.TrimSpace(text) == "" { // the empty geometry (GeoSPARQL 1.1 §8.8.3)
		return newGeometry(geom.GeometryCollection{}.AsGeometry(), CRS84, false)
	}
	root, err := parseXML(text)
	if err != nil {
		return nil, err
	}
	system := gmlSystem(root)
	g, err := guard(func() (geom.Geometry, error) { return gmlGeometry(root, 0) })
	if err != nil {
		return nil, err
	}
	if latitudeFirst(system) {
		g = swap(g)
	}
	return newGeometry(g, system, false)
}

// gmlSystem returns the reference system of an element, or of the first one inside it that names one.
func gmlSystem(e *element) string {
	if name := strings.TrimSpace(e.attr["srsName"]); name != "" {
		if oldGMLNames[strings.ToLower(name)] {
			return CRS84
		}
		return canonicalSystem(name)
	}
	for _, c := range e.children {
		if s := gmlSystem(c); s != CRS84 {
			return s
		}
	}
	return CRS84
}

// oldGMLNames are names of EPSG:4326 that programs write before longitudes and latitudes, in this order.
var oldGMLNames = map[string]bool{"epsg:4326": true, "http://www.opengis.net/gml/srs/epsg.xml#4326": true}

// gmlGeometry reads an element. size is the number of coordinates of a position that an element around it declares, or
// 0.
func gmlGeometry(e *element, size int) (g geom.Geometry, err error) {
	size = gmlSize(e, size)
	switch e.name {
	case "Point":
		c, err := gmlCoordinates(e, size)
		if err != nil {
			return g, err
		}
		return pointOf(c)
	case "LineString", "LinearRing", "LineStringSegment", "Curve", "Ring", "CompositeCurve":
		line, err := gmlLine(e, size)
		return line.AsGeometry(), err
	case "Polygon", "PolygonPatch", "Triangle", "Rectangle":
		p, err := gmlPolygon(e, size)
		return p.AsGeometry(), err
	case "Envelope", "Box":
		return gmlEnvelope(e, size)
	case "MultiPoint", "MultiLineString", "MultiCurve", "MultiPolygon", "MultiSurface", "MultiGeometry", "Surface", "CompositeSurface":
		parts, err := gmlParts(e, size)
		if err == nil && len(parts) == 1 && (e.name == "Surface" || e.name == "CompositeSurface") {
			return parts[0], nil
		}
		return together(parts), err
	}
	return g, errElement(e)
}

func gmlSize(e *element, size int) int {
	if n, err := strconv.Atoi(strings.TrimSpace(e.attr["srsDimension"])); err == nil {
		return n
	}
	return size
}

// gmlMembers are the elements around the parts of a geometry.
var gmlMembers = map[string]bool{"pointMember": true, "pointMembers": true, "lineStringMember": true, "curveMember": true,
	"curveMembers":  true,
	"polygonMember": true, "surfaceMember": true, "surfaceMembers": true, "geometryMember": true, "geometryMembers": true, "patches": true}

func gmlParts(e *element, size int) (parts []geom.Geometry, err error) {
	for _, member := range e.children {
		if !gmlMembers[member.name] {
			continue // names, descriptions
		}
		for _, c := range member.children {
			g, err := gmlGeometry(c, size)
			if err != nil {
				return nil, err
			}
			parts = append(parts, g)
		}
	}
	return parts, nil
}

// gmlLine reads a line: of positions, or of segments and curves, of which each begins where the last ends.
func gmlLine(e *element, size int) (geom.LineString, error) {
	var inner []*element
	for _, c := range e.children {
		if c.name == "segments" || c.name == "curveMember" {
			inner = append(inner, c.children...)
		}
	}
	if len(inner) == 0 {
		c, err := gmlCoordinates(e, size)
		return geom.NewLineString(c), err
	}
	var flat []float64
	var kind geom.CoordinatesType
	for i, c := range inner {
		switch c.name {
		case "LineStringSegment", "LineString", "Curve", "LinearRing":
		default: // arcs and splines are not lines
			return geom.LineString{}, errElement(c)
		}
		line, err := gmlLine(c, gmlSize(c, size))
		if err != nil {
			return line, err
		}
		at := line.Coordinates()
		if i == 0 {
			kind = at.CoordinatesType()
		}
		at = at.ForceCoordinatesType(kind)
		for j := range at.Length() {
			p := at.Get(j)
			if d := kind.Dimension(); j == 0 && len(flat) >= d && flat[len(flat)-d] == p.X && flat[len(flat)-d+1] == p.Y {
				continue
			}
			flat = append(flat, p.X, p.Y)
			if kind.Is3D() {
				flat = append(flat, p.Z)
			}
		}
	}
	seq, err := sequence(flat, kind.Dimension())
	return geom.NewLineString(seq), err
}

func gmlPolygon(e *element, size int) (p geom.Polygon, err error) {
	var rings []geom.LineString
	for _, names := range [][]string{{"exterior", "outerBoundaryIs"}, {"interior", "innerBoundaryIs"}} {
		for _, border := range e.children {
			if border.name != names[0] && border.name != names[1] {
				continue
			}
			for _, c := range border.children {
				if c.name != "LinearRing" && c.name != "Ring" {
					return p, errElement(c)
				}
				ring, err := gmlLine(c, gmlSize(c, size))
				if err != nil {
					return p, err
				}
				rings = append(rings, ring)
			}
		}
	}
	return geom.NewPolygon(rings), nil
}

func gmlEnvelope(e *element, size int) (g geom.Geometry, err error) {
	c, err := gmlCoordinates(e, size)
	if err != nil {
		return g, err
	}
	if c.Length() != 2 {
		return g, errElement(e)
	}
	return geom.NewEnvelope(c.GetXY(0), c.GetXY(1)).AsGeometry(), nil
}

// gmlCoordinates reads the positions of an element, in any of the ways that GML has had.
func gmlCoordinates(e *element, size int) (geom.Sequence, error) {
	var flat []float64
	for _, c := range e.children {
		n := gmlSize(c, size)
		switch c.name {
		case "coordinates":
			decimal, inTuple, between := c.attr["decimal"], c.attr["cs"], c.attr["ts"]
			if inTuple == "" {
				inTuple = ","
			}
			return tuples(c.text.String(), decimal, inTuple, between)
		case "posList":
			at, err := numbers(c.text.String())
			if err != nil {
				return geom.Sequence{}, err
			}
			return sequence(at, max(n, 2))
		case "pos", "lowerCorner", "upperCorner":
			at, err := numbers(c.text.String())
			if err != nil {
				return geom.Sequence{}, err
			}
			if n == 0 {
				n = len(at)
			}
			size, flat = n, append(flat, at...)
		case "coord":
			n = 0
			for _, axis := range []string{"X", "Y", "Z"} {
				if v := c.child(axis); v != nil {
					at, err := numbers(v.text.String())
					if err != nil {
						return geom.Sequence{}, err
					}
					n, flat = n+1, append(flat, at...)
				}
			}
			size = n
		case "pointProperty", "pointRep":
			if p := c.child("Point"); p != nil {
				at, err := gmlCoordinates(p, gmlSize(p, n))
				if err != nil {
					return at, err
				}
				for i := range at.Length() {
					flat = append(flat, at.GetXY(i).X, at.GetXY(i).Y)
				}
				size = 2
			}
		}
	}
	if len(flat) == 0 {
		size = 2
	}
	return sequence(flat, size)
}
