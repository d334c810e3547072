package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/inspect/tables/source"
	"odarchive/crawler/inspect/tables/source/sourcetest"
)

// The files in testdata were made by sqlite3 3.40.1 and by ogr2ogr 3.6.2 for these tests.

func read(t *testing.T, name string) map[string]sourcetest.Table {
	t.Helper()
	tables := map[string]sourcetest.Table{}
	for _, table := range sourcetest.Read(t, database, sourcetest.Input("application/vnd.sqlite3", sourcetest.File(t, name))) {
		tables[table.Name] = table
	}
	return tables
}

// opened returns a fixture, the database in it, and what its schema defines.
func opened(t *testing.T, name string) ([]byte, *base, []*table) {
	t.Helper()
	data := sourcetest.File(t, name)
	db, err := open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	list, err := db.schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return data, db, list
}

// odd.sqlite has pages of 512 bytes, texts in UTF-16, rows on overflow pages, deleted rows, columns that were added
// later, and computed ones.
func TestTablesOfADatabase(t *testing.T) {
	t.Parallel()
	tables := read(t, "testdata/odd.sqlite.gz")
	if len(tables) != 5 {
		t.Errorf("%d tables", len(tables))
	}
	plain := tables["plain"]
	if len(plain.Cells) != 350 || len(plain.Columns) != 8 {
		t.Fatalf("%d rows, %d columns", len(plain.Cells), len(plain.Columns))
	}
	want := [][]string{{"-5", "new", "", "", "", "", "1", ""}}
	for i := 1; i <= 400; i++ {
		if i >= 100 && i <= 150 {
			continue
		}
		name := fmt.Sprintf("Name ö %d", i)
		if i == 77 {
			name = strings.Repeat("é", 10000)
		}
		day := time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("2006-01-02")
		raw := hex.EncodeToString(make([]byte, i%40))
		if i%40 > shownBlob {
			raw = (&base{}).text(value{kind: kindBlob, bytes: make([]byte, i%40)}, column{})
		}
		want = append(want, []string{fmt.Sprint(i), name, fmt.Sprintf("%.1f", float64(i)/2), day, fmt.Sprint(i%2 == 1), raw, "-7", "it's"})
	}
	for i, row := range plain.Cells {
		if !slices.Equal(row, want[i]) {
			t.Fatalf("row %d\nis   %.200q\nwant %.200q", i, row, want[i])
		}
	}
	for i, want := range []string{"id integer", "name string", `a "b" col decimal`, "when date", "ok boolean", "raw string", "late integer",
		"word string"} {
		if c := plain.Columns[i]; c.Name+" "+c.Datatype != want {
			t.Errorf("column %s %s, want %s", c.Name, c.Datatype, want)
		}
	}
	keyed := tables["keyed"]
	if len(keyed.Cells) != 300 {
		t.Fatalf("%d rows without ids", len(keyed.Cells))
	}
	seen := map[string]bool{}
	for _, row := range keyed.Cells {
		var i int
		fmt.Sscan(row[1], &i)
		v := fmt.Sprintf("v%d", i)
		if i%50 == 0 {
			v = strings.Repeat("0", 1400)
		}
		if want := []string{v, row[1], fmt.Sprintf("k%d", i%7), "", fmt.Sprint(i + 1)}; !slices.Equal(row, want) {
			t.Fatalf("%.100q, want %.100q", row, want)
		}
		seen[row[1]] = true
	}
	if len(seen) != 300 {
		t.Error("a row comes twice")
	}
	if got := fmt.Sprint(
		tables["nokey"].Cells); got != "[[1 9223372036854775807 1E+300] [2 -9223372036854775808 0.1] [3  INF] [4 140737488355327 -3.0]]" {
		t.Error(got)
	}
	if got := fmt.Sprint(tables["desckey"].Cells); got != "[[3 a] [4 b]]" {
		t.Error(got)
	}
}

