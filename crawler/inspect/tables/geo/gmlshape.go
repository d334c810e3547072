package geo

import (
	"strconv"
	"strings"

	"odarchive/crawler/inspect/tables/crs"
)

// gmlGeometries are the elements of GML that are geometries.
var gmlGeometries = map[string]bool{
	"Point": true, "LineString": true, "LinearRing": true, "Polygon": true, "Curve": true, "Surface": true, "MultiPoint": true,
	"MultiLineString": true,
	"MultiCurve":      true, "MultiPolygon": true, "MultiSurface": true, "MultiGeometry": true, "CompositeCurve": true,
	"CompositeSurface": true,
	"OrientableCurve":  true, "OrientableSurface": true, "Envelope": true, "Box": true, "Solid": true, "MultiSolid": true,
	"CompositeSolid":    true,
	"PolyhedralSurface": true, "TriangulatedSurface": true, "Tin": true, "GeometricComplex": true, "RectifiedGrid": true, "Grid": true,
}

// gmlShape draws the first geometry of a feature.
type gmlShape struct {
	system string // srsName of the geometry, or of the document before there is one
	figure *figure
	unread int64 // geometries that could not be drawn
}

// take draws a geometry, unless the feature has one already.
func (s *gmlShape) take(e *element) {
	if s.figure != nil {
		return
	}
	system := s.system
	if own := gmlSystem(e, 0); own != "" {
		system = own
	}
	g := gmlDrawing{dims: 2, swapped: crs.NorthFirst(system)}
	f, ok := g.draw(e, 0, 0)
	if !ok {
		s.unread++
		return
	}
	f.flat()
	if len(f.parts) > 0 || len(f.kids) > 0 {
		s.figure, s.system = &f, system
	}
}

// gmlSystem returns the first srsName in a geometry.
func gmlSystem(e *element, depth int) string {
	if id := e.attr("srsName"); id != "" || depth > 4 {
		return id
	}
	for _, k := range e.kids {
		if id := gmlSystem(k, depth+1); id != "" {
			return id
		}
	}
	return ""
}

// gmlDrawing reads geometries with coordinates of one order.
type gmlDrawing struct {
	dims    int // of points, unless an element says otherwise
	swapped bool
}

// draw reads a geometry. It reports false for kinds that it does not know, such as arcs: half a geometry would be a
// wrong one.
func (g gmlDrawing) draw(e *element, dims, depth int) (figure, bool) {
	if depth > maxElements {
		return figure{}, false
	}
	if n, err := strconv.Atoi(e.attr("srsDimension")); err == nil {
		dims = n
	}
	switch e.name {
	case "Point":
		f := g.line("POINT", e, dims)
		return f, len(f.parts) > 0
	case "LineString", "LinearRing", "LineStringSegment", "GeodesicString", "Geodesic":
		f := g.line("LINESTRING", e, dims)
		return f, len(f.parts) > 0
	case "Polygon", "PolygonPatch", "Triangle", "Rectangle":
		return g.polygon(e, dims, depth)
	case "Envelope", "Box":
		return g.box(e, dims)
	case "OrientableCurve", "OrientableSurface":
		for _, k := range e.kids {
			if (k.name == "baseCurve" || k.name == "baseSurface") && len(k.kids) == 1 {
				return g.draw(k.kids[0], dims, depth+1)
			}
		}
		return figure{}, false
	case "Curve", "Surface", "PolyhedralSurface", "TriangulatedSurface", "Tin", "MultiPoint", "MultiLineString", "MultiCurve",
		"MultiPolygon", "MultiSurface",
		"MultiGeometry", "CompositeCurve", "CompositeSurface", "GeometricComplex", "Ring":
	default:
		return figure{}, false
	}
	var kids []figure
	for _, member := range e.kids {
		switch member.name {
		case "segments", "patches", "polygonPatches", "trianglePatches", "pointMember", "pointMembers", "lineStringMember", "curveMember",
			"curveMembers",
			"polygonMember", "surfaceMember", "surfaceMembers", "geometryMember", "geometryMembers", "element":
			for _, k := range member.kids {
				f, ok := g.draw(k, dims, depth+1)
				if !ok {
					return figure{}, false
				}
				kids = append(kids, f)
			}
		}
	}
	if len(kids) == 0 {
		return figure{}, false
	}
	if e.name == "Curve" || e.name == "Ring" || e.name == "CompositeCurve" {
		return joined(kids), true
	}
	return collection(kids), true
}

// joined returns lines as one, if each begins where the one before ends, or else as several.
func joined(lines []figure) figure {
	one := lines[0]
	for _, l := range lines[1:] {
		if one.word != "LINESTRING" || l.word != "LINESTRING" || l.dims != one.dims || len(one.parts) != 1 || len(l.parts) != 1 {
			return collection(lines)
		}
		before, after := one.parts[0], l.parts[0]
		for i := range one.dims {
			if len(before) < one.dims || len(after) < one.dims || before[len(before)-one.dims+i] != after[i] {
				return collection(lines)
			}
		}
		one.parts = [][]float64{append(before[:len(before):len(before)], after[one.dims:]...)}
	}
	return one
}

