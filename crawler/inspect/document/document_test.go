package document

import (
	"archive/zip"
	"bytes"
	"reflect"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables/source"
)

// zipOf returns a zip with members, given as name and content in turn.
func zipOf(t testing.TB, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		w, err := z.Create(members[i])
		if err == nil {
			_, err = w.Write([]byte(members[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read returns what a file says of itself.
func read(t testing.TB, mediaType string, raw []byte) *Document {
	t.Helper()
	d, err := Read(t.Context(), source.Input{Type: mediaType, Size: int64(len(raw)), Body: bytes.NewReader(raw)})
	if err != nil {
		t.Errorf("%s: %v", mediaType, err)
	}
	return d
}

const (
	docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	odtType  = "application/vnd.oasis.opendocument.text"
)

func TestDocumentsSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	core := `<cp:coreProperties xmlns:cp="x" xmlns:dc="y" xmlns:dcterms="z"><dc:title>Bericht
 2024</dc:title><dc:creator>Statistik Austria</dc:creator><dc:language>de_at</dc:language><dcterms:created>2024-02-03T10:00:00Z</dcterms:created></cp:coreProperties>`
	app := `<Properties><Application>LibreOffice</Application><AppVersion>7.4</AppVersion><Pages>12</Pages></Properties>`
	meta := `<office:document-meta ` +
		`xmlns:office="o"><office:meta><dc:title>Report</dc:title><meta:initial-creator>Ann</meta:initial-creator><meta:creation-date>202` +
		`3-01-02T03:04:05.678</meta:creation-date><dc:language>en-US</dc:language><meta:generator>X</meta:generator><meta:document-statis` +
		`tic meta:page-count="3" meta:table-count="1"/></office:meta></office:document-meta>`
	opf := `<package><metadata><dc:title>A ` +
		`book</dc:title><dc:language>fr</dc:language><dc:creator>B</dc:creator><dc:date>2020-01-01</dc:date></metadata></package>`
	page := `<!doctype html><html lang="de-AT"><head><title>Luft&amp;Güte</title><meta name="Description" content="Messwerte"><meta ` +
		`name=generator content="Drupal 9"></head><body><title>no</title>`
	for _, c := range []struct {
		mediaType string
		raw       []byte
		want      Document
	}{
		{docxType, zipOf(t, "docProps/core.xml", core, "docProps/app.xml", app),
			Document{Title: "Bericht 2024", Creator: "Statistik Austria", Languages: []string{"de-AT"}, Created: "2024-02-03T10:00:00Z",
				Software: "LibreOffice 7.4", Pages: 12}},
		{odtType, zipOf(t, "meta.xml", meta),
			Document{Title: "Report", Creator: "Ann", Languages: []string{"en-US"}, Created: "2023-01-02T03:04:05", Software: "X",
				Pages: 3}},
		{"application/epub+zip",
			zipOf(t, "META-INF/container.xml", `<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>`, "a.opf", opf),
			Document{Title: "A book", Languages: []string{"fr"}, Creator: "B", Created: "2020-01-01"}},
		{"text/html", []byte(page),
			Document{Title: "Luft&Güte", Description: "Messwerte", Languages: []string{"de-AT"}, Software: "Drupal 9"}},
	} {
		if got := read(t, c.mediaType, c.raw); got == nil || !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.mediaType, got, c.want)
		}
	}
	if d := read(t, "text/html", []byte("<p>nothing")); d != nil {
		t.Errorf("a page without a head says %+v", d)
	}
	if d, err := Read(t.Context(), source.Input{Type: docxType, Size: 3, Body: bytes.NewReader([]byte("abc"))}); err == nil || d != nil {
		t.Errorf("not a zip: %v, %v", d, err)
	}
}

func TestStandardsOfTables(t *testing.T) {
	t.Parallel()
	gtfs := []string{"agency.txt", "\ufeffagency_id,agency_name,agency_lang\n1,Wiener Linien,de\n", "feed/stops.txt", "stop_id\n",
		"routes.txt", "x\n", "trips.txt", "x\n", "stop_times.txt", "x\n", "calendar.txt", "x\n",
		"feed_info.txt", "feed_publisher_name,feed_lang,feed_start_date,feed_version\nVOR,en,20240101,7\n"}
	d := read(t, "application/zip", zipOf(t, gtfs...))
	want := Document{Standard: "GTFS", Conforms: d.Conforms, Creator: "VOR", Languages: []string{"en", "de"},
		Title: "Timetable of Wiener Linien", Attributes: []Attribute{{"feed_version", "7"}, {"feed_start_date", "2024-01-01"}}}
	if !reflect.DeepEqual(*d, want) {
		t.Errorf("%+v", d)
	}
	if d := read(t, "application/zip", zipOf(t, gtfs[2:]...)); d != nil {
		t.Errorf("a zip without agencies is %+v", d)
	}
	for text, standard := range map[string]string{
		"DATAFLOW,FREQ,TIME_PERIOD,OBS_VALUE\nx": "SDMX", "\"STRUCTURE[;]\",STRUCTURE_ID,ACTION,DIM_1\nx": "SDMX",
		"STRUCTURE;STRUCTURE_ID;A\n": "SDMX",
		"DATAFLOW,b,c\n":             "", "a,b,c\n": "", "structure,b,c": "", "": "",
	} {
		got := ""
		if d := read(t, "text/csv", []byte(text)); d != nil {
			got = d.Standard
		}
		if got != standard {
			t.Errorf("%q is %q, want %q", text, got, standard)
		}
	}
	d = read(t, "application/json",
		[]byte(
			`{"class":"dataset","version":"2.0","label":"L","updated":"2024-01-31","id":["a"],"size":[1],"dimension":{"a":{"category":{"l`+
				`abel":{"k":"v"}}}},"value":[1]}`))
	if d == nil || d.Standard != "JSON-stat" || d.Title != "L" || d.Modified != "2024-01-31" || len(d.Dimensions) != 1 {
		t.Errorf("%+v", d)
	}
	if d := read(t, "application/json", []byte(`{"a":1}`)); d != nil {
		t.Errorf("%+v", d)
	}
}

func TestTimesAndLanguages(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"D:20240131120000+01'00'": "2024-01-31T12:00:00+01:00", "D:20240131120000Z": "2024-01-31T12:00:00Z", "D:20240131": "2024-01-31",
		"20240131120000": "2024-01-31T12:00:00",
		"2024-01-31":     "2024-01-31", "20240131": "2024-01-31", "2024-01-31T01:02:03Z": "2024-01-31T01:02:03Z",
		"2024-01-31T01:02:03+02:00": "2024-01-31T01:02:03+02:00",
		"yesterday":                 "", "": "", "0000-00-00": "", "D:99999999999999": "", "2024-13-31": "",
	} {
		if got := xsdTime(in); got != want {
			t.Errorf("xsdTime(%q) = %q, want %q", in, got, want)
		}
	}
	if got := languages([]string{"DE_at", "en", "en", "x", "zh-hant-tw", "not a language", "e1"}); strings.Join(got,
		" ") != "de-AT en zh-Hant-TW" {
		t.Errorf("languages: %v", got)
	}
}

func TestADocumentFitsIntoItsRoom(t *testing.T) {
	t.Parallel()
	d := &Document{Title: "t"}
	for range 2000 {
		d.Attributes = append(d.Attributes, Attribute{"name", strings.Repeat("v", 5000)})
		d.Variables = append(d.Variables, Variable{Name: strings.Repeat("n", 5000), Dimensions: make([]string, 100)})
	}
	d.bound()
	if len(d.Attributes) != maxAttributes || len(d.Variables) != maxVariables || d.Omitted != 4000-maxAttributes-maxVariables {
		t.Errorf("%d attributes, %d variables, %d omitted", len(d.Attributes), len(d.Variables), d.Omitted)
	}
	if n := d.Fit(10_000); n > 10_000 || len(d.Variables) > 50 || d.Omitted != 4000-len(d.Variables)-len(d.Attributes) {
		t.Errorf("%d bytes, %d variables, %d omitted", n, len(d.Variables), d.Omitted)
	}
}
