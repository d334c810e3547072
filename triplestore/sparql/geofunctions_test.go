package sparql_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
)

const geoPrefixes = `PREFIX geo: <http://www.opengis.net/ont/geosparql#> PREFIX geof: <http://www.opengis.net/def/function/geosparql/>
PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/> PREFIX unit: <http://qudt.org/vocab/unit/> PREFIX sf: <http://www.opengis.net/ont/sf#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
`

// wkt writes {WKT} as a literal.
func wkt(text string) string {
	return strings.NewReplacer("{", `"`, "}", `"^^geo:wktLiteral`).Replace(text)
}

// evaluate returns the lexical form of an expression's value, or "error".
func evaluate(t *testing.T, e *sparql.Engine, expression string) string {
	t.Helper()
	out := ask(t, e, naive.New().Snapshot(), geoPrefixes+"SELECT ?v { BIND("+wkt(expression)+" AS ?v) }", sparql.QueryOptions{})
	if len(out.Rows) != 1 || out.Rows[0][0] == "" {
		return "error"
	}
	return out.Rows[0][0].Value()
}

func TestFunctionsOfGeoSPARQLHaveTheValuesOfItsDefinitions(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	const (
		unit   = "{POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))}"
		right  = "{POLYGON((1 0, 2 0, 2 1, 1 1, 1 0))}"
		far    = "{POLYGON((5 5, 6 5, 6 6, 5 6, 5 5))}"
		large  = "{POLYGON((-1 -1, 3 -1, 3 3, -1 3, -1 -1))}"
		corner = "{POLYGON((0 0, 3 0, 3 3, 0 3, 0 0))}"
		half   = "{POLYGON((0.5 0.5, 1.5 0.5, 1.5 1.5, 0.5 1.5, 0.5 0.5))}"
	)
	for expression, want := range map[string]string{
		"geof:sfEquals(" + unit + ", {POLYGON((1 1, 0 1, 0 0, 1 0, 1 1))})":                                              "true",
		"geof:sfEquals({POINT(1 2)}, {POINT(1 2)})":                                                                      "true",
		"geof:sfDisjoint(" + unit + ", " + far + ")":                                                                     "true",
		"geof:sfDisjoint(" + unit + ", " + right + ")":                                                                   "false",
		"geof:sfIntersects(" + unit + ", " + right + ")":                                                                 "true",
		"geof:sfTouches(" + unit + ", " + right + ")":                                                                    "true",
		"geof:sfTouches(" + unit + ", " + half + ")":                                                                     "false",
		"geof:sfCrosses({LINESTRING(-1 0.5, 2 0.5)}, " + unit + ")":                                                      "true",
		"geof:sfWithin({POINT(0.5 0.5)}, " + unit + ")":                                                                  "true",
		"geof:sfWithin({POINT(0 0.5)}, " + unit + ")":                                                                    "false",
		"geof:sfContains(" + unit + ", {POINT(0.5 0.5)})":                                                                "true",
		"geof:sfOverlaps(" + unit + ", " + half + ")":                                                                    "true",
		"geof:sfOverlaps(" + unit + ", " + large + ")":                                                                   "false",
		"geof:ehEquals(" + unit + ", " + unit + ")":                                                                      "true",
		"geof:ehDisjoint(" + unit + ", " + far + ")":                                                                     "true",
		"geof:ehMeet(" + unit + ", " + right + ")":                                                                       "true",
		"geof:ehOverlap(" + unit + ", " + half + ")":                                                                     "true",
		"geof:ehCovers(" + corner + ", " + unit + ")":                                                                    "true",
		"geof:ehCoveredBy(" + unit + ", " + corner + ")":                                                                 "true",
		"geof:ehInside(" + unit + ", " + large + ")":                                                                     "true",
		"geof:ehContains(" + large + ", " + unit + ")":                                                                   "true",
		"geof:ehContains(" + corner + ", " + unit + ")":                                                                  "false",
		"geof:rcc8eq(" + unit + ", " + unit + ")":                                                                        "true",
		"geof:rcc8dc(" + unit + ", " + far + ")":                                                                         "true",
		"geof:rcc8ec(" + unit + ", " + right + ")":                                                                       "true",
		"geof:rcc8po(" + unit + ", " + half + ")":                                                                        "true",
		"geof:rcc8tppi(" + corner + ", " + unit + ")":                                                                    "true",
		"geof:rcc8tpp(" + unit + ", " + corner + ")":                                                                     "true",
		"geof:rcc8ntpp(" + unit + ", " + large + ")":                                                                     "true",
		"geof:rcc8ntppi(" + large + ", " + unit + ")":                                                                    "true",
		"geof:rcc8ntpp(" + unit + ", " + corner + ")":                                                                    "false",
		"geof:relate(" + unit + ", " + far + `, "FF*FF****")`:                                                            "true",
		"geof:relate(" + unit + ", " + unit + `, "FF*FF****")`:                                                           "false",
		"geof:relate(" + unit + ", " + unit + `, "FF")`:                                                                  "error",
		"geof:sfEquals(geof:intersection(" + unit + ", " + half + "), {POLYGON((0.5 0.5, 1 0.5, 1 1, 0.5 1, 0.5 0.5))})": "true",
		"geof:sfEquals(geof:union(" + unit + ", " + right + "), {POLYGON((0 0, 2 0, 2 1, 0 1, 0 0))})":                   "true",
		"geof:isEmpty(geof:difference(" + unit + ", " + large + "))":                                                     "true",
		"geof:sfEquals(geof:symDifference(" + unit + ", " + right + "), geof:union(" + right + ", " + unit + "))":        "true",
		"geof:sfEquals(geof:envelope({POLYGON((0 0, 4 0, 0 3, 0 0))}), {POLYGON((0 0, 4 0, 4 3, 0 3, 0 0))})":            "true",
		"geof:sfEquals(geof:convexHull({MULTIPOINT((0 0), (1 0), (0 1), (0.2 0.2))}), {POLYGON((0 0, 1 0, 0 1, 0 0))})":  "true",
		"geof:sfEquals(geof:boundary({LINESTRING(0 0, 1 1, 2 0)}), {MULTIPOINT(0 0, 2 0)})":                              "true",
		"geof:sfEquals(geof:centroid({POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))}), {POINT(1 1)})":                               "true",
		"geof:sfContains(geof:boundingCircle(" + half + "), " + half + ")":                                               "true",
		"geof:sfContains(geof:buffer({POINT(11.4 47.3)}, 1000, uom:metre), {POINT(11.41 47.3)})":                         "true",
		"geof:sfContains(geof:buffer({POINT(11.4 47.3)}, 1000, uom:metre), {POINT(11.42 47.3)})":                         "false",
		"geof:sfContains(geof:metricBuffer({POINT(179.999 0)}, 10), {POINT(179.999 0)})":                                 "true",
		"geof:getSRID({POINT(1 2)})": "http://www.ope" +
			"ngis.net/def/crs/OGC/1.3/CRS84",
		"geof:getSRID({<urn:ogc:def:crs:EPSG::4326> POINT(1 2)})": "http://www.ope" +
			"ngis.net/def/crs/EPSG/0/4326",
		// The same place: latitude comes first in EPSG:4326.
		"geof:sfEquals({POINT(11.4 47.3)}, {<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(47.3 11.4)})": "true",
		"STR(geof:envelope({<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(47.3 11.4)}))": "<http://www.opengis.n" +
			"et/def/crs/EPSG/0/4326> POINT(47.3 11.4)",
		"geof:sfEquals({POINT(1 2)}, {<http://example.org/crs> POINT(1 2)})":                                      "error",
		"geof:sfEquals({<http://example.org/crs> POINT(1 2)}, {<http://example.org/crs> POINT(1 2)})":             "true",
		"geof:distance({<http://example.org/crs> POINT(0 0)}, {<http://example.org/crs> POINT(3 4)}, uom:metre)":  "5.0E0",
		"geof:distance({<http://example.org/crs> POINT(0 0)}, {<http://example.org/crs> POINT(3 4)}, uom:degree)": "error",
		"geof:distance({POINT(1 1)}, " + large + ", uom:metre)":                                                   "0.0E0",
		"geof:distance({POINT(1 1)}, {POINT(1 2)}, uom:parsec)":                                                   "error",
		"geof:distance({POINT EMPTY}, {POINT(1 2)}, uom:metre)":                                                   "error",
		"geof:dimension(" + unit + ")":                                                                            "2",
		"geof:dimension({POINT(1 2)})":                                                                            "0",
		"geof:coordinateDimension({POINT ZM(1 2 3 4)})":                                                           "4",
		"geof:spatialDimension({POINT ZM(1 2 3 4)})":                                                              "3",
		"geof:is3D({POINT(1 2)})":                                                                                 "false",
		"geof:isMeasured({POINT M(1 2 3)})":                                                                       "true",
		"geof:isEmpty({})":                                                                                        "true",
		"geof:isEmpty({POINT(1 2)})":                                                                              "false",
		"geof:isSimple({LINESTRING(0 0, 2 2, 2 0, 0 2)})":                                                         "false",
		"geof:isSimple({POINT(1 2)})":                                                                             "true",
		"geof:geometryType({MULTIPOINT(1 2, 3 4)})": "http://www.opengis.ne" +
			"t/ont/sf#MultiPoint",
		"geof:numGeometries({MULTIPOINT(1 2, 3 4)})":     "2",
		"STR(geof:geometryN({MULTIPOINT(1 2, 3 4)}, 2))": "POINT(3 4)",
		"geof:geometryN({MULTIPOINT(1 2, 3 4)}, 3)":      "error",
		"geof:minX({LINESTRING(1 2, 3 4)})":              "1.0E0",
		"geof:maxY({LINESTRING(1 2, 3 4)})":              "4.0E0",
		"geof:maxZ({LINESTRING Z(1 2 3, 3 4 5)})":        "5.0E0",
		"geof:minZ({POINT(1 2)})":                        "error",
		"STR(geof:asGeoJSON({POINT(1 2)}))": `{"type":"Point","coor` +
			`dinates":[1,2]}`,
		`STR(geof:asWKT("{\"type\":\"Point\",\"coordinates\":[1,2]}"^^geo:geoJSONLiteral))`: "POINT(1 2)",
		`DATATYPE(geof:envelope("{\"type\":\"Point\",\"coordinates\":[1,2]}"^^geo:geoJSONLiteral))`: "http://www.opengis.net/ont/geosparq" +
			"l#geoJSONLiteral",
		// A ring that is not closed is read as if it were.
		"geof:sfEquals({POLYGON((0 0, 1 0, 1 1, 0 1))}, " + unit + ")":                  "true",
		"geof:sfEquals({MULTIPOLYGON Z(((0 0 9, 1 0 9, 1 1 9, 0 1 9)))}, " + unit + ")": "true",
		"geof:isEmpty({POLYGON((0 0, 1 0))})":                                           "error",
		// What is no geometry is an error of evaluation.
		"geof:isEmpty({POINT(1)})":                       "error",
		"geof:isEmpty({POINT(1 NaN)})":                   "error",
		"geof:isEmpty({POINT(1 1e400)})":                 "error",
		"geof:isEmpty({CIRCLE(1 2)})":                    "error",
		"geof:isEmpty(\"POINT(1 2)\")":                   "error",
		"geof:isEmpty({<http://no end POINT(1 2)})":      "error",
		"geof:isEmpty({POINT(1 2)}, 1)":                  "error",
		"geof:sfWithin({POINT(1 2)})":                    "error",
		"geof:sfWithin({LINESTRING(1 2)}, " + unit + ")": "error",
	} {
		if strings.Contains(expression, `"{`) { // GeoJSON has braces of its own
			out := ask(t, e, naive.New().Snapshot(), geoPrefixes+"SELECT ?v { BIND("+expression+" AS ?v) }", sparql.QueryOptions{})
			if got := out.Rows[0][0].Value(); got != want {
				t.Errorf("%s = %s, want %s", expression, got, want)
			}
			continue
		}
		if got := evaluate(t, e, expression); got != want {
			t.Errorf("%s = %s, want %s", expression, got, want)
		}
	}
}

