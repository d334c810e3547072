package geo

import (
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables/source"
	"odarchive/crawler/inspect/tables/source/sourcetest"
)

// gmlDocument is a collection of features, some of them between others of another type.
const gmlDocument = `<?xml version="1.0"?>
<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:t="http://t.example/" xmlns:xlink="http://www.w3.org/1999/xlink">
<wfs:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>46 9</gml:lowerCorner><gml:upperCorner>49 17</gml:upperCorner></gml:Envelope></wfs:boundedBy>
<wfs:member><t:tree gml:id="t.1"><gml:boundedBy><gml:Envelope><gml:lowerCorner>1 2</gml:lowerCorner><gml:upperCorner>3 4</gml:upperCorner></gml:Envelope></gml:boundedBy>
  <t:kind>Linde</t:kind><t:at><gml:Point><gml:pos>48.2 16.4</gml:pos></gml:Point></t:at><t:seen>2020-02-29</t:seen><t:by xlink:href="http://t.example/people/1"/></t:tree></wfs:member>
<wfs:member><t:way gml:id="w.1"><t:line><gml:Curve srsName="http://www.opengis.net/def/crs/EPSG/0/31287"><gml:segments><gml:LineStringSegment><gml:posList>400000 600000 400010 600020</gml:posList></gml:LineStringSegment><gml:LineStringSegment><gml:posList>400010 600020 400030 600030</gml:posList></gml:LineStringSegment></gml:segments></gml:Curve></t:line></t:way></wfs:member>
<wfs:member><t:tree gml:id="t.2"><t:kind>Ahorn</t:kind><t:note><t:text>schief</t:text><t:text>alt</t:text></t:note>
  <t:at><gml:Polygon srsDimension="3"><gml:exterior><gml:LinearRing><gml:posList>48 16 0 48 17 0 49 17 0 48 16 0</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon></t:at></t:tree></wfs:member>
<wfs:member><t:way gml:id="w.2"><t:line><gml:Curve srsName="http://www.opengis.net/def/crs/EPSG/0/31287"><gml:segments><gml:Arc><gml:posList>1 2 3 4 5 6</gml:posList></gml:Arc></gml:segments></gml:Curve></t:line></t:way></wfs:member>
</wfs:FeatureCollection>`

func TestFeaturesOfGML(t *testing.T) {
	t.Parallel()
	tables := sourcetest.Read(t, GML, sourcetest.Input("application/gml+xml", []byte(gmlDocument)))
	if len(tables) != 2 || tables[0].Name != "tree" || tables[1].Name != "way" {
		t.Fatalf("%d tables", len(tables))
	}
	trees, ways := tables[0], tables[1]
	if got, want := facts(trees), "geometry 4326 [{Point 1} {Polygon 1}] 2 [16.000 48.000 17.000 49.000]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for column, want := range map[string]string{
		"gml_id": "[t.1 t.2]", "kind": "[Linde Ahorn]", "seen": "[2020-02-29 ]", "by": "[http://t.example/people/1 ]",
		"note.text": "[ schief; alt]",
		"geometry":  "[POINT(16.4 48.2) POLYGON((16 48, 17 48, 17 49, 16 48))]",
	} {
		if got := fmt.Sprint(trees.Column(column)); got != want {
			t.Errorf("%s is %s, want %s", column, got, want)
		}
	}
	if got := fmt.Sprint(ways.Column("geometry")); got != "[LINESTRING(600000 400000, 600020 400010, 600030 400030) ]" {
		t.Error(got)
	}
	if g := ways.Geometry; g.System != "EPSG:31287" || g.Count != 1 ||
		!strings.Contains(strings.Join(ways.Why, " "), "1 geometries are of kinds that are not read") {
		t.Errorf("%+v, %v", g, ways.Why)
	}
}

