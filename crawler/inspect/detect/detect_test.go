package detect

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/testdata/shared"
)

func detected(t testing.TB, name, declared, content string) Detection {
	t.Helper()
	d, err := File(context.Background(), Input{Name: name, Declared: declared, Size: int64(len(content)), Body: strings.NewReader(content)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// sameType reports whether two media types name the same type.
func sameType(a, b string) bool {
	if a == b {
		return true
	}
	for _, names := range []string{"text/xml application/xml", "application/rtf text/rtf", "application/ogg audio/ogg video/ogg",
		"audio/mp4 audio/x-m4a video/mp4",
		"text/plain text/markdown", // the corpus is of before RFC 7763
		"application/x-xz application/xz", "application/vnd.rar application/x-rar-compressed", "application/x-hdf application/x-hdf5"} {
		has := func(t string) bool { return strings.Contains(" "+names+" ", " "+t+" ") }
		if has(a) && has(b) {
			return true
		}
	}
	return false
}

// TestThirdPartyFilesAreRecognised checks the level reached on the open half of the corpus.
func TestThirdPartyFilesAreRecognised(t *testing.T) {
	t.Parallel()
	dir := shared.Data(t, "mime")
	var manifest []struct{ File, Mime string }
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Skip(err)
	}
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	for _, named := range []bool{true, false} {
		right := 0
		for _, m := range manifest {
			b, err := os.ReadFile(filepath.Join(dir, m.File))
			if err != nil {
				t.Fatal(err)
			}
			name := ""
			if named {
				name = m.File
			}
			d := detected(t, name, "", string(b))
			if sameType(d.Type, m.Mime) {
				right++
			} else {
				t.Logf("%s: %s, want %s (%s)", m.File, d.Type, m.Mime, d.Because)
			}
		}
		share, floor := 100*float64(right)/float64(len(manifest)), 97.0
		if named {
			floor = 99.5
		}
		t.Logf("named %v: %d of %d exact: %.2f %%", named, right, len(manifest), share)
		if share < floor {
			t.Errorf("named %v: %.2f %%, below the level reached before", named, share)
		}
	}
}

func TestContentDecidesAndNamesOnlyChoose(t *testing.T) {
	t.Parallel()
	csv := "id;name;population\n1;Wien;1897000\n2;Graz;289440\n3;Linz;205726\n"
	html := "<!DOCTYPE html>\n<html><head><title>404</title></head><body><p>Not found</p></body></html>"
	nt := "<http://example.org/a> <http://example.org/b> \"c\"@en .\n_:x <http://example.org/b> <http://example.org/d> .\n"
	for _, c := range []struct{ name, declared, content, want string }{
		{"data.csv", "text/csv", html, "text/html"},
		{"data.csv", "text/csv", "\n\n  <html><body>Error</body></html>", "text/html"},
		{"data.json", "application/json", html, "text/html"},
		{"data.csv", "", csv, "text/csv"},
		{"data", "", csv, "text/csv"},
		{"data.txt", "", csv, "text/plain"},
		{"data", "", strings.ReplaceAll(csv, ";", "\t"), "text/tab-separated-values"},
		{"readme.txt", "", "Hello, this is a text.\nIt has two lines, and commas.\n", "text/plain"},
		{"x", "", "Dear all, hello.\nThis is prose, as you see, with commas in it, here and there.\nNothing else.\n", "text/plain"},
		{"x", "", `{"a": [1, 2, {"b": null}]}`, "application/json"},
		{"x", "", "{\"a\":1}\n{\"a\":2}\n", "application/x-ndjson"},
		{"x", "", `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{}}]}`, "application/geo+json"},
		{"x", "", `{"type":"Topology","objects":{},"arcs":[]}`, "application/topo+json"},
		{"x", "", `{"@context":"https://schema.org","@type":"Dataset"}`, "application/ld+json"},
		{"x", "", `{"@context":"http://www.w3.org/ns/csvw","url":"a.csv"}`, "application/csvm+json"},
		{"x", "", `{"head":{"vars":["a"]},"results":{"bindings":[]}}`, "application/sparql-results+json"},
		{"x", "", nt, "application/n-triples"},
		{"x.ttl", "", nt, "text/turtle"},
		{"x", "", strings.ReplaceAll(nt, " .", " <http://example.org/g> ."), "application/n-quads"},
		{"x", "", "@prefix a: <http://a/> .\na:b a:c a:d ;\n  a:e 1 .\n", "text/turtle"},
		{"x", "", "PREFIX a: <http://a/>\na:g { a:b a:c a:d }\n" + "a:h {\n a:b a:c 1 .\n}\n", "application/trig"},
		{"x", "", "@prefix a: <http://a/> .\n{ ?x a:b ?y } => { ?y a:c ?x } .\n", "text/n3"},
		{"x", "", `<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>`, "application/rdf+xml"},
		{"x", "", `<rss version="2.0"><channel/></rss>`, "application/rss+xml"},
		{"x", "", `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"></feed>`, "application/atom+xml"},
		{"x", "", `<kml xmlns="http://www.opengis.net/kml/2.2"><Document/></kml>`, "application/vnd.google-earth.kml+xml"},
		{
			"x", "",
			`<?xml version="1.0"?><wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" ` +
				`xmlns:gml="http://www.opengis.net/gml/3.2"/>`, "application/gml+xml"},
		{"x", "", `<?xml version="1.0"?><WMS_Capabilities version="1.3.0"/>`, "application/vnd.ogc.wms_xml"},
		{"x", "", `<?xml version="1.0"?><mes:Structure xmlns:mes="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"/>`,
			"application/vnd.sdmx.structure+xml"},
		{"x", "", `<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"/>`, "application/xml"},
		{"x", "", `<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"></TriX>`, "application/trix+xml"},
		{"x", "", "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n", "text/calendar"},
		{"x", "", "@article{knuth84,\n  title={Literate Programming},\n}\n", "application/x-bibtex"},
		{"x", "", "From: a@example.org\r\nTo: b@example.org\r\nSubject: hi\r\nDate: Sat, 1 Jan 2022 00:00:00 +0000\r\n\r\nhello\r\n",
			"message/rfc822"},
		{"x", "", "CHARSET=\"ANSI\";\nAXIS-VERSION=\"2000\";\nMATRIX=\"BE01\";\n", "text/x-pcaxis"},
		{"x", "", "PAR1\x15\x04\x15", "application/vnd.apache.parquet"},
		{"x", "", "SQLite format 3\x00" + strings.Repeat("\x00", 52) + "GPKG" + strings.Repeat("\x00", 40),
			"application/geopackage+sqlite3"},
		{"x", "", "$FL2@(#) SPSS DATA FILE", "application/x-spss-sav"},
		{"x", "", "WARC/1.0\r\nWARC-Type: warcinfo\r\n", "application/warc"},
		{"x", "", "", "application/x-empty"},
		{"x.bin", "", "\x00\x01\x02\xff\xfe\x00\x10", "application/octet-stream"},
		{"x.br", "", "\x0b\x02\x80\x00\x01\xff\x00\x03", "application/x-brotli"},
		{"x.py", "", "import os\nprint(os)\n", "text/x-python"},
	} {
		if d := detected(t, c.name, c.declared, c.content); d.Type != c.want || d.Because == "" {
			t.Errorf("%s %.60q: %s (%s), want %s", c.name, c.content, d.Type, d.Because, c.want)
		}
	}
}

func TestAPlainTextThatIsATableSaysSo(t *testing.T) {
	t.Parallel()
	if d := detected(t, "stations.txt", "", "id\tname\tlat\n1\tA\t48.1\n2\tB\t47.2\n3\tC\t46.3\n"); d.Type != "text/plain" || !d.Tabular {
		t.Errorf("%+v", d)
	}
	if d := detected(t, "letter.txt", "", "Dear Sir,\n\nthank you.\n"); d.Tabular {
		t.Errorf("%+v", d)
	}
}

func TestCompressionIsNamed(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, "a,b\n")
	w.Close()
	if d := detected(t, "a.csv.gz", "", b.String()); d.Type != "application/gzip" || d.Compression != "gzip" || d.Charset != "" {
		t.Errorf("%+v", d)
	}
}

func TestZipsAreLookedInto(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		members []string
		want    string
	}{
		{[]string{"mimetype", "application/epub+zip", "META-INF/container.xml", "x"}, "application/epub+zip"},
		{[]string{"doc.kml", "<kml/>"}, "application/vnd.google-earth.kmz"},
		{[]string{"a.csv", "1"}, "application/zip"},
		{[]string{"[Content_Types].xml", "application/vnd.ms-excel.sheet.macroEnabled.main+xml"},
			"application/vnd.ms-excel.sheet.macroenabled.12"},
		{[]string{"META-INF/MANIFEST.MF", "", "A.class", ""}, "application/java-archive"},
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i := 0; i < len(c.members); i += 2 {
			w, _ := z.Create(c.members[i])
			io.WriteString(w, c.members[i+1])
		}
		z.Close()
		if d := detected(t, "x", "", b.String()); d.Type != c.want {
			t.Errorf("%v: %s, want %s", c.members, d.Type, c.want)
		}
	}
}

