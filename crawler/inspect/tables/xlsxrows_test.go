package tables

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
	"testing"
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
		s := rowScan{in: bufio.NewReaderSize(strings.NewReader("<sheetData>"+c.sheet), 64)}
		if err := s.run(t.Context()); errors.Is(err, errWideRow) != c.wide {
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
	sheet := &odsSheet{dec: dec}
	row, err := sheet.cells()
	if err != nil || len(row) != maxODSCells || cap(row) > 2*maxODSCells {
		t.Errorf("%d cells in memory of %d, %v", len(row), cap(row), err)
	}
}