// lite.sqlite was made by ogr2ogr 3.6.2 with SpatiaLite 5.0.1 from geometries as text, which are the column wkt; lines
// and polygons of packed tables are compressed.
func TestGeometriesOfSpatiaLite(t *testing.T) {
	t.Parallel()
	tables := read(t, "testdata/lite.sqlite.gz")
	plain := strings.NewReplacer(" Z ", "", " Z", "", "ZM ", "", "ZM", "", " ", "")
	for name, rows := range map[string]int{"packed_l": 1, "packed_p": 1, "packed_ml": 1, "packed_m": 1} {
		table := tables[name]
		texts, drawn := table.Column("wkt"), table.Column("GEOMETRY")
		if len(drawn) != rows {
			t.Fatalf("%s has %d rows", name, len(drawn))
		}
		for i := range drawn {
			if plain.Replace(drawn[i]) != plain.Replace(texts[i]) {
				t.Errorf("%s: %s, want %s", name, drawn[i], texts[i])
			}
		}
		if g := table.Geometry; g == nil || g.CRS != "http://www.opengis.net/def/crs/EPSG/0/4326" || g.Count != int64(rows) {
			t.Errorf("%s: %+v", name, g)
		}
	}
	flat := tables["flat"]
	want := []string{"POINT(16.3 48.2)", "LINESTRING(16 48, 16.125 48.25, 16.375 48.5, 16.5 48.625)",
		"POLYGON((16 48, 17 48, 17 49, 16 48), (16.5 48.25, 16.75 48.25, 16.75 48.5, 16.5 48.25))", "MULTIPOINT((1 2), (4 5))",
		"MULTILINESTRING((1 2, 4 5, 7 8), (1 1, 2 2))", "MULTIPOLYGON(((1 2, 4 5, 7 1, 1 2)), ((10 10, 12 12, 13 10, 10 10)))",
		"GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(1 2, 4 5, 5 5))", ""}
	if got := flat.Column("GEOMETRY"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if e := flat.Extent; e == nil || *e != [4]float64{1, 1, 17, 49} {
		t.Error(e)
	}
	if empty := tables["empty"]; empty.Profile == nil || empty.Rows != 0 || len(empty.Columns) != 2 {
		t.Errorf("the table without rows is %+v", empty.Profile)
	}
}

func TestLayersOfAGeoPackage(t *testing.T) {
	t.Parallel()
	tables := read(t, "testdata/layers.gpkg.gz")
	if len(tables) != 3 {
		t.Fatalf("%d tables", len(tables))
	}
	places := tables["places"]
	g := places.Geometry
	if g == nil || g.CRS != "http://www.opengis.net/def/crs/EPSG/0/4326" || g.Column != "geom" ||
		fmt.Sprint(g.Types, g.Count) != "[{Point 3}] 3" {
		t.Errorf("%+v", g)
	}
	if fmt.Sprint(*places.Extent) != "[11.39454 47.07071 16.37208 48.20849]" {
		t.Error(*places.Extent)
	}
	if got := fmt.Sprint(places.Column("geom")); got != "[POINT(11.39454 47.26266) POINT(16.37208 48.20849)  POINT(15.43951 47.07071)]" {
		t.Error(got)
	}
	areas := tables["areas"]
	if g := areas.Geometry; g.CRS != "http://www.opengis.net/def/crs/EPSG/0/3035" || fmt.Sprint(g.Types) != "[{MultiPolygon 3}]" {
		t.Errorf("%+v", g)
	}
	// What ogrinfo says of the layer, and the area that these polygons had before they were projected.
	if b := areas.Geometry.Bounds; fmt.Sprintf("%.3f", *b) != "[4243441.915 2543139.412 4777157.266 2783335.356]" {
		t.Error(*b)
	}
	if e := areas.Extent; e == nil || e[0] > 9 || e[1] > 46 || e[2] < 16 || e[3] < 48 || e[0] < 8.8 || e[1] < 45.8 || e[2] > 16.2 ||
		e[3] > 48.3 {
		t.Error(e)
	}
	// A system whose datum is another one: no box in degrees.
	roads := tables["roads"]
	if g := roads.Geometry; g.CRS != "http://www.opengis.net/def/crs/EPSG/0/31255" || roads.Extent != nil || g.Bounds == nil {
		t.Errorf("%+v %v", g, roads.Extent)
	}
	if wkt := roads.Column("geom")[1]; !strings.HasPrefix(wkt, "MULTILINESTRING Z((") || strings.Count(wkt, " 4)") != 1 {
		t.Error(wkt)
	}
}

// A page that is its own child, and many rows on the same overflow pages, end.
func TestCyclesEnd(t *testing.T) {
	t.Parallel()
	data, _, list := opened(t, "testdata/odd.sqlite.gz")
	page := data[int(list[0].root-1)*512:]
	if page[0] != interiorTable {
		t.Fatal("the root has no children")
	}
	for i := 8; i < 12; i++ { // the rightmost child
		page[i] = byte(list[0].root >> (8 * (11 - i)))
	}
	found, err := database(t.Context(), sourcetest.Input("", data), source.Options{}.WithDefaults())
	if err != nil || len(found) != 5 || !found[0].Truncated || !strings.Contains(strings.Join(found[0].Why, " "), "damaged") {
		t.Errorf("%d tables, %v, %v", len(found), found[0].Why, err)
	}
}

func TestNotADatabase(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "SQLite format 3\x00", magic + strings.Repeat("\x00", 100), magic + strings.Repeat("\xff", 4096),
		strings.Repeat("x", 200)} {
		if found, err := database(t.Context(), sourcetest.Input("", []byte(text)), source.Options{}.WithDefaults()); !errors.Is(err,
			source.ErrFormat) || found != nil {
			t.Errorf("%.20q: %v %v", text, found, err)
		}
	}
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		`CREATE TABLE t(a, b)`: "a0 b1",
		`CREATE TABLE "t" ( a INTEGER PRIMARY KEY AUTOINCREMENT, [b c] DECIMAL(3, 2) CHECK (b > (1)), UNIQUE (a, b))`: "a0! b c1",
		`CREATE TABLE t(a INTEGER, b, PRIMARY KEY(A))`:                                                                "a0! b1",
		`CREATE TABLE t(a INTEGER, b INTEGER, PRIMARY KEY(a, b))`:                                                     "a0 b1",
		`CREATE TABLE t(a INT PRIMARY KEY)`:                                                                           "a0",
		`CREATE TABLE t(a, b INTEGER, c, PRIMARY KEY(c, b)) WITHOUT ROWID`:                                            "a2 b1 c0",
		`CREATE TABLE t(a, b GENERATED ALWAYS AS (a || ')') VIRTUAL, c AS (a), d)`:                                    "a0 b-1 c-1 d1",
		"CREATE TABLE t(`primary` text, 'check' int, \"a\"\"b\" real, CONSTRAINT x CHECK (1))": `primary0 check1 ` +
			`a"b2`,
		`CREATE TABLE t(a -- one, two
		 , /* , x */ b)`: "a0 b1",
		`CREATE TABLE t(a`: "a0",
		`CREATE TABLE t`:   "-",
		``:                 "-",
		`(`:                "-",
	} {
		got := "-"
		if d := define(sql); d != nil {
			var words []string
			for _, c := range d.columns {
				words = append(words, fmt.Sprint(c.name, c.stored)+map[bool]string{true: "!"}[c.rowID])
			}
			got = strings.Join(words, " ")
		}
		if got != want {
			t.Errorf("%s\nhas %s, want %s", sql, got, want)
		}
	}
}

