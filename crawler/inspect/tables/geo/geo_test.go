package geo

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables/source"
	"odarchive/crawler/inspect/tables/source/sourcetest"
)

// The files in testdata were made by ogr2ogr 3.6.2, or written by hand, for these tests.

// one reads the single table of a file in testdata.
func one(t *testing.T, name, mediaType string) sourcetest.Table {
	t.Helper()
	tables := sourcetest.Read(t, Readers()[mediaType], sourcetest.Input(mediaType, sourcetest.File(t, "testdata/"+name)))
	if len(tables) != 1 {
		t.Fatalf("%d tables", len(tables))
	}
	return tables[0]
}

// shapeIn returns a shapefile of testdata/shapes.zip with its other parts.
func shapeIn(t testing.TB, name string) source.Input {
	t.Helper()
	z, err := zip.OpenReader("testdata/shapes.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	parts := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if parts[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	in := sourcetest.Input("application/vnd.shp", parts[name+".shp"])
	in.Beside = func(extension string) (io.ReaderAt, int64, bool) {
		b, ok := parts[name+extension]
		return bytes.NewReader(b), int64(len(b)), ok
	}
	return in
}

// facts returns what is known of a table's geometries as text.
func facts(t sourcetest.Table) string {
	g := t.Geometry
	if g == nil {
		return "none"
	}
	extent := "nowhere"
	if t.Extent != nil {
		extent = fmt.Sprintf("%.3f", *t.Extent)
	}
	return fmt.Sprintf("%s %s %v %d %s", g.Column, path.Base(g.CRS), g.Types, g.Count, extent)
}

const placesFacts = "[{Point 3}] 3 [11.395 47.071 16.372 48.208]"

// Shapefiles of lines and areas, beside the points that the suite of package tables has.
func TestShapefilesConform(t *testing.T) {
	var shapes, attributes []sourcetest.Sample
	for _, name := range []string{"places", "areas", "roads"} {
		in := shapeIn(t, name)
		body, size, _ := in.Beside(".dbf")
		shapes = append(shapes, sourcetest.Sample{Name: name, Types: []string{"shp"}, Input: in})
		attributes = append(attributes, sourcetest.Sample{Name: name, Types: []string{"dbf"}, Input: source.Input{Body: body, Size: size}})
	}
	sourcetest.Conform(t, source.Readers{"shp": shapefile}, shapes)
	sourcetest.Conform(t, source.Readers{"dbf": dbfFile}, attributes)
}

func TestShapefiles(t *testing.T) {
	t.Parallel()
	places := sourcetest.Read(t, shapefile, shapeIn(t, "places"))[0]
	if got, want := facts(places), "geometry 4326 "+placesFacts; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for column, want := range map[string]string{
		"name": "[Innsbruck Wien Žižkov, ö Graz]", "pop": "[131059 1982097  298479]", "share": "[0.25 -1.5 3.0 0.001]",
		"founded":  "[1180-01-01 1221-10-18  1128-02-20]",
		"geometry": "[POINT(11.39454 47.26266) POINT(16.37208 48.20849)  POINT(15.43951 47.07071)]",
	} {
		if got := fmt.Sprint(places.Column(column)); got != want {
			t.Errorf("%s is %s, want %s", column, got, want)
		}
	}
	areas := sourcetest.Read(t, shapefile, shapeIn(t, "areas"))[0]
	// The extent is around that of the projected box, which is a little larger than the polygons.
	if got, want := facts(areas), "geometry 3035 [{Polygon 2} {MultiPolygon 1}] 3 [8.958 45.839 16.117 48.164]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	wkt := areas.Column("geometry")
	if !strings.HasPrefix(wkt[0], "POLYGON((") || strings.Count(wkt[0], "(") != 3 || strings.Count(wkt[1], "(") != 5 {
		t.Error(wkt)
	}
	roads := sourcetest.Read(t, shapefile, shapeIn(t, "roads"))[0]
	if got, want := facts(roads), "geometry 31255 [{LineString 1} {MultiLineString 1}] 2 nowhere"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if wkt := roads.Column("geometry")[0]; !strings.HasPrefix(wkt, "LINESTRING Z(") || !strings.Contains(wkt, " 600.5,") {
		t.Error(wkt)
	}
	alone := shapeIn(t, "places")
	alone.Beside = nil
	if table := sourcetest.Read(t, shapefile, alone)[0]; facts(table) != "geometry . [{Point 3}] 3 nowhere" || len(table.Columns) != 1 {
		t.Error(facts(table))
	}
}

// A hole belongs to the ring around it, wherever it stands; rings that all run the wrong way are polygons.
func TestRingsOfPolygons(t *testing.T) {
	t.Parallel()
	square := func(x, y, size float64, clockwise bool) part {
		points := [][2]float64{{x, y}, {x, y + size}, {x + size, y + size}, {x + size, y}, {x, y}}
		if !clockwise {
			slices.Reverse(points)
		}
		var b []byte
		for _, p := range points {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p[0]))
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p[1]))
		}
		return part{points: b}
	}
	for _, c := range []struct {
		rings []part
		want  string
	}{
		{[]part{square(0, 0, 9, false)}, "[1]"},
		{[]part{square(0, 0, 9, true), square(20, 0, 9, true), square(2, 2, 1, false), square(22, 2, 1, false)}, "[2 2]"},
		{[]part{square(2, 2, 1, false), square(0, 0, 9, true)}, "[2]"},
		{[]part{square(0, 0, 9, false), square(20, 0, 9, false)}, "[1 1]"},
		{[]part{square(0, 0, 9, true), square(50, 50, 1, false)}, "[2]"},
	} {
		var sizes []int
		for _, g := range grouped(c.rings) {
			sizes = append(sizes, len(g))
		}
		if got := fmt.Sprint(sizes); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestKML(t *testing.T) {
	t.Parallel()
	places := one(t, "places.kml", "application/vnd.google-earth.kml+xml")
	if got, want := facts(places), "geometry CRS84 "+placesFacts; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := fmt.Sprint(places.Column("pop"), places.Column("folder")); got != "[131059 1982097  298479] [places places places places]" {
		t.Error(got)
	}
	areas := one(t, "areas.kml", "application/vnd.google-earth.kml+xml")
	if got, want := facts(areas), "geometry CRS84 [{Polygon 2} {MultiPolygon 1}] 3 [9.000 46.000 16.000 48.000]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for body, want := range map[string]string{
		`<Point><coordinates> 1, 2 </coordinates></Point>`:  "POINT(1 2)",
		`<Point><coordinates>1,2,0</coordinates></Point>`:   "POINT(1 2)",
		`<Point><coordinates>1,2,3.5</coordinates></Point>`: "POINT Z(1 2 3.5)",
		`<Point><coordinates>x</coordinates></Point>`:       "",
		`<Point/>`: "",
		`<LineString><coordinates>1,2 3,4,5 ` +
			`6,7</coordinates></LineString>`: "LINESTRING(1 2, 3 4, 6 7)",
		`<MultiGeometry><Point><coordinates>1,2</coordinates></Point><Point><coordinates>3,` +
			`4</coordinates></Point></MultiGeometry>`: "MULTIPOINT((1 2), (3 4))",
		`<MultiGeometry><Point><coordinates>1,2</coordinates></Point><LineString><coordinates>3,4 ` +
			`5,6</coordinates></LineString></MultiGeometry>`: "GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(3 4, 5 6))",
		`<gx:Track><when>2024-01-01</when><gx:coord>1 2 0</gx:coord><gx:coord>3 4 0</gx:coord></gx:Track>`: "LINESTRING(1 2, 3 4)",
	} {
		text := `<kml><Placemark><name>x</name>` + body + `</Placemark></kml>`
		table := sourcetest.Read(t, kmlFile, sourcetest.Input("", []byte(text)))[0]
		if got := table.Column("geometry")[0]; got != want {
			t.Errorf("%s\nis   %s\nwant %s", body, got, want)
		}
	}
	projected := sourcetest.Read(t, kmlFile,
		sourcetest.Input("", []byte(`<kml><Placemark><Point><coordinates>400000,300000</coordinates></Point></Placemark></kml>`)))[0]
	if got := facts(projected); got != "geometry . [{Point 1}] 1 nowhere" {
		t.Error(got)
	}
}