// The forms of coordinates in GML 2 and 3, each in a feature of its own.
func TestCoordinatesOfGML(t *testing.T) {
	t.Parallel()
	for geometry, want := range map[string]string{
		`<Point srsName="EPSG:4326"><coordinates>16.4,48.2</coordinates></Point>`:                   "POINT(16.4 48.2)",
		`<Point srsName="urn:x-ogc:def:crs:EPSG:4326"><coordinates>48.2,16.4</coordinates></Point>`: "POINT(16.4 48.2)",
		`<Point srsName="urn:ogc:def:crs:OGC:1.3:CRS84"><pos>16.4 48.2</pos></Point>`:               "POINT(16.4 48.2)",
		`<Point><coord><X>1</X><Y>2</Y></coord></Point>`:                                            "POINT(1 2)",
		`<Point><coordinates decimal="," cs=" " ts=";">1,5 2,5</coordinates></Point>`:               "POINT(1.5 2.5)",
		`<LineString><pos>1 2</pos><pos>3 4</pos></LineString>`:                                     "LINESTRING(1 2, 3 4)",
		`<LineString><pointProperty><Point><pos>1 2 3</pos></Point></pointProperty><pos>3 4 5</pos></LineString>`: "LINESTRING Z(1 2 3, " +
			"3 4 5)",
		`<LineString srsDimension="3"><posList>1 2 3 4 5 6</posList></LineString>`: "LINESTRING Z(1 2 3, " +
			"4 5 6)",
		`<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 4,0 4,4 ` +
			`0,0</coordinates></LinearRing></outerBoundaryIs><innerBoundaryIs><LinearRing><coordinates>1,1 2,1 2,2 ` +
			`1,1</coordinates></LinearRing></innerBoundaryIs></Polygon>`: "POLYGON((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1))",
		`<MultiSurface><surfaceMembers><Surface><patches><PolygonPatch><exterior><LinearRing><posList>0 0 4 0 4 4 0 ` +
			`0</posList></LinearRing></exterior></PolygonPatch></patches></Surface></surfaceMembers></MultiSurface>`: "POLYGON((0 0, 4 " +
			"0, 4 4, 0 0))",
		`<MultiPoint><pointMember><Point><pos>1 2</pos></Point></pointMember><pointMember><Point><pos>3 ` +
			`4</pos></Point></pointMember></MultiPoint>`: "MULTIPOINT((1 2), (3 4))",
		`<Polygon><exterior><Ring><curveMember><LineString><posList>0 0 4 ` +
			`0</posList></LineString></curveMember><curveMember><LineString><posList>4 0 4 4 0 ` +
			`0</posList></LineString></curveMember></Ring></exterior></Polygon>`: "POLYGON((0 0, 4 0, 4 4, 0 0))",
		`<Envelope><lowerCorner>1 2</lowerCorner><upperCorner>3 4</upperCorner></Envelope>`: "POLYGON((1 2, 3 2, 3 4, 1 4, 1 2))",
		`<LineString><posList>1 2 3</posList></LineString>`:                                 "",
		`<LineString><posList>1 x 3 4</posList></LineString>`:                               "",
		`<Point><pos>NaN 1</pos></Point>`:                                                   "POINT(NaN 1)",
		`<Polygon/>`:                                                                        "",
	} {
		doc := "<FeatureCollection><featureMember><f><n>1</n><g>" + geometry + "</g></f></featureMember></FeatureCollection>"
		table := sourcetest.Read(t, GML, sourcetest.Input("application/gml+xml", []byte(doc)))[0]
		if got := table.Column("geometry"); len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", geometry, got, want)
		}
	}
}

func TestNestedGMLIsRefused(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<a>", 300)
	for _, doc := range []string{deep, "<FeatureCollection><featureMember>" + deep,
		"<FeatureCollection><featureMember><f><g>" + strings.Repeat("<MultiSurface><surfaceMember>", 90)} {
		if found, err := GML(t.Context(), sourcetest.Input("application/gml+xml", []byte(doc)),
			source.Options{}.WithDefaults()); len(found) > 0 || err == nil {
			t.Errorf("%d tables, %v", len(found), err)
		}
	}
}

func FuzzGML(f *testing.F) {
	fuzz(f, GML, []byte(gmlDocument),
		[]byte(
			`<FeatureCollection><featureMembers><f `+
				`fid="1"><g><MultiGeometry><geometryMember><Point><coordinates>1,2</coordinates></Point></geometryMember></MultiGeometry>`+
				`</g></f></featureMembers></FeatureCollection>`))
}