func TestTextsTellTheirEncoding(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"a,b\nc,d\n":                    "ascii",
		"Straße;Größe\n1;2\n":           "utf-8",
		"Stra\xdfe;Gr\xf6\xdfe\n1;2\n":  "iso-8859-1",
		"\xff\xfea\x00;\x00b\x00\n\x00": "utf-16le",
	} {
		if d := detected(t, "x.csv", "", content); d.Charset != want || d.Type != "text/csv" {
			t.Errorf("%q: %+v, want %s", content, d, want)
		}
	}
}

func TestTheLineIsTheContracts(t *testing.T) {
	t.Parallel()
	b, err := detected(t, "x.csv", "", "a,b\n1,2\n").Line("x.csv")
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"file", "mime", "encoding", "compression", "because"} {
		if _, ok := m[k].(string); !ok {
			t.Errorf("no %s in %s", k, b)
		}
	}
}

func TestAnEndedContextStopsDetection(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := File(ctx, Input{Body: strings.NewReader("x"), Size: 1}); err == nil {
		t.Error("no error")
	}
}

// Repetition compresses to bytes with hardly any control characters.
func TestCompressedRepetitionIsNoText(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(bytes.Repeat([]byte("0,1\n"), 5_000_000))
	z.Close()
	if d := detected(t, "", "", b.String()); d.Type != "application/gzip" || d.Compression != "gzip" {
		t.Errorf("%+v", d)
	}
}

func TestTheNameDecidesOfTextsWithAFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"a.ndjson": {"{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\"\n{\"a\":3,\"b\":\"z\"}\n", "application/x-ndjson"},
		"a.nt":     {"<http://a/b> <http://a/c> \"x\" .\nbad line\n<http://a/b> <http://a/d> <http://a/e> .\n", "application/n-triples"},
		"b.nt":     {"@prefix a: <http://a/> .\na:b a:c \"x\" .\n", "text/turtle"},
	} {
		if d := detected(t, name, "", c.body); d.Type != c.want {
			t.Errorf("%s: %+v, want %s", name, d, c.want)
		}
	}
}

func TestADocumentWithoutARootIsNoFault(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"<?xml version=\"1.0\"?>\n", "<!-- nothing -->\n\n", "<!DOCTYPE html>\n ", "<!x>\x00"} {
		if d := detected(t, "a.xml", "", body); d.Type == "" {
			t.Errorf("%q: %+v", body, d)
		}
	}
}

func TestControlCharactersAreSeenWhereverTheyStand(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range 100 {
			text := bytes.Repeat([]byte{'a'}, 100)
			text[at], text[(at+1)%100], text[(at+9)%100] = byte(c), byte(c), byte(c)
			want := c >= ' ' && c != 0x7f || strings.IndexByte("\n\r\t\v\f\x1b", byte(c)) >= 0 // three are too many of a hundred
			if printable(text) != want {
				t.Fatalf("%q at %d of a text: printable %v", byte(c), at, !want)
			}
		}
	}
}

func FuzzFile(f *testing.F) {
	for _, s := range []string{"", "a,b\n", "<html>", `{"a":[1]}`, "PK\x03\x04", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "<a:b> <c:d> <e:f> .",
		"@prefix a: <b> .", "\x03\x7a\x01\x01", "From: a\nTo: b\nDate: c\n", "<?xml version=\"1.0\"?>\n"} {
		f.Add("x", s)
	}
	f.Fuzz(func(t *testing.T, name, content string) {
		if d := detected(t, name, name, content); d.Type == "" || d.Because == "" {
			t.Errorf("%+v", d)
		}
	})
}

// RFC 7763 registers text/markdown. A text that quotes a query, a table or a list of cells is still Markdown, if that
// is its name.
func TestMarkdownIsWhatItsNameOrDeclarationSays(t *testing.T) {
	t.Parallel()
	query := "# Queries\n\nWhich files changed?\n\n```sparql\nPREFIX dct: <http://purl.org/dc/terms/>\nSELECT ?f WHERE { ?f " +
		"dct:hasVersion ?v }\n```\n"
	table := "| id | name |\n|----|------|\n| 1 | Wien |\n| 2 | Graz |\n| 3 | Linz |\n"
	for _, text := range []string{query, table, "# Columns\n\n- id: number\n- flag: 0 valid, 1 invalid\n"} {
		for _, c := range []struct{ name, declared string }{{"README.md", ""}, {"notes.markdown", "text/plain"},
			{"readme", "text/markdown; charset=utf-8"}} {
			if d := detected(t, c.name, c.declared, text); d.Type != "text/markdown" {
				t.Errorf("%q declared as %q is %s (%s), want text/markdown:\n%s", c.name, c.declared, d.Type, d.Because, text)
			}
		}
	}
	if d := detected(t, "", "", query); d.Type != "text/plain" {
		t.Errorf("a text that quotes a query is %s (%s), want text/plain", d.Type, d.Because)
	}
	if d := detected(t, "q.txt", "",
		"# changes\nPREFIX dct: <http://purl.org/dc/terms/>\nSELECT ?f WHERE { ?f dct:hasVersion ?v }\n"); d.Type != "application/sparql-"+
		"query" {
		t.Errorf("a query is %s (%s)", d.Type, d.Because)
	}
}