func TestGPX(t *testing.T) {
	t.Parallel()
	tables := sourcetest.Read(t, gpxFile, sourcetest.Input("", sourcetest.File(t, "testdata/trip.gpx")))
	var got []string
	for _, table := range tables {
		got = append(got, table.Name+" "+facts(table))
	}
	want := []string{"waypoints geometry CRS84 [{Point 1}] 1 [11.390 47.260 11.390 47.260]",
		"routes geometry CRS84 [{LineString 1}] 1 [11.000 47.000 11.500 47.500]",
		"tracks geometry CRS84 [{MultiLineString 2}] 2 [10.100 46.100 11.300 47.300]",
		"track_points geometry CRS84 [{Point 5}] 5 [10.100 46.100 11.300 47.300]"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := fmt.Sprint(
		tables[3].Cells); got != "[[1 1 600.5 2024-05-06T07:08:09Z 90 POINT(11.1 47.1)] [1 1 601 2024-05-06T07:09:09Z  POINT(11.2 47.2)] "+
		"[1 2    POINT(11.3 47.3)] [2 1    POINT(10.1 46.1)] [2 1    POINT(10.2 46.2)]]" {
		t.Error(got)
	}
}

func TestTopoJSON(t *testing.T) {
	t.Parallel()
	tables := sourcetest.Read(t, topology, sourcetest.Input("", sourcetest.File(t, "testdata/land.topojson")))
	if len(tables) != 3 || tables[0].Name != "land" || tables[1].Name != "city" || tables[2].Name != "roads" {
		t.Fatal(len(tables))
	}
	// What ogrinfo says of this file.
	if got := fmt.Sprint(tables[2].Column("geometry"), tables[1].Column("geometry"), tables[0].Column("id")); got !=
		"[LINESTRING(10 40, 11 40, 11 41) MULTILINESTRING((10 40, 11 40, 11 41), (10 40, 10 41, 11 41))] [POINT(11.5 42.5)] [AT DE none]" {
		t.Error(got)
	}
	if got := facts(tables[0]); got != "geometry CRS84 [{MultiPolygon 1} {Polygon 1}] 2 [10.000 40.000 12.000 43.000]" {
		t.Error(got)
	}
	var arcs, uses strings.Builder // an arc of many points that is used many times
	for range 100_000 {
		arcs.WriteString(",[1,1]")
	}
	for range 100_000 {
		uses.WriteString(",0")
	}
	bomb := `{"type":"Topology","objects":{"a":{"type":"LineString","arcs":[0` + uses.String() + `]}},"arcs":[[[0,0]` + arcs.String() +
		`]]}`
	if found, err := topology(t.Context(), sourcetest.Input("", []byte(bomb)), source.Options{}.WithDefaults()); len(found) != 0 ||
		err != nil {
		t.Error(len(found), err)
	}
}

func TestFlatGeobuf(t *testing.T) {
	t.Parallel()
	places := one(t, "places.fgb", "application/vnd.flatgeobuf")
	if got, want := facts(places), "geometry 4326 "+placesFacts; got != want || places.Name != "places" {
		t.Errorf("%s, want %s", got, want)
	}
	if got := fmt.Sprint(places.Column("name"), places.Column("pop"),
		places.Column("share")); got != "[Innsbruck Wien Graz] [131059 1982097 298479] [0.25 -1.5 0.001]" {
		t.Error(got)
	}
	areas := one(t, "areas.fgb", "application/vnd.flatgeobuf") // with an index, which orders the features
	if got, want := facts(areas), "geometry 3035 [{Polygon 2} {MultiPolygon 1}] 3 [8.958 45.839 16.117 48.164]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := slices.Sorted(slices.Values(areas.Column("code"))); fmt.Sprint(got) != "[A1 A2 A3]" {
		t.Error(got)
	}
}

