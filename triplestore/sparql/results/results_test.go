package results_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"odarchive/testdata/shared"

	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
)

const xsd = "http://www.w3.org/2001/XMLSchema#"

// awkward are rows with terms that are hard to write.
var awkward = [][]term.Key{
	{term.IRI("http://example.org/a?b=c&d"), term.Blank("b0"), term.String("plain")},
	{"", term.String(""), term.Lang("Grüße, \"du\"", "de-AT")},
	{term.Typed("1", xsd+"integer"), term.Typed("-2.50", xsd+"decimal"), term.Typed("1e6", xsd+"double")},
	{term.Typed("01", xsd+"byte"), term.Typed("x<y>&", "http://example.org/dt"), term.Typed("abc", xsd+"integer")},
	{term.String("tab\there"), term.String("line\nfeed\r\nand more"), term.String("back\\slash 'quote' \"double\"")},
	{term.String("=1+1"), term.String("@cmd"), term.String("]]> <script>alert(1)</script>")},
	{term.Lang("مرحبا", "ar--rtl"),
		term.Triple(term.IRI("s:s"), term.IRI("p:p"), term.Triple(term.Blank("x"), term.IRI("q:q"), term.Lang("o", "en"))), ""},
	{"", "", ""},
}

func write(t testing.TB, f results.Format, vars []string, rows [][]term.Key) string {
	t.Helper()
	var b bytes.Buffer
	w := results.NewWriter(&b, f, results.Options{})
	if err := w.Begin(vars); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(doc string, f results.Format) (vars []string, rows [][]term.Key, err error) {
	r, err := results.NewReader(strings.NewReader(doc), f, results.Limits{})
	if err != nil {
		return nil, nil, err
	}
	for {
		row, err := r.Next()
		if err == io.EOF {
			return r.Vars(), rows, nil
		}
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, row)
	}
}

func TestEveryTermSurvivesWritingAndReading(t *testing.T) {
	t.Parallel()
	vars := []string{"s", "größe", "o"}
	for _, f := range []results.Format{results.JSON, results.XML, results.TSV} {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			doc := write(t, f, vars, awkward)
			gotVars, got, err := read(doc, f)
			if err != nil {
				t.Fatalf("%v in\n%s", err, doc)
			}
			if !reflect.DeepEqual(gotVars, vars) {
				t.Errorf("variables: got %q, want %q", gotVars, vars)
			}
			if !reflect.DeepEqual(got, awkward) {
				t.Errorf("rows: got\n%q\nwant\n%q\nin\n%s", got, awkward, doc)
			}
		})
	}
}

func TestCSVHoldsTheExactValues(t *testing.T) {
	t.Parallel()
	_, rows, err := read(write(t, results.CSV, []string{"a", "b", "c"}, awkward[:6]), results.CSV)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		for j, k := range row {
			want := awkward[i][j].Value()
			got := k.Value()
			if awkward[i][j].Kind() == term.KindBlank {
				got = k.Value()
			}
			// Go's CSV reader turns CR LF into LF.
			if want = strings.ReplaceAll(want, "\r\n", "\n"); got != want {
				t.Errorf("row %d, column %d: got %q, want %q", i, j, got, want)
			}
		}
	}
	if got := write(t, results.CSV, []string{"x"},
		[][]term.Key{{term.String("=1+1")}, {""}, {term.String("a,b")}}); got != "x\r\n=1+1\r\n\"\"\r\n\"a,b\"\r\n" {
		t.Errorf("got %q", got)
	}
}

func TestBooleansInEveryFormat(t *testing.T) {
	t.Parallel()
	for _, f := range []results.Format{results.JSON, results.XML, results.CSV, results.TSV} {
		for _, want := range []bool{true, false} {
			var b bytes.Buffer
			if err := results.NewWriter(&b, f, results.Options{}).Boolean(want); err != nil {
				t.Fatal(err)
			}
			r, err := results.NewReader(&b, f, results.Limits{})
			if err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			if got, ok := r.Boolean(); !ok || got != want {
				t.Errorf("%s: got %v %v, want %v", f, got, ok, want)
			}
		}
	}
}

