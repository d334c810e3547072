package crawler

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/diff"
)

// everyFormat lists files of formats that are read, each with a change of one or more cells: the files of the readers'
// own tests, and texts. old and new have the same length, so that the file stays sound.
var everyFormat = []struct {
	file, mime string // path below inspect/tables, or the text itself after a colon
	old, new   string
	column     string // a column as "name datatype"
	kind       diff.Kind
	where      bool // the file says where its things are
}{
	{"sqlite/testdata/keys.sqlite.gz", "application/vnd.sqlite3", "Graz", "Bonn", "name string", diff.Tables, false},
	{"sqlite/testdata/layers.gpkg.gz", "application/geopackage+sqlite3", "Graz", "Bonn", "name string", diff.Tables, true},
	{"geo/testdata/shapes.zip", "application/zip", "Graz", "Bonn", "pop integer", diff.Tables, true},
	{"geo/testdata/places.fgb", "application/vnd.flatgeobuf", "Graz", "Bonn", "name string", diff.Tables, true},
	{"geo/testdata/places.kml", "application/vnd.google-earth.kml+xml", "Graz", "Bonn", "name string", diff.XML, true},
	{"geo/testdata/trip.gpx", "application/gpx+xml", "<name>", "<name>X", "name string", diff.XML, true},
	{"geo/testdata/land.topojson", "application/topo+json", `"name":"`, `"name":"X`, "name string", diff.JSON, true},
	{"statistical/testdata/plain.sav", "application/x-spss-sav", "Köln", "Bonns", "town string", diff.Tables, false},
	{"statistical/testdata/118.dta", "application/x-stata-dta", "Köln", "Bonns", "town string", diff.Tables, false},
	{"statistical/testdata/people.sas7bdat", "application/x-sas-data", "Köln", "Bonns", "town string", diff.Tables, false},
	{"statistical/testdata/8.xpt", "application/x-sas-xport", "Köln", "Bonns", "town string", diff.Tables, false},
	{"statistical/testdata/3.rds", "application/x-r-data", "Köln", "Bonns", "town string", diff.Tables, false},
	{"columnar/testdata/people.arrow", "application/vnd.apache.arrow.file", "Köln", "Bonns", "town string", diff.Tables, false},
	{"columnar/testdata/people.arrows", "application/vnd.apache.arrow.stream", "Köln", "Bonns", "town string", diff.Tables, false},
	{"columnar/testdata/null.avro", "application/vnd.apache.avro+binary", "Köln", "Bonns", "town string", diff.Tables, false},
	{"cubes/testdata/ine-1001.px", "text/x-pcaxis", "\n0.86", "\n9.86", "", diff.Tables, false},
	{"cubes/testdata/oecd-canada.json", "application/json", "5.943826289", "9.943826289", "", diff.JSON, false},
	{
		":BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20200229T080000Z\r\nSUMMARY:Graz\r\nEND:VEVENT\r" +
			"\nBEGIN:VEVENT\r\nUID:2\r\nDTSTART:20200301T080000Z\r\nSUMMARY:Linz\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
		"text/calendar", "Graz", "Bonn", "summary string", diff.Tables, false},
	{
		`:<!doctype ` +
			`html><html><title>Trees</title><table><tr><th>id</th><th>town</th></tr><tr><td>1</td><td>Graz</td></tr><tr><td>2</td><td>Lin` +
			`z</td></tr></table></html>`,
		"text/html", "Graz", "Bonn", "town string", diff.Tables, false},
	{
		`:<?xml version="1.0"?><wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" ` +
			`xmlns:gml="http://www.opengis.net/gml/3.2"><wfs:member><tree><kind>Graz</kind><at><gml:Point ` +
			`srsName="urn:ogc:def:crs:EPSG::4326"><gml:pos>48.2 ` +
			`16.4</gml:pos></gml:Point></at></tree></wfs:member></wfs:FeatureCollection>`,
		"application/gml+xml", "Graz", "Bonn", "kind string", diff.XML, true},
	{
		`:{"cells":[{"cell_type":"code","execution_count":1,"metadata":{},"source":["x"],"outputs":[{"output_type":"execute_result","data` +
			`":{"text/html":["<table><tr><th>id</th><th>town</th></tr><tr><td>1</td><td>Graz</td></tr><tr><td>2</td><td>Linz</td></tr></t` +
			`able>"]},"metadata":{},"execution_count":1}]}],"metadata":{},"nbformat":4,"nbformat_minor":5}`,
		"application/x-ipynb+json", "Graz", "Bonn", "town string", diff.JSON, false},
}