// The expected values are those of the sphere with the Earth's mean radius, from the formulas of spherical geometry.
func TestMeasuresInMetresAreThoseOfTheEarth(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	const radius = 6371008.8
	degree := radius * math.Pi / 180
	for expression, want := range map[string]float64{
		"geof:distance({POINT(0 0)}, {POINT(0 1)}, uom:metre)":     degree,
		"geof:distance({POINT(0 0)}, {POINT(0 1)}, uom:degree)":    1,
		"geof:distance({POINT(0 0)}, {POINT(0 1)}, uom:radian)":    math.Pi / 180,
		"geof:distance({POINT(0 0)}, {POINT(0 1)}, unit:KiloM)":    degree / 1000,
		"geof:metricDistance({POINT(179.5 0)}, {POINT(-179.5 0)})": degree,
		"geof:metricDistance({POINT(0 60)}, {LINESTRING(1 59, 1 61)})": radius * math.Asin(
			math.Cos(math.Pi/3)*math.Sin(math.Pi/180)),
		"geof:metricDistance({POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))}, {POINT(2 0)})":             degree,
		"geof:metricDistance({LINESTRING(10 0, 10 1)}, {LINESTRING(11 -1, 11 2)})":            degree,
		"geof:length({LINESTRING(0 0, 0 1, 0 3)}, uom:metre)":                                 3 * degree,
		"geof:metricLength({POINT(1 2)})":                                                     0,
		"geof:perimeter({POLYGON((0 0, 0 1, 0 1, 0 0))}, uom:metre)":                          2 * degree,
		"geof:metricPerimeter({LINESTRING(0 0, 1 1)})":                                        0,
		"geof:area({POLYGON((0 0, 90 0, 90 90, 0 90, 0 0))}, uom:square_metre)":               4 * math.Pi * radius * radius / 8,
		"geof:area({POLYGON((0 0, 90 0, 90 90, 0 90, 0 0))}, unit:KiloM2)":                    4 * math.Pi * radius * radius / 8e6,
		"geof:area({<http://example.org/crs> POLYGON((0 0, 3 0, 3 2, 0 2, 0 0))}, uom:metre)": 6,
		// a polygon of 32 edges
		"geof:metricArea(geof:buffer({POINT(16.4 48.2)}, 1000, uom:metre))":                       math.Pi * 1e6 * 0.9936,
		"geof:maxX(geof:transform({POINT(180 0)}, <http://www.opengis.net/def/crs/EPSG/0/3857>))": math.Pi * 6378137,
		"geof:maxY(geof:transform(geof:transform({POINT(11 47)}, <http://www.opengis.net/def/crs/EPSG/0/3857>), " +
			"<http://www.opengis.net/def/crs/OGC/1.3/CRS84>))": 47,
	} {
		got, err := strconv.ParseFloat(evaluate(t, e, expression), 64)
		if err != nil || math.Abs(got-want) > 2e-4*math.Abs(want)+1e-9 {
			t.Errorf("%s = %v (%v), want %v", expression, got, err, want)
		}
	}
}
