package geometry_test

import (
	"errors"
	"strings"
	"testing"

	"odarchive/triplestore/geometry"
	"odarchive/vocab"
)

// What a literal of GML or KML means, as WKT. The forms are those of the standards (GML 2.1.2, 3.1.1 and 3.2.1, KML
// 2.2) and of the programs that write catalogs.
var markup = []struct{ datatype, text, wkt string }{
	{
		vocab.GeoGMLLiteral,
		`<gml:Point srsName="http://www.opengis.net/def/crs/OGC/1.3/CRS84" xmlns:gml="http://www.opengis.net/ont/gml"><gml:pos>-83.38 ` +
			`33.95</gml:pos></gml:Point>`, "POINT(-83.38 33.95)"},
	{vocab.GeoGMLLiteral, `<Point srsName="http://www.opengis.net/def/crs/EPSG/0/4326"><pos>33.95 -83.38</pos></Point>`,
		"<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(33.95 -83.38)"},
	{vocab.GeoGMLLiteral, `<gml:Point srsName="EPSG:4326"><gml:coordinates>16,3;48,2</gml:coordinates></gml:Point>`, ""},
	{vocab.GeoGMLLiteral, `<gml:Point srsName="EPSG:4326"><gml:coordinates decimal="," cs=";">16,3;48,2</gml:coordinates></gml:Point>`,
		"POINT(16.3 48.2)"},
	{vocab.GeoGMLLiteral, `<gml:Point><gml:coord><gml:X>16</gml:X><gml:Y>48</gml:Y></gml:coord></gml:Point>`, "POINT(16 48)"},
	{vocab.GeoGMLLiteral, `<gml:Point><gml:pos>16 48 171</gml:pos></gml:Point>`, "POINT Z (16 48 171)"},
	{
		vocab.GeoGMLLiteral,
		`<Envelope srsName="urn:ogc:def:crs:EPSG::4326"><lowerCorner>46 9</lowerCorner><upperCorner>49 17</upperCorner></Envelope>`,
		"<http://www.opengis.net/def/crs/EPSG/0/4326> POLYGON((46 9,46 17,49 17,49 9,46 9))"},
	{vocab.GeoGMLLiteral, `<gml:Box><gml:coordinates>9,46 17,49</gml:coordinates></gml:Box>`, "POLYGON((9 46,9 49,17 49,17 46,9 46))"},
	{vocab.GeoGMLLiteral, `<LineString><posList>1 2 3 4</posList></LineString>`, "LINESTRING(1 2,3 4)"},
	{vocab.GeoGMLLiteral, `<LineString><posList srsDimension="3">1 2 0 3 4 0</posList></LineString>`, "LINESTRING Z (1 2 0,3 4 0)"},
	{vocab.GeoGMLLiteral, `<LineString><pos>1 2</pos><pos>3 4</pos></LineString>`, "LINESTRING(1 2,3 4)"},
	{
		vocab.GeoGMLLiteral,
		`<LineString><pointProperty><Point><pos>1 2</pos></Point></pointProperty><pointProperty><Point><pos>3 ` +
			`4</pos></Point></pointProperty></LineString>`, "LINESTRING(1 2,3 4)"},
	{
		vocab.GeoGMLLiteral,
		`<Curve><segments><LineStringSegment><posList>1 2 3 4</posList></LineStringSegment><LineStringSegment><posList>3 4 5 ` +
			`6</posList></LineStringSegment></segments></Curve>`, "LINESTRING(1 2,3 4,5 6)"},
	{vocab.GeoGMLLiteral, `<Curve><segments><Arc><posList>1 2 3 4 5 6</posList></Arc></segments></Curve>`, ""},
	{
		vocab.GeoGMLLiteral,
		`<Polygon><exterior><LinearRing><posList>0 0 9 0 9 9 0 9 0 0</posList></LinearRing></exterior><interior><LinearRing><posList>1 1 ` +
			`2 1 2 2 1 1</posList></LinearRing></interior></Polygon>`, "POLYGON((0 0,9 0,9 9,0 9,0 0),(1 1,2 1,2 2,1 1))"},
	{
		vocab.GeoGMLLiteral,
		`<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 9,0 9,9 0,0</coordinates></LinearRing></outerBoundaryIs></Polygon>`,
		"POLYGON((0 0,9 0,9 9,0 0))"},
	{
		vocab.GeoGMLLiteral,
		`<Surface><patches><PolygonPatch><exterior><LinearRing><posList>0 0 9 0 9 9 0 ` +
			`0</posList></LinearRing></exterior></PolygonPatch></patches></Surface>`, "POLYGON((0 0,9 0,9 9,0 0))"},
	{
		vocab.GeoGMLLiteral,
		`<MultiPoint><pointMember><Point><pos>1 2</pos></Point></pointMember><pointMembers><Point><pos>3 4</pos></Point><Point><pos>5 ` +
			`6</pos></Point></pointMembers></MultiPoint>`, "MULTIPOINT((1 2),(3 4),(5 6))"},
	{vocab.GeoGMLLiteral, `<MultiCurve><curveMember><LineString><posList>1 2 3 4</posList></LineString></curveMember></MultiCurve>`,
		"MULTILINESTRING((1 2,3 4))"},
	{
		vocab.GeoGMLLiteral,
		`<MultiSurface srsDimension="2"><surfaceMember><Polygon><exterior><LinearRing><posList>0 0 9 0 9 9 0 ` +
			`0</posList></LinearRing></exterior></Polygon></surfaceMember></MultiSurface>`, "MULTIPOLYGON(((0 0,9 0,9 9,0 0)))"},
	{
		vocab.GeoGMLLiteral,
		`<MultiGeometry><geometryMember><Point><pos>1 2</pos></Point></geometryMember><geometryMember><LineString><posList>1 2 3 ` +
			`4</posList></LineString></geometryMember></MultiGeometry>`, "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(1 2,3 4))"},
	{vocab.GeoGMLLiteral, ` `, "GEOMETRYCOLLECTION EMPTY"},
	{vocab.GeoGMLLiteral, `<Solid/>`, ""},
	{vocab.GeoGMLLiteral, `<Point><pos>1 2</pos>`, ""},
	{vocab.GeoGMLLiteral, `<Point><pos>1 x</pos></Point>`, ""},
	{vocab.GeoGMLLiteral, `<Point><pos>1 2</pos></Point><Point/>`, ""},
	{vocab.GeoGMLLiteral, `<LineString><posList>1 2 3</posList></LineString>`, ""},
	{vocab.GeoGMLLiteral, `<Point><pos>NaN 2</pos></Point>`, ""},

	{vocab.GeoKMLLiteral, `<Point xmlns="http://www.opengis.net/kml/2.2"><coordinates>-83.38,33.95</coordinates></Point>`,
		"POINT(-83.38 33.95)"},
	{vocab.GeoKMLLiteral, `<kml:Point><kml:coordinates> 16,48,171 </kml:coordinates></kml:Point>`, "POINT Z (16 48 171)"},
	{vocab.GeoKMLLiteral, `<LineString><tessellate>1</tessellate><coordinates>1,2
		3,4</coordinates></LineString>`, "LINESTRING(1 2,3 4)"},
	{
		vocab.GeoKMLLiteral,
		`<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 9,0 9,9 ` +
			`0,0</coordinates></LinearRing></outerBoundaryIs><innerBoundaryIs><LinearRing><coordinates>5,1 6,1 6,2 ` +
			`5,1</coordinates></LinearRing></innerBoundaryIs></Polygon>`, "POLYGON((0 0,9 0,9 9,0 0),(5 1,6 1,6 2,5 1))"},
	{
		vocab.GeoKMLLiteral,
		`<MultiGeometry><Point><coordinates>1,2</coordinates></Point><Point><coordinates>3,4</coordinates></Point></MultiGeometry>`,
		"MULTIPOINT((1 2),(3 4))"},
	{vocab.GeoKMLLiteral, `<Placemark/>`, ""},
	{vocab.GeoKMLLiteral, `<Point><coordinates>1</coordinates></Point>`, ""},
	{vocab.GeoGeoJSONType, `{"type":"Point","coordinates":[1,2]}`, "POINT(1 2)"},
}

