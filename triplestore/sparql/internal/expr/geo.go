package expr

import (
	"strconv"
	"strings"

	"odarchive/triplestore/geometry"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
	"odarchive/vocab"
)

// IsExtension reports whether an IRI names a function that is neither a built-in nor a cast: those of GeoSPARQL.
func IsExtension(iri string) bool {
	name, ok := strings.CutPrefix(iri, vocab.GeoFunctionNS)
	if !ok {
		return false
	}
	_, known := geoFunctions[name]
	return known || geometry.IsRelation(name)
}

// geoFunction is a function of GeoSPARQL 1.1 §8 and §9. Its first arguments are geometries; rest are the others.
type geoFunction struct {
	geometries, rest int
	f                func(g []*geometry.Geometry, rest []Value) Value
}

// geo compiles a call of a GeoSPARQL function. done is false for other functions.
func (c *compiler) geo(e algebra.Call) (f Func, done bool, err error) {
	if !IsExtension(e.Func) {
		return nil, false, nil
	}
	name := strings.TrimPrefix(e.Func, vocab.GeoFunctionNS)
	fn, known := geoFunctions[name]
	if !known {
		fn = geoFunction{2, 0, func(g []*geometry.Geometry, _ []Value) Value {
			holds, err := geometry.Relates(name, g[0], g[1])
			return boolOK(holds, err == nil)
		}}
	}
	args, err := c.all(e.Args)
	if err != nil {
		return nil, true, err
	}
	if len(args) != fn.geometries+fn.rest {
		return constant(errValue), true, nil // as a call with arguments of other types
	}
	caches := make([]geoCache, fn.geometries)
	gs, rest := make([]*geometry.Geometry, fn.geometries), make([]Value, fn.rest)
	return func(env *Env) Value {
		for i := range caches {
			if gs[i] = caches[i].get(args[i](env)); gs[i] == nil {
				return errValue
			}
		}
		for i := range rest {
			if rest[i] = args[fn.geometries+i](env); rest[i].IsErr() {
				return errValue
			}
		}
		return fn.f(gs, rest)
	}, true, nil
}

// geoCache holds geometries that one argument of one call was, by text, so that the same literal in many rows is parsed
// once. It belongs to one goroutine.
type geoCache struct {
	byText   map[string]*geometry.Geometry // nil: not a geometry
	datatype string                        // of all of them
	bytes    int
}

const (
	geoCacheBytes = 8 << 20
	geoCacheEntry = 256 // bytes added for each
)

// get returns the geometry of a literal, or nil.
func (c *geoCache) get(v Value) *geometry.Geometry {
	if v.kind != Other || !geometry.IsDatatype(v.t) {
		return nil
	}
	if g, ok := c.byText[v.s]; ok && v.t == c.datatype {
		return g
	}
	g, err := geometry.Parse(v.s, v.t)
	if err != nil {
		g = nil
	}
	if v.t != c.datatype { // mostly all literals of an argument are of one datatype
		c.byText, c.datatype = nil, v.t
	}
	if c.bytes += 4*len(v.s) + geoCacheEntry; c.bytes > geoCacheBytes || c.byText == nil {
		c.byText, c.bytes = map[string]*geometry.Geometry{}, 4*len(v.s)+geoCacheEntry
	}
	c.byText[v.s] = g
	return g
}

func geoValue(g *geometry.Geometry, err error) Value {
	if err != nil || g == nil {
		return errValue
	}
	text, datatype := g.Literal()
	if len(text) > geometry.MaxText {
		return errValue
	}
	return FromKey(term.Typed(text, datatype))
}

func geoNumber(v float64, err error) Value {
	if err != nil {
		return errValue
	}
	return newXSD(xsdval.NewDouble(v))
}

// unitIRI returns the IRI of a unit, which may be an xsd:anyURI or a string too.
func unitIRI(v Value) string {
	if v.kind == IRI || v.kind == Str || v.kind == Other && v.t == vocab.XSDAnyURI {
		return v.s
	}
	return ""
}

