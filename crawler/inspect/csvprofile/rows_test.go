package csvprofile

import (
	"encoding/csv"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

func TestWellFormedTablesReadAsTheStandardLibraryReadsThem(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a,b\n1,2\n", "\"x\ny\",z\r\n\"q\"\"q\",\n,\n", "a\n\n\nb\n", string(openData(50_000))} {
		r := csv.NewReader(strings.NewReader(text))
		r.FieldsPerRecord = -1
		want, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, src := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			rows := NewRows(src, Dialect{Delimiter: ",", QuoteChar: `"`})
			var got [][]string
			for rows.Next() {
				if len(rows.Cells()) > 1 || len(rows.Cells()[0]) > 0 {
					got = append(got, copyCells(rows.Cells()))
				}
			}
			if rows.Err() != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%.40q: %.200q, %v", text, got, rows.Err())
			}
		}
	}
}

func FuzzRows(f *testing.F) {
	for _, s := range []string{"", "a,b\n", "\"a\"\"b\",c\r\n", "\"open\nx", "a\rb\r\nc", "x\\,y,z", "\"a\"b\"c\",d\n", "\n\n", ",,\n"} {
		f.Add(s, ",", `"`, `\`)
	}
	f.Fuzz(func(t *testing.T, text, delim, quote, escape string) {
		d := Dialect{Delimiter: delim, QuoteChar: quote, EscapeChar: escape}
		whole := tableOf([]byte(text), delim, quote, escape)
		var pieces [][]string
		rows := NewRows(iotest.OneByteReader(strings.NewReader(text)), d)
		for rows.Next() {
			if len(rows.Cells()) > 1 || len(rows.Cells()[0]) > 0 {
				pieces = append(pieces, copyCells(rows.Cells()))
			}
		}
		if !reflect.DeepEqual(whole, pieces) {
			t.Errorf("whole %q, in pieces %q", whole, pieces)
		}
	})
}
