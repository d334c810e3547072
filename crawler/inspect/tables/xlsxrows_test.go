package tables

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"odarchive/crawler/inspect/budget"
)

func TestRowsOfASheetThatADecoderWouldJoinAreCounted(t *testing.T) {
	t.Parallel()
	many := func(row string) string { return strings.Repeat(row, maxRowCells/2+1) }
	rising := func(format string) string {
		var b strings.Builder
		for i := range maxRowCells {
			fmt.Fprintf(&b, format, i+1)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		sheet string
		wide  bool
	}{
		"rows that rise": {rising(`<row r="%d"><c><v>1</v></c><c/></row>`), false},
		"rows that rise, with a prefix": {rising(`<verylongprefix:row spans='1:2' x:r = '%d' ><c r="A>"/><c/></verylongprefix:row>`),
			false},
		"rows without numbers":                 {many(`<row><c/><c/></row>`), false},
		"chains of calculations":               {many(`<c r="A1"/><c/>`), false},
		"the same row again and again":         {many(`<row r="1"><c/><c/></row>`), true},
		"one row":                              {`<row r="1">` + many(`<c><v>1</v></c><x:c t="s"/>`), true},
		"rows that fall":                       {`<row r="900000"/>` + rising(`<row r="%d"><c/><c/></row>`), true},
		"rows without numbers after a low one": {`<row r="900000"/><row r="1"/>` + many(`<row><c/><c/></row>`), true},
		"numbers that are no plain ones":       {many(`<row r="&#49;"><c/><c/></row>`), true},
		"two numbers":                          {rising(`<row r="%d" r="1"><c/><c/></row>`), true},
		"rises in comments":                    {rising(`<row r="1"><c/><c/></row><!-- - <row r="%d"> -->`), true},
		"rises in CDATA":                       {rising(`<row r="1"><c/><c/></row><![CDATA[ ] <row r="%d"> ]]>`), true},
		"rises in instructions":                {rising(`<row r="1"><c/><c/></row><?x <row r="%d"> ?>`), true},
		"rises in directives":                  {rising(`<row r="1"><c/><c/></row><!x "><row r='%d'>">`), true},
		"rises in long attributes": {rising(`<row r="1"><c/><c/></row><row x="` + strings.Repeat("x", 5000) + `" y="%d"/>`),
			true},
	} {
		s := rowScanOf("<sheetData>"+c.sheet, &lengths{})
		if err := s.run(t.Context()); (errors.Is(err, errWide) || errors.Is(err, budget.ErrSpent)) != c.wide {
			t.Errorf("%s: %v, wide %t", name, err, c.wide)
		}
	}
}

func TestARowOfAnOpenDocumentHasNoMoreCellsThanPrograms(t *testing.T) {
	t.Parallel()
	empty := `<table:table-cell table:number-columns-repeated="1000"/>`
	value := `<table:table-cell><text:p>x</text:p></table:table-cell>`
	dec := xml.NewDecoder(strings.NewReader(`<table:table-row>` + strings.Repeat(empty, 20_000) + strings.Repeat(value, 3) +
		`</table:table-row>`))
	dec.Strict = false
	if _, err := dec.RawToken(); err != nil {
		t.Fatal(err)
	}
	sheet := &odsSheet{dec: dec, repeats: budget.New("it", budget.Repeats)}
	row, err := sheet.cells()
	if err != nil || len(row) != maxODSCells || cap(row) > 2*maxODSCells {
		t.Errorf("%d cells in memory of %d, %v", len(row), cap(row), err)
	}
}

// rowScanOf returns a scan of the text of a part, with a small buffer, so that its borders are everywhere.
func rowScanOf(text string, shared *lengths) *rowScan {
	src := &counter{r: strings.NewReader(text)}
	return &rowScan{in: bufio.NewReaderSize(src, 64), src: src, shared: shared, memory: budget.New("a row", budget.Row)}
}

// A shared string is copied for each cell that names it, whatever the way it is named.
func TestTheTextsOfARowAreCountedBeforeTheyAreCopied(t *testing.T) {
	t.Parallel()
	strs := &lengths{each: []uint32{1 << 20, 10}, longest: 1 << 20}
	row := func(cell string, n int) string { return `<row r="1">` + strings.Repeat(cell, n) + `</row>` }
	for name, c := range map[string]struct {
		sheet string
		large bool
	}{
		"a long string, a few times":        {row(`<c t="s"><v>0</v></c>`, 15), false},
		"a long string, often":              {row(`<c t="s"><v>0</v></c>`, 17), true},
		"a short string":                    {row(`<c r="A1" t="s"><v>1</v></c>`, 10_000), false},
		"no string":                         {row(`<c t="n"><v>0</v></c><c><v>0</v></c>`, 5_000), false},
		"a number that no string has":       {row(`<c t="s"><v>12345</v></c>`, 10_000), false},
		"in single quotes, with a prefix":   {row(`<x:c x:t = 's'><x:v>0</x:v></x:c>`, 17), true},
		"a type with a character's number":  {row(`<c t="&#115;"><v>0</v></c>`, 17), true},
		"a number with characters' numbers": {row(`<c t="s"><v>&#48;</v></c>`, 17), true},
		"a number in CDATA":                 {row(`<c t="s"><v><![CDATA[0]]></v></c>`, 17), true},
		"a number with a comment in it":     {row(`<c t="s"><v>0<!-- -->0</v></c>`, 17), true},
		"a number with blanks":              {row(`<c t="s"><v> 0 </v></c>`, 17), true},
		"two numbers":                       {row(`<c t="s"><v>1</v><v>0</v></c>`, 17), true},
		"two types":                         {row(`<c t="s" t="n"><v>0</v></c>`, 17), true},
		"a type behind a long attribute":    {row(`<c x="`+strings.Repeat("x", 5000)+`" t="s"><v>0</v></c>`, 17), true},
		"several rows":                      {row(`<c t="s"><v>0</v></c>`, 10) + `<row r="2"><c t="s"><v>0</v></c></row>`, false},
		"rows with the same number":         {strings.Repeat(row(`<c t="s"><v>0</v></c>`, 1), 17), true},
		"a row of long texts":               {row(`<c t="inlineStr"><is><t>`+strings.Repeat("x", 1<<20)+`</t></is></c>`, 17), true},
		"long texts behind the rows":        {row(`<c/>`, 1) + strings.Repeat(`<x>`+strings.Repeat("x", 1<<20)+`</x>`, 17), false},
	} {
		if err := rowScanOf("<sheetData>"+c.sheet+"</sheetData>", strs).run(t.Context()); errors.Is(err, budget.ErrSpent) != c.large {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := rowScanOf(`<numFmts><numFmt numFmtId="170" formatCode="`+strings.Repeat("x", 3000)+`"/>`, strs).run(t.Context()); err == nil {
		t.Error("a number format that is copied for each cell may have any length")
	}
}

func TestSharedStringsAreMeasured(t *testing.T) {
	t.Parallel()
	l := &lengths{}
	s := rowScanOf(`<sst><si><t>abc</t></si><si/><x:si a="1"><r><t>`+strings.Repeat("x", 300)+`</t></r></x:si></sst>`, nil)
	s.strings = l
	if err := s.run(t.Context()); err != nil || len(l.each) != 3 || l.each[0] < 3 || l.each[0] > 30 || l.each[2] < 300 ||
		l.longest != l.each[2] {
		t.Errorf("%+v, %v", l, err)
	}
}

// What one cell spans, or repeats, is not bounded by the size of its file.
func TestCellsThatStandForManyDoNotTakeTheMemoryOfMany(t *testing.T) {
	page := func(table string) []byte { return []byte("<html><body>" + table + "</body></html>") }
	rows := func(row string, n int) string { return "<table>" + strings.Repeat(row, n) + "</table>" }
	wide := "<tr>" + strings.Repeat("<td colspan=100 rowspan=1000>x", 41) + strings.Repeat("<tr>", 999)
	for name, body := range map[string][]byte{
		"rows that others span":            page(rows(wide, 25)),
		"rows of one cell":                 page(rows("<tr><td colspan=100 rowspan=1000>x</td></tr>", 20_000)),
		"tables in tables":                 page(strings.Repeat("<table><tr><td>"+wide, 30)),
		"spans that begin one below other": page(rows("<tr>"+strings.Repeat("<td rowspan=1000>", 500), 1000)),
	} {
		errStop := errors.New("enough")
		one := Options{Each: func(int, [][]byte) error { return errStop }}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		found, err := Read(t.Context(), Input{Type: "text/html", Size: int64(len(body)), Body: bytes.NewReader(body)}, one)
		runtime.ReadMemStats(&after)
		if made := after.TotalAlloc - before.TotalAlloc; err != nil && !errors.Is(err, errStop) || made > 1<<30 {
			t.Errorf("%s: %d tables, %v, %d MiB were allocated", name, len(found), err, made>>20)
		}
	}
}