// polygon reads the rings of a polygon. It reports false if one of them is not a line of points.
func (g gmlDrawing) polygon(e *element, dims, depth int) (figure, bool) {
	f := figure{word: "POLYGON"}
	for _, outer := range []bool{true, false} {
		for _, k := range e.kids {
			isOuter, isInner := k.name == "exterior" || k.name == "outerBoundaryIs", k.name == "interior" || k.name == "innerBoundaryIs"
			if outer && !isOuter || !outer && !isInner {
				continue
			}
			for _, ring := range k.kids {
				r, ok := g.draw(ring, dims, depth+1)
				if !ok || r.word != "LINESTRING" || len(r.parts) != 1 || f.dims != 0 && r.dims != f.dims {
					return figure{}, false
				}
				f.dims = r.dims
				f.parts = append(f.parts, r.parts[0])
			}
		}
	}
	return f, len(f.parts) > 0
}

// box reads an envelope as the polygon that it is.
func (g gmlDrawing) box(e *element, dims int) (figure, bool) {
	var points []float64
	if low, high := e.kid("lowerCorner"), e.kid("upperCorner"); low != nil && high != nil {
		for _, corner := range []*element{low, high} {
			n, ok := g.numbers(corner.content(), dims, true)
			if !ok || len(n.parts[0]) < n.dims {
				return figure{}, false
			}
			points = append(points, n.parts[0][0], n.parts[0][1])
		}
	} else {
		l := g.line("LINESTRING", e, dims)
		if len(l.parts) != 1 || len(l.parts[0]) != 2*l.dims {
			return figure{}, false
		}
		points = []float64{l.parts[0][0], l.parts[0][1], l.parts[0][l.dims], l.parts[0][l.dims+1]}
	}
	x0, y0, x1, y1 := points[0], points[1], points[2], points[3]
	return figure{word: "POLYGON", dims: 2, parts: [][]float64{{x0, y0, x1, y0, x1, y1, x0, y1, x0, y0}}}, true
}

// line reads the points of an element: gml:pos, gml:posList, gml:coordinates, gml:coord, or points in it. The figure
// has no parts if there are none, or if they cannot be read.
func (g gmlDrawing) line(word string, e *element, dims int) figure {
	f := figure{word: word}
	var points []float64
	add := func(more figure, ok bool) bool {
		if !ok || f.dims != 0 && more.dims != f.dims {
			return false
		}
		f.dims = more.dims
		points = append(points, more.parts[0]...)
		return true
	}
	for _, k := range e.kids {
		own := dims
		if n, err := strconv.Atoi(k.attr("srsDimension")); err == nil {
			own = n
		}
		ok := true
		switch k.name {
		case "pos":
			ok = add(g.numbers(k.content(), own, true))
		case "posList":
			ok = add(g.numbers(k.content(), own, word == "POINT"))
		case "coordinates":
			ok = add(g.tuples(k))
		case "coord":
			ok = add(g.numbers(k.kid("X").content()+" "+k.kid("Y").content()+" "+k.kid("Z").content(), 0, true))
		case "pointProperty", "pointRep":
			if p := k.kid("Point"); p != nil {
				l := g.line("POINT", p, dims)
				ok = len(l.parts) == 1 && add(l, true)
			}
		}
		if !ok {
			return figure{word: word}
		}
	}
	if len(points) > 0 && (word != "POINT" || len(points) == f.dims) {
		f.parts = [][]float64{points}
	}
	return f
}

// numbers reads the numbers of points with dims each, 0 for as many as is usual: all of them if it is one point, or
// else 2. It reports false if they are not points.
func (g gmlDrawing) numbers(text string, dims int, point bool) (figure, bool) {
	words := strings.Fields(text)
	if dims == 0 {
		if dims = g.dims; point {
			dims = len(words)
		}
	}
	if dims < 2 || dims > 3 || len(words) == 0 || len(words)%dims != 0 {
		return figure{}, false
	}
	points := make([]float64, len(words))
	for i, w := range words {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return figure{}, false
		}
		points[i] = v
	}
	return g.ordered(points, dims), true
}

// ordered returns points with their eastings first.
func (g gmlDrawing) ordered(points []float64, dims int) figure {
	if g.swapped {
		for i := 0; i+1 < len(points); i += dims {
			points[i], points[i+1] = points[i+1], points[i]
		}
	}
	return figure{dims: dims, parts: [][]float64{points}}
}

// tuples reads gml:coordinates: "x,y x,y", with the separators that the element names.
func (g gmlDrawing) tuples(e *element) (figure, bool) {
	text := e.content()
	sep := func(name, usual string) string {
		if s := e.attr(name); s != "" {
			return s
		}
		return usual
	}
	decimal, within, between := sep("decimal", "."), sep("cs", ","), sep("ts", " ")
	var points []float64
	dims := 0
	tuples := strings.Fields(text)
	if strings.TrimSpace(between) != "" {
		tuples = strings.Split(text, between)
	}
	for _, tuple := range tuples {
		if tuple = strings.TrimSpace(tuple); tuple == "" {
			continue
		}
		n := 0
		for word := range strings.SplitSeq(tuple, within) {
			if decimal != "." {
				word = strings.Replace(word, decimal, ".", 1)
			}
			v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
			if err != nil {
				return figure{}, false
			}
			points = append(points, v)
			n++
		}
		if n < 2 || n > 3 || dims != 0 && n != dims {
			return figure{}, false
		}
		dims = n
	}
	if dims == 0 {
		return figure{}, false
	}
	return g.ordered(points, dims), true
}