func number(v Value) (float64, bool) {
	if !v.isNumeric() {
		return 0, false
	}
	return v.x.Float64(), true
}

func make1(f func(*geometry.Geometry) (*geometry.Geometry, error)) geoFunction {
	return geoFunction{1, 0, func(g []*geometry.Geometry, _ []Value) Value { return geoValue(f(g[0])) }}
}

func overlay(name string) geoFunction {
	return geoFunction{2, 0, func(g []*geometry.Geometry, _ []Value) Value { return geoValue(geometry.Overlay(name, g[0], g[1])) }}
}

func ask(f func(*geometry.Geometry) bool) geoFunction {
	return geoFunction{1, 0, func(g []*geometry.Geometry, _ []Value) Value { return NewBool(f(g[0])) }}
}

func countOf(f func(*geometry.Geometry) int) geoFunction {
	return geoFunction{1, 0, func(g []*geometry.Geometry, _ []Value) Value { return NewInt(int64(f(g[0]))) }}
}

// measure is a function with a unit, and metric the same in metres.
func measure(f func(*geometry.Geometry, string) (float64, error)) geoFunction {
	return geoFunction{1, 1, func(g []*geometry.Geometry, rest []Value) Value { return geoNumber(f(g[0], unitIRI(rest[0]))) }}
}

func metric(f func(*geometry.Geometry, string) (float64, error)) geoFunction {
	return geoFunction{1, 0, func(g []*geometry.Geometry, _ []Value) Value { return geoNumber(f(g[0], geometry.Metre)) }}
}

func buffer(g *geometry.Geometry, radius Value, unit string) Value {
	r, ok := number(radius)
	if !ok {
		return errValue
	}
	return geoValue(g.Buffer(r, unit))
}

// bound returns a function of one side of the box around a geometry.
func bound(side func(geometry.Box) float64) geoFunction {
	return geoFunction{1, 0, func(g []*geometry.Geometry, _ []Value) Value {
		if g[0].Empty() {
			return errValue
		}
		return geoNumber(side(g[0].Bounds()), nil)
	}}
}

func height(highest bool) geoFunction {
	return geoFunction{1, 0, func(g []*geometry.Geometry, _ []Value) Value {
		low, high, ok := g[0].Heights()
		switch {
		case !ok:
			return errValue
		case highest:
			return geoNumber(high, nil)
		}
		return geoNumber(low, nil)
	}}
}

// The local names of functions that only the planner calls: no query can write them as prefixed names. They make a
// geometry of a latitude and a longitude, and of a property of GeoRSS and its value.
const (
	MakePoint  = ".point"
	MakeGeoRSS = ".georss"
)

// degrees returns a number that may also be a string, as in much data.
func degrees(v Value) (float64, bool) {
	if v.kind == Str {
		f, err := strconv.ParseFloat(strings.TrimSpace(v.s), 64)
		return f, err == nil
	}
	return number(v)
}

func wktValue(wkt string, ok bool) Value {
	if !ok {
		return errValue
	}
	return FromKey(term.Typed(wkt, vocab.GeoWKTLiteral))
}

