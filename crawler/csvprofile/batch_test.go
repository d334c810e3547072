package csvprofile

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"testing"
)

func TestPlainCellsAreReadAsAllOthers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	const alphabet = "abcdefghij,,,,\"\n\r\x00\x8a\x8c\xac\u00e9;"
	read := func(text []byte, quote string, simple bool) (cells []string) {
		r := NewRows(bytes.NewReader(text), Dialect{Delimiter: ",", QuoteChar: quote})
		r.simple = simple
		for r.Next() {
			for _, c := range r.Cells() {
				cells = append(cells, string(c))
			}
			cells = append(cells, "\n", string(rune(r.Line())))
		}
		return cells
	}
	for range 3000 {
		text := make([]byte, rng.IntN(200))
		for i := range text {
			text[i] = alphabet[rng.IntN(len(alphabet))]
		}
		for _, quote := range []string{`"`, ""} {
			if got, want := read(text, quote, true), read(text, quote, false); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q with quote %q: %q, want %q", text, quote, got, want)
			}
		}
	}
}

func TestBatchesOfRowsMakeTheSameProfile(t *testing.T) {
	t.Parallel()
	data := openData(2 << 20)
	data = append(data, "1,2\nfooter\n1,2,3,4,5,6,7,8,9,10,11,12\n"...) // rows that do not fit a batch
	data = append(data, data[bytes.IndexByte(data, '\n')+1:1<<20]...)
	p, err := Read(context.Background(), bytes.NewReader(data), Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := NewRows(bytes.NewReader(data), p.Dialect)
	var table *Table
	for rows.Next() {
		if table == nil {
			var names []string
			for _, c := range rows.Cells() {
				names = append(names, string(c))
			}
			table = NewTable(names)
			continue
		}
		table.Add(rows.Cells())
	}
	one := new(Profile)
	table.finish(one)
	for i := range one.Columns {
		one.Columns[i].Titles = p.Columns[i].Titles
	}
	if one.Rows != p.Rows || one.Ragged != p.Ragged || !reflect.DeepEqual(one.Columns, p.Columns) {
		t.Fatalf("row by row: %d rows, %d ragged; in batches %d, %d, or columns that differ", one.Rows, one.Ragged, p.Rows, p.Ragged)
	}
}