func TestWhatIsWrittenIsWellFormed(t *testing.T) {
	t.Parallel()
	rows := append(awkward, []term.Key{term.String("\x00\x07\ufffe bad \xff utf8"), term.String("\u2028"), term.IRI("http://x/\x01")})
	if doc := write(t, results.JSON, []string{"a", "b", "c"}, rows); !json.Valid([]byte(doc)) {
		t.Errorf("not JSON:\n%s", doc)
	}
	doc := write(t, results.XML, []string{"a", "b", "c"}, rows)
	d := xml.NewDecoder(strings.NewReader(doc))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v\n%s", err, doc)
		}
	}
}

func TestTheHTMLTableRunsNothing(t *testing.T) {
	t.Parallel()
	got := write(t, results.HTML, []string{"<b>"}, [][]term.Key{
		{term.String("<script>alert(1)</script>")},
		{term.IRI("javascript:alert(1)")},
		{term.IRI(`http://x/" onmouseover="alert(1)`)},
		{term.Typed("x", `http://dt/"><script>`)},
		{term.String("a\u202egpj.exe\u2066b")},
		{term.IRI("urn:x\u202e")},
		{term.Lang("\u2069\u202ax", "en")},
	})
	for _, bad := range []string{"<script", `href="javascript`, `" onmouseover`, "<b>", "\u202e", "\u2066", "\u2069", "\u202a"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q in\n%s", bad, got)
		}
	}
	if !strings.Contains(got, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Errorf("the literal is not shown:\n%s", got)
	}
}

func TestTheTextTableAlignsAndCannotMoveTheCursor(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := results.NewWriter(&b, results.Table, results.Options{Prefixes: map[string]string{"ex": "http://example.org/"}, Width: 12})
	w.Begin([]string{"name", "n"})
	w.Row([]term.Key{term.IRI("http://example.org/a"), term.Typed("7", xsd+"integer")})
	w.Row([]term.Key{term.String("evil \x1b[2J\u202e"), ""})
	w.Row([]term.Key{term.Lang("a very long text", "en"), term.Typed("x", "http://example.org/dt")})
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("control characters in %q", got)
	}
	for i, line := range strings.Split(strings.TrimSpace(got), "\n") {
		if len([]rune(line)) > 12+3+12 {
			t.Errorf("line %d is too wide: %q", i, line)
		}
	}
	if !strings.HasPrefix(got, "?name        | ?n\n-------------+-") || !strings.Contains(got, "\nex:a         | 7\n") ||
		!strings.Contains(got, "…") {
		t.Errorf("got\n%s", got)
	}
}

func TestBrokenResultsAreErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f   results.Format
		doc string
	}{
		{results.JSON, ``}, {results.JSON, `{`}, {results.JSON, `[]`}, {results.JSON, `{"head":{}}`},
		{results.JSON, `{"head":{"vars":["x"]},"results":{"bindings":[{"y":{"type":"uri","value":"u"}}]}}`},
		{results.JSON, `{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":3}}]}}`},
		{results.JSON, `{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"thing","value":"v"}}]}}`},
		{results.JSON, `{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"v"}}`},
		{results.JSON, `{"head":{"vars":["x"]},"results":{"bindings":[]}`},
		{results.JSON, `{"head":{"vars":[]},"results":{"bindings":[]}} more`},
		{results.XML, ``}, {results.XML, `<html/>`},
		{results.XML, `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="x"/></head><results><result>`},
		{
			results.XML,
			`<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/><results><result><binding ` +
				`name="x"><uri>u</uri></binding></result></results></sparql>`},
		{
			results.XML,
			`<!DOCTYPE x [<!ENTITY a "b">]><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable ` +
				`name="x"/></head><results><result><binding name="x"><uri>&a;</uri></binding></result></results></sparql>`},
		{results.TSV, `x`}, {results.TSV, "?x\n<a"}, {results.TSV, "?x\n<a>\t<b>"}, {results.TSV, "?x\nex:a"},
		{results.CSV, "a,b\n1"}, {results.CSV, "a\n\"x"},
		{results.Table, "?x"},
	} {
		if _, rows, err := read(c.doc, c.f); err == nil {
			t.Errorf("%s %q was read as %q", c.f, c.doc, rows)
		}
	}
}

func TestARowWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	endless := func(head string) io.Reader { return io.MultiReader(strings.NewReader(head), repeat{}) }
	for f, head := range map[results.Format]string{
		results.JSON: `{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":"`,
		results.XML: `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="x"/></head><results><result><binding ` +
			`name="x"><literal>`,
		results.TSV: "?x\n\"",
		results.CSV: "x\n\"",
	} {
		r, err := results.NewReader(endless(head), f, results.Limits{RowBytes: 1 << 16})
		if err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, results.ErrLimit) {
			t.Errorf("%s: got %v, want %v", f, err, results.ErrLimit)
		}
	}
}

type repeat struct{}

func (repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func TestTheHeadMayComeLastInJSON(t *testing.T) {
	t.Parallel()
	vars, rows, err := read(`{"results":{"distinct":false,"bindings":[{"x":{"type":"typed-literal","datatype":"`+xsd+
		`integer","value":"1"}}],"more":{}},"head":{"link":[],"vars":["x"]}}`, results.JSON)
	if err != nil || len(vars) != 1 || len(rows) != 1 || rows[0][0] != term.Typed("1", xsd+"integer") {
		t.Errorf("got %q %q %v", vars, rows, err)
	}
}

func TestTheResultsOfTheW3CSuitesAreRead(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "w3c", "sparql")
	n := 0
	err := filepath.WalkDir(root, func(name string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		f, ok := results.ByName(strings.TrimPrefix(filepath.Ext(name), "."))
		if !ok || f == results.HTML || f == results.Table {
			return nil
		}
		doc, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		n++
		vars, rows, err := read(string(doc), f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		if f == results.CSV || vars == nil {
			return nil
		}
		_, again, err := read(write(t, f, vars, rows), f)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(rows) {
			t.Errorf("%s: written and read again: %v\n got %q\nwant %q", name, err, again, rows)
		}
		return nil
	})
	if err != nil || n < 300 {
		t.Errorf("%d files, %v", n, err)
	}
}

func FuzzReaders(f *testing.F) {
	for _, format := range []results.Format{results.JSON, results.XML, results.TSV, results.CSV} {
		f.Add(byte(format), write(f, format, []string{"s", "p", "o"}, awkward))
	}
	f.Fuzz(func(t *testing.T, format byte, doc string) {
		fm := results.Format(format % 4)
		vars, rows, err := read(doc, fm)
		if err != nil || vars == nil || fm == results.CSV {
			return
		}
		if fm == results.TSV && strings.ContainsAny(strings.Join(vars, ""), "\r\t\n?$") {
			return
		}
		if _, _, err := read(write(t, results.JSON, vars, rows), results.JSON); err != nil && len(vars) > 0 {
			t.Errorf("what was read as %s cannot be written as JSON and read: %v\n%q", fm, err, rows)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	row := []term.Key{term.IRI("http://data.example.org/dataset/budget-2020.csv"), term.String("Haushalt 2020"),
		term.Typed("2020-05-10T00:00:00Z", xsd+"dateTime")}
	for _, f := range []results.Format{results.JSON, results.XML, results.CSV, results.TSV} {
		b.Run(f.String(), func(b *testing.B) {
			w := results.NewWriter(io.Discard, f, results.Options{})
			w.Begin([]string{"url", "title", "date"})
			b.ReportAllocs()
			for b.Loop() {
				w.Row(row)
			}
		})
	}
}