// geoFunctions by local name; the topological relations are those of package geometry.
var geoFunctions = map[string]geoFunction{
	MakePoint: {0, 2, func(_ []*geometry.Geometry, rest []Value) Value {
		lat, ok := degrees(rest[0])
		long, ok2 := degrees(rest[1])
		if !ok || !ok2 {
			return errValue
		}
		return wktValue(geometry.At(lat, long))
	}},
	MakeGeoRSS: {0, 2, func(_ []*geometry.Geometry, rest []Value) Value {
		if rest[0].kind != IRI || rest[1].kind != Str {
			return errValue
		}
		return wktValue(geometry.FromGeoRSS(rest[0].s, rest[1].s))
	}},
	"distance": {2, 1, func(g []*geometry.Geometry, rest []Value) Value {
		return geoNumber(geometry.Distance(g[0], g[1], unitIRI(rest[0])))
	}},
	"metricDistance": {2, 0, func(g []*geometry.Geometry, _ []Value) Value {
		return geoNumber(geometry.Distance(g[0], g[1], geometry.Metre))
	}},
	"buffer": {1, 2, func(g []*geometry.Geometry, rest []Value) Value { return buffer(g[0], rest[0], unitIRI(rest[1])) }},
	"metricBuffer": {1, 1, func(g []*geometry.Geometry, rest []Value) Value {
		return buffer(g[0], rest[0], geometry.Metre)
	}},
	"intersection":    overlay("intersection"),
	"union":           overlay("union"),
	"difference":      overlay("difference"),
	"symDifference":   overlay("symDifference"),
	"convexHull":      make1((*geometry.Geometry).ConvexHull),
	"envelope":        make1((*geometry.Geometry).Envelope),
	"boundary":        make1((*geometry.Geometry).Boundary),
	"centroid":        make1((*geometry.Geometry).Centroid),
	"boundingCircle":  make1((*geometry.Geometry).Circle),
	"area":            measure((*geometry.Geometry).Area),
	"metricArea":      metric((*geometry.Geometry).Area),
	"length":          measure((*geometry.Geometry).Length),
	"metricLength":    metric((*geometry.Geometry).Length),
	"perimeter":       measure((*geometry.Geometry).Perimeter),
	"metricPerimeter": metric((*geometry.Geometry).Perimeter),

	"dimension":           countOf((*geometry.Geometry).Dimension),
	"coordinateDimension": countOf((*geometry.Geometry).CoordinateDimension),
	"spatialDimension":    countOf((*geometry.Geometry).SpatialDimension),
	"numGeometries":       countOf((*geometry.Geometry).Parts),
	"isEmpty":             ask((*geometry.Geometry).Empty),
	"is3D":                ask(func(g *geometry.Geometry) bool { return g.SpatialDimension() == 3 }),
	"isMeasured":          ask((*geometry.Geometry).Measured),
	"isSimple": {1, 0, func(g []*geometry.Geometry, _ []Value) Value {
		simple, err := g[0].Simple()
		return boolOK(simple, err == nil)
	}},
	"geometryType": {1, 0, func(g []*geometry.Geometry, _ []Value) Value { return newIRI(vocab.GeoSimpleNS + g[0].Type()) }},
	"geometryN": {1, 1, func(g []*geometry.Geometry, rest []Value) Value {
		n, ok := number(rest[0])
		if !ok || n != float64(int(n)) {
			return errValue
		}
		part, ok := g[0].Part(int(n))
		if !ok {
			return errValue
		}
		return geoValue(part, nil)
	}},
	"minX": bound(func(b geometry.Box) float64 { return b.MinX }),
	"minY": bound(func(b geometry.Box) float64 { return b.MinY }),
	"maxX": bound(func(b geometry.Box) float64 { return b.MaxX }),
	"maxY": bound(func(b geometry.Box) float64 { return b.MaxY }),
	"minZ": height(false),
	"maxZ": height(true),

	"relate": {2, 1, func(g []*geometry.Geometry, rest []Value) Value {
		if rest[0].kind != Str {
			return errValue
		}
		holds, err := geometry.RelatesBy(rest[0].s, g[0], g[1])
		return boolOK(holds, err == nil)
	}},
	"getSRID": {1, 0, func(g []*geometry.Geometry, _ []Value) Value {
		return FromKey(term.Typed(g[0].System(), vocab.XSDAnyURI))
	}},
	"transform": {1, 1, func(g []*geometry.Geometry, rest []Value) Value { return geoValue(g[0].Transform(unitIRI(rest[0]))) }},
	"asWKT": {1, 0, func(g []*geometry.Geometry, _ []Value) Value {
		return FromKey(term.Typed(g[0].WKT(), vocab.GeoWKTLiteral))
	}},
	"asGeoJSON": {1, 0, func(g []*geometry.Geometry, _ []Value) Value {
		text, ok := g[0].JSON()
		if !ok {
			return errValue
		}
		return FromKey(term.Typed(text, vocab.GeoGeoJSONLiteral))
	}},
}