// Rows cannot share bytes: else a page of 64 KiB could have thirty thousand of 60 kB.
func TestRowsThatOverlapAreDamage(t *testing.T) {
	t.Parallel()
	data, _, list := opened(t, "testdata/tiny.sqlite.gz")
	page := data[int(list[1].root-1)*512:][:512]
	if list[1].name != "keyed" || page[0] != interiorIndex {
		t.Fatalf("the root of %s is of kind %d", list[1].name, page[0])
	}
	page = data[int(binary.BigEndian.Uint32(page[8:])-1)*512:][:512] // its rightmost child
	first := page[8:10]
	at := int(binary.BigEndian.Uint16(first))
	if page[0] != leafIndex || page[at] < 5 {
		t.Fatalf("kind %d, a row of %d bytes", page[0], page[at])
	}
	page[3], page[4] = 0, 200
	for i := range (at - 8) / 2 {
		copy(page[8+2*i:], first)
	}
	found, err := database(t.Context(), sourcetest.Input("", data), source.Options{}.WithDefaults())
	if err != nil || len(found) < 2 {
		t.Fatalf("%d tables, %v", len(found), err)
	}
	if p := found[1]; !p.Truncated || !strings.Contains(strings.Join(p.Why, " "), "overlap") {
		t.Errorf("%d rows, %q", p.Rows, p.Why)
	}
}

// The schema may name one tree as many tables.
func TestAllTablesTogetherVisitAFewTimesThePages(t *testing.T) {
	t.Parallel()
	data, db, list := opened(t, "testdata/tiny.sqlite.gz")
	for n := 0; ; n++ {
		cursor, err := db.rows(list[0])
		for err == nil {
			_, err = cursor.next()
		}
		if errors.Is(err, errDamaged) {
			return
		}
		if !errors.Is(err, io.EOF) || n > maxVisits*len(data)/512 {
			t.Fatalf("reading it %d times: %v", n, err)
		}
	}
}

// Databases of a few pages: mutating and minimizing large ones would take nearly all the time.
func FuzzDatabase(f *testing.F) {
	for _, name := range []string{"tiny.sqlite.gz", "tiny.gpkg.gz", "keys.sqlite.gz"} {
		f.Add(sourcetest.File(f, "testdata/"+name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 32<<10 {
			return
		}
		_, _ = database(context.Background(), sourcetest.Input("", data), source.Options{MaxRows: 200, MaxTables: 10}.WithDefaults())
	})
}