// formatFile returns a file of the list before and after its change.
func formatFile(t *testing.T, file, old, changed string) (before, after []byte) {
	t.Helper()
	text, isText := strings.CutPrefix(file, ":")
	before = []byte(text)
	if !isText {
		var err error
		if before, err = os.ReadFile(filepath.Join("inspect", "tables", filepath.FromSlash(file))); err != nil {
			t.Fatal(err)
		}
	}
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(before))
		if err == nil {
			before, err = io.ReadAll(z)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	after = bytes.ReplaceAll(before, []byte(old), []byte(changed))
	if strings.HasSuffix(file, ".zip") {
		before, after = rezip(t, before, nil), rezip(t, before, strings.NewReplacer(old, changed))
	}
	if bytes.Equal(before, after) {
		t.Fatalf("%s: %q is not in it", file, old)
	}
	return before, after
}

// rezip writes the members of a zip anew, changed by replace if that is not nil.
func rezip(t *testing.T, data []byte, replace *strings.Replacer) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if replace != nil {
			body = []byte(replace.Replace(string(body)))
		}
		if err := addMember(w, m.Name, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func addMember(w *zip.Writer, name string, body []byte) error {
	m, err := w.Create(name)
	if err == nil {
		_, err = m.Write(body)
	}
	return err
}

// From the crawl to rows, differences, search and triples: every format that is read is so on the whole way, by itself
// and as a member of an archive.
func TestEveryFormatIsReadFromEndToEnd(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	var several [2]bytes.Buffer
	w := [2]*zip.Writer{zip.NewWriter(&several[0]), zip.NewWriter(&several[1])}
	name := func(i int) string {
		if f := everyFormat[i].file; f[0] != ':' {
			return strings.TrimSuffix(path.Base(f), ".gz")
		}
		return fmt.Sprintf("text%d", i)
	}
	files := make([][2][]byte, len(everyFormat))
	var urls []string
	for i, f := range everyFormat {
		files[i][0], files[i][1] = formatFile(t, f.file, f.old, f.new)
		urls = append(urls, s.URL+"/"+name(i))
		for side := range w {
			if f.mime == "application/zip" {
				continue
			}
			if err := addMember(w[side], name(i), files[i][side]); err != nil {
				t.Fatal(err)
			}
		}
	}
	urls = append(urls, s.URL+"/all.zip")
	for side := range w {
		if err := w[side].Close(); err != nil {
			t.Fatal(err)
		}
		for i := range files {
			s.set("/"+name(i), string(files[i][side]))
		}
		s.set("/all.zip", several[side].String())
		if side == 0 {
			if _, err := n.Add(t.Context(), seedsOf(urls)); err != nil {
				t.Fatal(err)
			}
		} else {
			n.clock.advance(48 * time.Hour)
		}
		n.crawl(t, RunOptions{})
	}
	for i, f := range everyFormat {
		checkFormat(t, n, urls[i], f.mime, f.column, f.kind, f.where)
	}
	latest := latestOf(t, n, s.URL+"/all.zip")
	tables, inside, err := n.Pipeline.Archive.Tables(t.Context(), latest)
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, table := range tables {
		read[table.Member] = true
		checkRows(t, n, latest, table.Member, table.Profile.Rows, func(f func([][]byte) error) error {
			return n.Pipeline.Archive.EachRowFrom(t.Context(), latest, table, inspect.Marks{}, f)
		})
	}
	for i, f := range everyFormat {
		if f.mime == "application/zip" {
			continue
		}
		at := slices.IndexFunc(inside.Members, func(m inspect.Member) bool { return m.Path == name(i) })
		if at < 0 || inside.Members[at].Type != f.mime || !read[name(i)] {
			t.Errorf("%s as a member of a zip: %d, %v", name(i), at, inside.Members[max(at, 0)].Type)
		}
	}
	if change, err := n.Pipeline.Archive.Change(t.Context(), latest.ID); err != nil || change == nil || change.Kind != diff.Tables ||
		change.RowsChanged == 0 {
		t.Errorf("the change of the zip: %+v, %v", change, err)
	}
}

func seedsOf(urls []string) (seeds []catalog.Seed) {
	for _, u := range urls {
		seeds = append(seeds, catalog.Seed{URL: u})
	}
	return seeds
}

func latestOf(t *testing.T, n *node, url string) catalog.Version {
	t.Helper()
	versions, err := n.Pipeline.Archive.Versions(t.Context(), url)
	if err != nil || len(versions) != 2 {
		t.Fatalf("%s has %d versions: %v", url, len(versions), err)
	}
	return versions[1]
}

// checkFormat checks what is known of the latest version of a file.
func checkFormat(t *testing.T, n *node, url, mime, column string, kind diff.Kind, where bool) {
	t.Helper()
	latest := latestOf(t, n, url)
	if latest.Type != mime {
		t.Errorf("%s is %s, want %s", url, latest.Type, mime)
	}
	tables, inside, err := n.Pipeline.Archive.Tables(t.Context(), latest)
	if err != nil || len(tables) == 0 {
		t.Errorf("%s: %d tables, %v", url, len(tables), err)
		return
	}
	var columns []string
	located := false
	for _, table := range tables {
		located = located || table.Profile.Extent != nil || table.Profile.Geometry != nil
		for _, c := range table.Profile.Columns {
			columns = append(columns, c.Name+" "+c.Datatype)
		}
		checkRows(t, n, latest, url, table.Profile.Rows, func(f func([][]byte) error) error {
			return n.Pipeline.Archive.EachRowFrom(t.Context(), latest, table, inspect.Marks{}, f)
		})
	}
	if column != "" && !slices.Contains(columns, column) {
		t.Errorf("%s has no column %s: %q", url, column, columns)
	}
	if located != where {
		t.Errorf("%s: it says where its things are: %v", url, located)
	}
	if change, err := n.Pipeline.Archive.Change(t.Context(), latest.ID); err != nil || change == nil || change.Kind != kind || change.Same {
		t.Errorf("%s: its change is %+v, %v", url, change, err)
	}
	word, _, _ := strings.Cut(columns[0], " ")
	found, err := n.Pipeline.Archive.Search(t.Context(), catalog.Search{Text: word, Limit: 100})
	if err != nil || !slices.ContainsFunc(found.Resources, func(r catalog.Resource) bool { return r.URL == url }) && len(word) > 2 &&
		!strings.HasPrefix(word, "_col") {
		t.Errorf("a search for %q does not find %s: %v", word, url, err)
	}
	if len(inside.Faults) > 0 {
		t.Errorf("%s: %q", url, inside.Faults)
	}
}

// checkRows checks that a table has as many rows as its profile counts.
func checkRows(t *testing.T, n *node, v catalog.Version, what string, want int64, each func(func([][]byte) error) error) {
	t.Helper()
	rows := int64(0)
	if err := each(func([][]byte) error { rows++; return nil }); err != nil || rows != want {
		t.Errorf("%s, version %s: %d rows of %d, %v", what, v.ID, rows, want, err)
	}
}