func TestMarkupIsReadAsGeometries(t *testing.T) {
	t.Parallel()
	for _, c := range markup {
		g, err := geometry.Parse(c.text, c.datatype)
		switch {
		case c.wkt == "" && !errors.Is(err, geometry.ErrSyntax):
			t.Errorf("%s: got %v, %v, want an error", c.text, g, err)
		case c.wkt != "" && (err != nil || g.WKT() != c.wkt):
			got := ""
			if g != nil {
				got = g.WKT()
			}
			t.Errorf("%s: got %s, %v, want %s", c.text, got, err, c.wkt)
		}
	}
	for _, deep := range []string{strings.Repeat("<MultiGeometry>", 20_000), "<a>" + strings.Repeat("<b/>", 100_000) + "</a>"} {
		if _, err := geometry.Parse(deep, vocab.GeoKMLLiteral); err == nil {
			t.Errorf("%.30s... was taken", deep)
		}
	}
}

// FuzzMarkup checks that what is read can be written and read again.
func FuzzMarkup(f *testing.F) {
	for _, c := range markup {
		f.Add(c.text, c.datatype == vocab.GeoKMLLiteral)
	}
	f.Fuzz(func(t *testing.T, text string, isKML bool) {
		datatype := vocab.GeoGMLLiteral
		if isKML {
			datatype = vocab.GeoKMLLiteral
		}
		g, err := geometry.Parse(text, datatype)
		if err != nil {
			return
		}
		wkt, kind := g.Literal()
		again, err := geometry.Parse(wkt, kind)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, wkt, err)
		}
		if a, b := g.Bounds(), again.Bounds(); a != b && !a.Empty() {
			t.Errorf("%q became %q: %v, then %v", text, wkt, a, b)
		}
	})
}
