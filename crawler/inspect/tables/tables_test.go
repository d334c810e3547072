package tables

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/testdata/shared"

	"github.com/parquet-go/parquet-go"
	"github.com/xuri/excelize/v2"

	"odarchive/crawler/inspect/csvprofile"
)

func read(t testing.TB, mediaType string, data []byte) []*csvprofile.Profile {
	t.Helper()
	found, err := Read(context.Background(),
		Input{Type: mediaType, Size: int64(len(data)), Body: bytes.NewReader(data), TempDir: t.TempDir()}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// summary returns "name: rows; column datatype, ...".
func summary(ps []*csvprofile.Profile) string {
	var parts []string
	for _, p := range ps {
		var cols []string
		for _, c := range p.Columns {
			cols = append(cols, c.Name+" "+c.Datatype)
		}
		parts = append(parts, fmt.Sprintf("%s: %d; %s", p.Name, p.Rows, strings.Join(cols, ", ")))
	}
	return strings.Join(parts, " | ")
}

func TestSheetsOfXLSXAreTables(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	book.SetSheetName("Sheet1", "towns")
	for i, row := range [][]any{{"Population", nil, nil}, {"name", "people", "share"}, {"Wien", 1911191, 0.5}, {"Graz", 291072, 0.25},
		{"Linz", 206595, 0.125}} {
		book.SetSheetRow("towns", fmt.Sprintf("A%d", i+1), &row)
	}
	book.NewSheet("empty")
	var b bytes.Buffer
	if err := book.Write(&b); err != nil {
		t.Fatal(err)
	}
	if got := summary(read(t, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		b.Bytes())); got != "towns: 3; name string, people integer, share decimal" {
		t.Error(got)
	}
}

func TestSheetsOfODSAreTables(t *testing.T) {
	t.Parallel()
	content := `<?xml version="1.0"?><office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body><office:spreadsheet>
<table:table table:name="S"><table:table-row><table:table-cell office:value-type="string"><text:p>name</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>n</text:p></table:table-cell><table:table-cell><text:p>day</text:p></table:table-cell></table:table-row>
<table:table-row table:number-rows-repeated="2"><table:table-cell><text:p>Wien</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="1.5"><text:p>1,5</text:p></table:table-cell><table:table-cell office:value-type="date" office:date-value="2020-01-31"><text:p>31.1.</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row>
<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
</table:table></office:spreadsheet></office:body></office:document-content>`
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create("content.xml")
	io.WriteString(w, content)
	z.Close()
	if got := summary(read(t, "application/vnd.oasis.opendocument.spreadsheet",
		b.Bytes())); got != "S: 2; name string, n decimal, day date" {
		t.Error(got)
	}
}

func TestArraysOfObjectsInJSONAreTables(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`[{"a":1,"b":"x"},{"a":2,"c":{"d":true}}]`:                  ": 2; a integer, b string, c.d boolean",
		`{"meta":{"n":2},"result":{"records":[{"id":1},{"id":2}]}}`: "result.records: 2; id integer",
		`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"` +
			`x"}}]}`: "features: 1; type string, geometry string, name string",
		`[1,2,3]`:                         "",
		`{"a":[{"x":1}],"b":[{"y":"z"}]}`: "a: 1; x integer | b: 1; y string",
	} {
		if got := summary(read(t, "application/json", []byte(in))); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	if got := summary(read(t, "application/x-ndjson",
		[]byte("{\"a\":1}\n\n{\"a\":2,\"b\":null}\nbroken\n"))); got != ": 2; a integer, b string" {
		t.Error(got)
	}
}

func TestListsOfRecordsInXMLAreTables(t *testing.T) {
	t.Parallel()
	in := `<?xml version="1.0"?><data><head><x>1</x></head><rows>
<row id="1"><name>Wien</name><geo><lat>48.2</lat></geo><tag>a</tag><tag>b</tag></row>
<row id="2"><name>Graz</name><geo><lat>47.1</lat></geo></row>
<row id="3"><name>Linz</name><geo><lat>48.3</lat></geo></row></rows></data>`
	got := read(t, "application/xml", []byte(in))
	if s := summary(got); s != "data/rows/row: 3; @id integer, name string, geo/lat decimal, tag string" {
		t.Error(s)
	}
}

func TestTablesInPagesAreTables(t *testing.T) {
	t.Parallel()
	in := `<html><body><table><tr><td>layout</td></tr></table>
<table><caption>Towns</caption><thead><tr><th>name<th>people</thead><tr><td>Wien<td>1911191</tr><tr><td><b>Graz</b></td><td>291072</td></tr></table></body></html>`
	if got := summary(read(t, "text/html", []byte(in))); got != "Towns: 2; name string, people integer" {
		t.Error(got)
	}
}

func TestParquetFilesAreTables(t *testing.T) {
	t.Parallel()
	type row struct {
		Name string   `parquet:"name"`
		N    int64    `parquet:"n"`
		X    float64  `parquet:"x"`
		Day  int32    `parquet:"day,date"`
		Tags []string `parquet:"tags,list"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{{"Wien", 1, 0.5, 18292, []string{"a", "b"}}, {"Graz", 2, 1.5, 18293, nil}}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	got := read(t, "application/vnd.apache.parquet", b.Bytes())
	if s := summary(got); !strings.HasPrefix(s, ": 2; name string, n integer, x decimal, day date, tags") ||
		got[0].Columns[3].Min != "2020-01-31" {
		t.Error(s, got[0].Columns[3].Min)
	}
}

func TestColumnsOfFixedWidthAreTables(t *testing.T) {
	t.Parallel()
	in := "NAME        PEOPLE  AREA\nWien       1911191 414.8\nGraz        291072 127.5\nSt. Pölten   55514 108.5\n"
	p, err := FixedWidth(context.Background(), Input{Size: int64(len(in)), Body: strings.NewReader(in)}, Options{})
	if err != nil || p == nil || summary([]*csvprofile.Profile{p}) != ": 3; NAME string, PEOPLE integer, AREA decimal" {
		t.Fatalf("%v, %v", p, err)
	}
	prose := "This is a text.\nIt has some lines\nthat do not line up at all,\nas texts go.\nNothing to see here.\n"
	if p, _ := FixedWidth(context.Background(), Input{Size: int64(len(prose)), Body: strings.NewReader(prose)}, Options{}); p != nil {
		t.Errorf("prose is a table: %+v", p)
	}
}

func TestFilesThatAreNotWhatTheySayGiveErrors(t *testing.T) {
	t.Parallel()
	for _, mt := range []string{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.ms-excel",
		"application/vnd.oasis.opendocument.spreadsheet",
		"application/vnd.apache.parquet", "image/png"} {
		_, err := Read(context.Background(), Input{Type: mt, Size: 4, Body: strings.NewReader("junk")}, Options{})
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", mt, err)
		}
	}
}

func TestRowsAreLimited(t *testing.T) {
	t.Parallel()
	in := "[" + strings.Repeat(`{"a":1},`, 999) + `{"a":1}]`
	found, err := Read(context.Background(), Input{Type: "application/json", Size: int64(len(in)), Body: strings.NewReader(in)},
		Options{MaxRows: 100})
	if err != nil || len(found) != 1 || !found[0].Truncated || found[0].Rows != 100 {
		t.Errorf("%v, %v", summary(found), err)
	}
}

// TestThirdPartyBooksAreRead reads the workbooks of the shared corpus: each has a table or a reason.
func TestThirdPartyBooksAreRead(t *testing.T) {
	t.Parallel()
	dir := shared.Data(t, "mime")
	types := map[string]string{".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		".xls": "application/vnd.ms-excel", ".ods": "application/vnd.oasis.opendocument.spreadsheet"}
	read, of := 0, 0
	for ext, mt := range types {
		files, _ := filepath.Glob(filepath.Join(dir, "*", ext[1:], "*"+ext))
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			of++
			found, err := Read(context.Background(), Input{Type: mt, Size: int64(len(b)), Body: bytes.NewReader(b), TempDir: t.TempDir()},
				Options{})
			if err == nil {
				read++
			}
			t.Logf("%s: %d tables, %v", filepath.Base(f), len(found), err)
		}
	}
	if of > 0 && read*10 < of*8 {
		t.Errorf("%d of %d books read", read, of)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(uint8(0), []byte(`[{"a":1}]`))
	f.Add(uint8(1), []byte("{\"a\":1}\n"))
	f.Add(uint8(2), []byte(`<a><b c="1" d="2"/><b c="3" d="4"/></a>`))
	f.Add(uint8(3), []byte(`<table><tr><td>1<td>2<tr><td>3<td>4</table>`))
	f.Add(uint8(4), []byte("PK\x03\x04"))
	f.Add(uint8(5), []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"))
	f.Add(uint8(6), []byte("PAR1PAR1"))
	types := []string{"application/json", "application/x-ndjson", "application/xml", "text/html",
		"application/vnd.oasis.opendocument.spreadsheet",
		"application/vnd.ms-excel", "application/vnd.apache.parquet"}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		in := Input{Type: types[int(kind)%len(types)], Size: int64(len(data)), Body: bytes.NewReader(data)}
		_, _ = Read(context.Background(), in, Options{MaxRows: 1000, MaxUnpack: 1 << 20})
		_, _ = FixedWidth(context.Background(), in, Options{MaxRows: 1000})
	})
}

func TestRowsBelowAHeaderInJSONAreATable(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`[["town","people"],["Wien",1911191],["Graz",null],[1,2,3],{"x":1}]`: ": 2; town string, people integer",
		`{"data":[["a","b"],["x",{"c":1}]],"more":[1,2]}`:                    "data: 1; a string, b string",
		`[["a","a"],["x","y"]]`: "",
		`{"type":"Polygon","coordinates":[[[1,2],[3,4]],[[5,6],[7,8]]]}`: "",
	} {
		if got := summary(read(t, "application/json", []byte(body))); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestLinesThatAreNoJSONAreCountedAndPassedOver(t *testing.T) {
	t.Parallel()
	found := read(t, "application/x-ndjson", []byte("{\"a\":1}\n{\"a\":2,\"b\"\n[3]\n{\"a\":4}\n"))
	if got := summary(found); got != ": 2; a integer" || !strings.Contains(fmt.Sprint(found[0].Why), "2 lines are not JSON objects") {
		t.Error(got, found[0].Why)
	}
}
