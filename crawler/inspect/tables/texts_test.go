package tables

import (
	"archive/zip"
	"bytes"
	"errors"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables/source/sourcetest"
)

// package1 returns a zip with one member.
func package1(t testing.TB, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// shownTables returns the tables of a file as text.
func shownTables(t testing.TB, mediaType string, raw []byte) string {
	t.Helper()
	text := ""
	for _, table := range sourcetest.Read(t, readerOf(mediaType), sourcetest.Input(mediaType, raw)) {
		var names []string
		for _, c := range table.Columns {
			names = append(names, c.Name)
		}
		text += table.Name + ": " + strings.Join(names, "|") + "\n"
		for _, line := range table.Lines() {
			text += line + "\n"
		}
	}
	return text
}

const (
	docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	odt  = "application/vnd.oasis.opendocument.text"
)

const docxText = `<?xml version="1.0"?><w:document xmlns:w="w"><w:body><w:p><w:r><w:t>Before</w:t></w:r></w:p>
<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr><w:tc><w:p><w:r><w:t>Ci</w:t></w:r><w:r><w:t>ty</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Year</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>People</w:t></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr><w:p><w:r><w:t>Wien</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>2020</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>19</w:t><w:delText>x</w:delText></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc><w:p><w:r><w:t>2021</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>20</w:t></w:r></w:p><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>Total</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>39</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>`

const odtText = `<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body><office:text><table:table table:name="T1">
<table:table-header-rows><table:table-row><table:table-cell><text:p>City</text:p></table:table-cell><table:table-cell><text:p>Year</text:p></table:table-cell><table:table-cell><text:p>People</text:p></table:table-cell></table:table-row></table:table-header-rows>
<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Wien</text:p></table:table-cell><table:table-cell><text:p>2020</text:p></table:table-cell><table:table-cell><text:p>1<text:span>9</text:span></text:p></table:table-cell></table:table-row>
<table:table-row><table:covered-table-cell/><table:table-cell><text:p>2021</text:p></table:table-cell><table:table-cell><text:p>20<text:note><text:note-body><text:p>a note</text:p></text:note-body></text:note></text:p><text:p>a</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>Total</text:p></table:table-cell><table:covered-table-cell/><table:table-cell><text:p>39</text:p></table:table-cell></table:table-row></table:table></office:text></office:body></office:document-content>`

const htmlText = `<h1>x</h1><table role="presentation"><tr><td>a<td>b<tr><td>c<td>d</table><table><caption>T1</caption><tr><th>City<th>Year<th>People
<tr><td rowspan=2>Wien<td>2020<td>19<tr><td>2021<td>20 a<tr><td colspan=2>Total<td>39</table>`

// The same table in three formats is the same.
func TestTablesOfTexts(t *testing.T) {
	t.Parallel()
	want := "City|Year|People\nWien|2020|19\nWien|2021|20 a\nTotal||39\n"
	for name, got := range map[string]string{
		": ":   shownTables(t, docx, package1(t, "word/document.xml", docxText)),
		"T1: ": shownTables(t, odt, package1(t, "content.xml", odtText)),
	} {
		if got != name+want {
			t.Errorf("%s\n%s", name, got)
		}
	}
	if got := shownTables(t, "text/html", []byte(htmlText)); got != "T1: "+want {
		t.Errorf("HTML:\n%s", got)
	}
}

const notebookText = `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"markdown","source":["# Title\n","text"]},
{"cell_type":"code","execution_count":7,"source":"df","outputs":[{"output_type":"execute_result","data":{"text/html":["<table><tr><th></th><th>a</th></tr>","<tr><td>0</td><td>1</td></tr><tr><td>1</td><td>5</td></tr></table>"]}}]}]}`

func TestNotebooks(t *testing.T) {
	t.Parallel()
	want := "cells: cell|type|execution count|source|outputs\n1|markdown||# Title\ntext|\n2|code|7|df|1\noutput of cell 2: " +
		"_col.1|a\n0|1\n1|5\n"
	if got := shownTables(t, "application/x-ipynb+json", []byte(notebookText)); got != want {
		t.Errorf("%s", got)
	}
	old := `{"nbformat":3,"worksheets":[{"cells":[{"cell_type":"code","prompt_number":1,"input":["x"],"outputs":[]}]}]}`
	if got := shownTables(t, "application/x-ipynb+json",
		[]byte(old)); got != "cells: cell|type|execution count|source|outputs\n1|code|1|x|0\n" {
		t.Errorf("version 3: %s", got)
	}
}

func TestTextsThatAreEmptyOrNestedAreErrors(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<w:tbl><w:tr><w:tc>", 200)
	if _, err := Read(t.Context(), Input{Type: docx, Size: 0, Body: bytes.NewReader(nil)}, Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("an empty file: %v", err)
	}
	raw := package1(t, "word/document.xml", deep)
	if _, err := Read(t.Context(), Input{Type: docx, Size: int64(len(raw)), Body: bytes.NewReader(raw)}, Options{}); !errors.Is(err,
		ErrFormat) || !strings.Contains(err.Error(), "nested too deeply") {
		t.Errorf("deep tables: %v", err)
	}
}

func FuzzTexts(f *testing.F) {
	f.Add(byte(0), []byte(docxText))
	f.Add(byte(1), []byte(odtText))
	f.Add(byte(2), []byte(htmlText))
	f.Add(byte(3), []byte(notebookText))
	f.Fuzz(func(t *testing.T, kind byte, raw []byte) {
		mediaType := []string{docx, odt, "text/html", "application/x-ipynb+json"}[kind%4]
		if kind%4 < 2 {
			raw = package1(t, []string{"word/document.xml", "content.xml"}[kind%4], string(raw))
		}
		found, _ := Read(t.Context(), Input{Type: mediaType, Size: int64(len(raw)), Body: bytes.NewReader(raw)}, Options{MaxRows: 1000})
		for _, p := range found {
			if p.Rows == 0 || len(p.Columns) == 0 {
				t.Errorf("an empty table: %+v", p)
			}
		}
	})
}