// table returns a dBASE table of one field for each text "NAME TYPE SIZE DECIMALS FLAGS".
func table(version, language byte, fields []string, records ...string) []byte {
	size := 1
	var described []byte
	for _, f := range fields {
		var name, kind string
		var n, decimals, flags int
		fmt.Sscan(f, &name, &kind, &n, &decimals, &flags)
		b := make([]byte, 32)
		copy(b, name)
		b[11], b[16], b[17], b[18] = kind[0], byte(n), byte(decimals), byte(flags)
		described = append(described, b...)
		size += n
	}
	head := make([]byte, 32)
	head[0], head[1], head[2], head[3], head[29] = version, 124, 5, 6, language
	binary.LittleEndian.PutUint32(head[4:], uint32(len(records)))
	binary.LittleEndian.PutUint16(head[8:], uint16(32+len(described)+1))
	binary.LittleEndian.PutUint16(head[10:], uint16(size))
	return append(append(append(head, described...), '\r'), strings.Join(records, "")+"\x1a"...)
}

func TestDBF(t *testing.T) {
	t.Parallel()
	double := string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(2.5)))
	for _, c := range []struct {
		data []byte
		want string
	}{
		{
			table(3, 0, []string{"NAME C 6", "N N 5 1", "OK L 1", "DAY D 8"}, " Graz   0.50T20240506", "*gone   1.00F20240506",
				" Wien  *****?        "), "[[Graz 0.5 true 2024-05-06] [Wien   ]]"},
		{table(3, 0xc9, []string{"NAME C 6"}, " \xcc\xee\xf1\xea\xe2\xe0", " abc   "), "[[Москва] [abc]]"},
		// UTF-8, whatever the header says
		{table(3, 0x57, []string{"NAME C 6"}, " Graz\xc3\xb6", " \xc3\xa4bcd\xc3"), "[[Grazö] [äbcd\ufffd]]"},
		{table(3, 1, []string{"NAME C 3"}, " \x81ab", " \x84  "), "[[üab] [ä]]"},
		{table(0x30, 3, []string{"I I 4", "D B 8", "M Y 8", "T T 8", "V V 5 0 2", "_NullFlags 0 1 0 5"},
			" \xfe\xff\xff\xff"+double+"\x10\x27\x00\x00\x00\x00\x00\x00"+"\x15\x8b\x25\x00\xe8\x03\x00\x00"+"ab\x00\x00\x02"+"\x01",
			" \x01\x00\x00\x00"+double+"\xff\xff\xff\xff\xff\xff\xff\xff"+"\x00\x00\x00\x00\x00\x00\x00\x00"+"abcde"+"\x00",
			" \x02\x00\x00\x00"+double+"\x00\x00\x00\x00\x00\x00\x00\x00"+"\x00\x00\x00\x00\x00\x00\x00\x00"+"abcde"+"\x02"),
			"[[-2 2.5 1.0000 2024-05-06T00:00:01 ab] [1 2.5 -0.0001  abcde] [2 2.5 0.0000  ]]"},
	} {
		tables := sourcetest.Read(t, dbfFile, sourcetest.Input("", c.data))
		if got := fmt.Sprint(tables[0].Cells); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
	for text, want := range map[string]string{"007": "7", "-0.50": "-0.5", "0": "0", ".5": "0.5", "1.0000e+003": "1000.0",
		"-1.79769313486232e+308": "", "": "", "1-2": "1-2", "12.": "12.0"} {
		if got := number(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestCodePages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"UTF-8\r\n": "utf-8", "1252": "windows-1252", "ANSI 1251": "windows-1251",
		"88591": "iso-8859-1", "ISO-8859-1": "iso-8859-1", "885915": "iso-8859-15", "OEM 437": "oem-437", "": ""} {
		if got := codePage(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func fuzz(f *testing.F, read source.Reader, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read(context.Background(), sourcetest.Input("", data), source.Options{MaxRows: 1000, MaxTables: 10}.WithDefaults())
	})
}

func contentOf(f *testing.F, in source.Input, extension string) []byte {
	body, size := in.Body, in.Size
	if extension != "" {
		body, size, _ = in.Beside(extension)
	}
	data := make([]byte, size)
	if _, err := body.ReadAt(data, 0); err != nil {
		f.Fatal(err)
	}
	return data
}

func FuzzShapefile(f *testing.F) {
	fuzz(f, shapefile, contentOf(f, shapeIn(f, "places"), ""), contentOf(f, shapeIn(f, "areas"), ""), contentOf(f, shapeIn(f, "roads"), ""))
}

func FuzzDBF(f *testing.F) {
	fuzz(f, dbfFile, contentOf(f, shapeIn(f, "places"), ".dbf"),
		table(0x30, 3, []string{"I I 4", "V V 5 0 2", "_NullFlags 0 1 0 5"}, " \x01\x00\x00\x00abcde\x00"))
}

func FuzzFlatGeobuf(f *testing.F) {
	fuzz(f, flatGeobuf, sourcetest.File(f, "testdata/places.fgb"), sourcetest.File(f, "testdata/areas.fgb"))
}

func FuzzTopology(f *testing.F) {
	fuzz(f, topology, sourcetest.File(f, "testdata/land.topojson"))
}

func FuzzKML(f *testing.F) {
	fuzz(f, kmlFile, sourcetest.File(f, "testdata/places.kml"), sourcetest.File(f, "testdata/areas.kml"))
}

func FuzzGPX(f *testing.F) { fuzz(f, gpxFile, sourcetest.File(f, "testdata/trip.gpx")) }
