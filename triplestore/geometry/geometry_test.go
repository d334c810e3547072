package geometry_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"odarchive/triplestore/geometry"
	"odarchive/vocab"
)

func parse(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) *geometry.Geometry {
	t.Helper()
	g, err := geometry.Parse(text, vocab.GeoWKTLiteral)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return g
}

func FuzzParseOfALiteralNeitherPanicsNorChangesWhatItWrites(f *testing.F) {
	for _, s := range []string{
		"POINT(1 2)", "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(47 11)", "POLYGON((0 0, 1 0, 1 1, 0 0))",
		"GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(1 2, 3 4))",
		"MULTIPOLYGON(((0 0, 1 0, 1 1, 0 0)), EMPTY)", "POINT ZM(1 2 3 4)", "LINESTRING(1 2)", "POLYGON((0 0))", "", "<x>",
		`{"type":"Point","coordinates":[1,2]}`,
		`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}`, `{"type":"GeometryCollection","geometries":[]}`,
		`{"type":"MultiPoint","coordinates":[[1,2,3]]}`,
	} {
		f.Add(s, strings.HasPrefix(s, "{"))
	}
	other := parse(f, "POLYGON((0 0, 5 0, 5 5, 0 5, 0 0))")
	f.Fuzz(func(t *testing.T, text string, json bool) {
		datatype := vocab.GeoWKTLiteral
		if json {
			datatype = vocab.GeoGeoJSONLiteral
		}
		g, err := geometry.Parse(text, datatype)
		if err != nil {
			return
		}
		again, err := geometry.Parse(g.Literal())
		if err != nil {
			literal, _ := g.Literal()
			t.Fatalf("%q is written as %q: %v", text, literal, err)
		}
		if a, b := g.Bounds(), again.Bounds(); a != b && !a.Empty() {
			t.Fatalf("%q has the box %v, written and read again %v", text, a, b)
		}
		for _, name := range []string{"sfWithin", "sfIntersects", "ehMeet", "rcc8po", "sfEquals"} {
			geometry.Relates(name, g, other)
			geometry.Relates(name, other, g)
		}
		for _, name := range []string{"intersection", "union", "difference", "symDifference"} {
			geometry.Overlay(name, g, other)
		}
		geometry.Distance(g, other, geometry.Metre)
		for _, f := range []func() (*geometry.Geometry, error){g.ConvexHull, g.Envelope, g.Boundary, g.Centroid, g.Circle} {
			f()
		}
		g.Buffer(10, geometry.Metre)
		g.Area(geometry.Metre)
		g.Length(geometry.Metre)
		g.Simple()
		g.JSON()
		g.Heights()
		g.Part(1)
	})
}

func TestLiteralsThatAreTooLargeOrTooDeepAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("(", 1<<20),
		strings.Repeat("GEOMETRYCOLLECTION(", 1000) + "POINT(1 2)" + strings.Repeat(")", 1000)} {
		if _, err := geometry.Parse(text, vocab.GeoWKTLiteral); err == nil {
			t.Errorf("%.40q... was read", text)
		}
	}
	deep := strings.Repeat(`{"type":"GeometryCollection","geometries":[`, 1000) + strings.Repeat("]}", 1000)
	if _, err := geometry.Parse(deep, vocab.GeoGeoJSONLiteral); err == nil {
		t.Error("a deep GeoJSON literal was read")
	}
}

// Every point within a distance of a box lies in the boxes around it, also across the poles and the meridian of 180
// degrees.
func TestTheBoxesAroundABoxContainWhatIsNear(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		at := func() (x, y float64) { return r.Float64()*360 - 180, math.Asin(r.Float64()*2-1) * 180 / math.Pi }
		x, y := at()
		metres := math.Pow(10, r.Float64()*7)
		boxes := geometry.Box{MinX: x, MinY: y, MaxX: x, MaxY: y}.Around(metres)
		for range 50 {
			px, py := at()
			if r.IntN(2) == 0 { // near the border
				px, py = x+r.NormFloat64()*metres/1e5, max(-90, min(90, y+r.NormFloat64()*metres/1e5))
				px = math.Remainder(px, 360)
			}
			p, q := geometry.Point(x, y), geometry.Point(px, py)
			d, err := geometry.Distance(p, q, geometry.Metre)
			if err != nil || d > metres {
				continue
			}
			inside := false
			for _, b := range boxes {
				inside = inside || b.Meets(geometry.Box{MinX: px, MinY: py, MaxX: px, MaxY: py})
			}
			if !inside {
				t.Fatalf("(%v %v) is %v m from (%v %v), but not in %v", px, py, d, x, y, boxes)
			}
		}
	})
}

// A geometry with many edges is prepared; the answer must be that of the matrix.
func TestPreparedGeometriesRelateAsTheirMatrixSays(t *testing.T) {
	t.Parallel()
	patterns := map[string]string{"sfWithin": "T*F**F***", "sfContains": "T*****FF*", "sfDisjoint": "FF*FF****"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) *geometry.Geometry {
			n := rapid.IntRange(1, 9).Draw(t, label)
			x, y := float64(rapid.IntRange(0, 4).Draw(t, "x")), float64(rapid.IntRange(0, 4).Draw(t, "y"))
			if n == 1 {
				return geometry.Point(x, y)
			}
			g, err := geometry.Rectangle(geometry.Box{MinX: x, MinY: y, MaxX: x + float64(n), MaxY: y + float64(n)})
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		a, b := draw("a"), draw("b")
		for name, pattern := range patterns {
			got, err := geometry.Relates(name, a, b)
			if err != nil {
				t.Fatal(err)
			}
			if want, err := geometry.RelatesBy(pattern, a, b); err != nil || got != want {
				t.Fatalf("%s of %s and %s is %v, its pattern says %v (%v)", name, a.WKT(), b.WKT(), got, want, err)
			}
		}
	})
}
