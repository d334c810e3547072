package csvprofile

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
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

// oddCells are cells that any column of a table may contain.
var oddCells = []string{"", "", "NA", "-", "n/a", " 7 ", "007", "1.5", "-1.250", "1,250", "12,5", "1.234,5", "1e9", "INF", "-INF",
	"12345678901234567890", "0.1234567890123", "5 %", "1999", "20200131",
	"2020-02-30", "2020-02-29", "31.12.1999", "1/2/03", "2020-01-31T10:00:00", "2020-01-31 24:00:00", "2020-01-31T10:00:60Z",
	"2020-01-31T10:00:00.5+02:00", "10:30", "2020-01", "Jan 2020", "March 3, 2020",
	"P1D", "true", "Nein", "Maria", "september", "unknown", "not available", "http://example.org/a b", "https://example.org/x",
	"mailto:a@b", "\u00e4\u00f6\u00fc", "\x00", "\u00a0x\u00a0", "a\x00b", strings.Repeat("long ", 60), "."}

// oddData writes a table of columns that are mostly of one kind.
func oddData(seed uint64, rows int) []byte {
	rng := rand.New(rand.NewPCG(seed, 3))
	kinds := []func(i int) string{
		func(i int) string { return fmt.Sprint(i) },
		func(i int) string { return fmt.Sprint(9_000_000 - i) },
		func(int) string { return fmt.Sprint(rng.IntN(1<<40) - 1<<39) },
		func(int) string { return fmt.Sprintf("%.*f", rng.IntN(9), 2000*rng.NormFloat64()) },
		func(int) string { return strings.Replace(fmt.Sprintf("%.2f", 2000*rng.NormFloat64()), ".", ",", 1) },
		func(int) string { return fmt.Sprintf("%d-%02d-%02d", rng.IntN(3000), 1+rng.IntN(12), 1+rng.IntN(29)) },
		func(int) string { return fmt.Sprintf("%02d/%02d/%d", 1+rng.IntN(12), 1+rng.IntN(12), 1+rng.IntN(9999)) },
		func(int) string {
			return fmt.Sprintf("%d-%02d-%02dT%02d:%02d:%02dZ", 1900+rng.IntN(200), 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(24),
				rng.IntN(60), rng.IntN(60))
		},
		func(int) string { return fmt.Sprintf("%02d:%02d:%02d", rng.IntN(24), rng.IntN(60), rng.IntN(60)) },
		func(i int) string { return fmt.Sprintf("Object %06d", i) },
		func(int) string { return fmt.Sprintf("%x", rng.Uint64()) },
		func(int) string { return fmt.Sprintf("https://example.org/%x", rng.Uint64()) },
		func(int) string { return fmt.Sprint(rng.IntN(7000)) },
	}
	odd := make([]int, len(kinds)) // per thousand
	for i := range odd {
		odd[i] = []int{0, 1, 20, 300}[rng.IntN(4)]
	}
	var b bytes.Buffer
	b.WriteString("a,b,c,d,e,f,g,h,i,j,k,l,m\n")
	for i := range rows {
		for j, kind := range kinds {
			cell := kind(i)
			if rng.IntN(1000) < odd[j] && i > 100 {
				cell = oddCells[rng.IntN(len(oddCells))]
			}
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"` + cell + `"`)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func TestBatchesOfRowsMakeTheSameProfile(t *testing.T) {
	t.Parallel()
	data := openData(2 << 20)
	data = append(data, "1,2\nfooter\n1,2,3,4,5,6,7,8,9,10,11,12\n"...) // rows that do not fit a batch
	data = append(data, data[bytes.IndexByte(data, '\n')+1:1<<20]...)
	sameByRows(t, "places", data)
	sameByRows(t, "texts", textData(1<<20))
	for seed := range uint64(4) {
		sameByRows(t, fmt.Sprint("odd ", seed), oddData(seed, 7000))
	}
}

func sameByRows(t *testing.T, name string, data []byte) {
	p, err := Read(context.Background(), bytes.NewReader(data), Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := NewRows(bytes.NewReader(data), p.Dialect)
	var rowwise *table
	for rows.Next() {
		if rowwise == nil {
			rowwise = newTable(copyCells(rows.Cells()))
			continue
		}
		rowwise.addRow(rows.Cells())
	}
	one := new(Profile)
	rowwise.finish(one)
	if one.Rows != p.Rows || one.Ragged != p.Ragged || len(one.Columns) != len(p.Columns) {
		t.Fatalf("%s: row by row %d rows, %d ragged; in batches %d, %d", name, one.Rows, one.Ragged, p.Rows, p.Ragged)
	}
	for i, want := range one.Columns {
		want.Titles, want.Sketch = p.Columns[i].Titles, slices.Clip(want.Sketch)
		if got := p.Columns[i]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: in batches\n%+v\nrow by row\n%+v", name, got, want)
		}
	}
}

func TestPlainTextsAreTextsTheGeneralWayToo(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	for range 50_000 {
		word := []byte(oddCells[rng.IntN(len(oddCells))])
		if start := strings.Fields(wordStarts); rng.IntN(2) == 0 {
			word = []byte(start[rng.IntN(len(start))] + string(word))
		}
		if len(word) > 0 && rng.IntN(2) == 0 {
			word[rng.IntN(min(len(word), 4))] = "aejm tPY7"[rng.IntN(9)]
		}
		if word = trim(word); len(word) > 0 && plainText(prefix(word)) && classifyAny(word).kind != kindText {
			t.Fatalf("%q is not plain text", word)
		}
		if got, want := classify(word), classifyAny(word); got != want {
			t.Fatalf("%q: %+v, want %+v", word, got, want)
		}
	}
	for _, word := range strings.Fields(
		"null NaN none nil missing unknown true FALSE yes nein oui non off INF January feb march april may june july august sept october " +
			"nov dec " +
			"janvier enero gennaio janeiro fevrier maart mrz mai maggio mei avril abril juin giugno luglio agosto setembro okt ottobre " +
			"outubro dezember diciembre " +
			"http://a ftp://a sftp://a file://a geo://a urn:a mailto:a doi:a info:a tel:1 data:a ark:a") {
		if plainText(prefix([]byte(word))) {
			t.Errorf("%q is not plain text", word)
		}
	}
}

func TestDigitsAreOfTheKindThatNumbersAre(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	digits := 0
	for range 200_000 {
		cell := make([]byte, rng.IntN(19))
		for i := range cell {
			cell[i] = "0123456789"[rng.IntN(10)]
		}
		for range rng.IntN(3) {
			if len(cell) > 0 {
				cell[rng.IntN(len(cell))] = ".-+,e/:\x00\x80x "[rng.IntN(11)]
			}
		}
		if cell = trim(cell); digitKind(cell) == kindEmpty {
			continue
		}
		digits++
		if got, want := digitKind(cell), classifyAny(cell).kind; got != want {
			t.Fatalf("%q is of kind %d, want %d", cell, got, want)
		}
	}
	if digits < 50_000 {
		t.Errorf("only %d cells are digits", digits)
	}
}

func TestDaysAreRealWhereTheCalendarHasThem(t *testing.T) {
	t.Parallel()
	for y := 1895; y <= 2105; y++ {
		for m := -1; m <= 14; m++ {
			for d := -1; d <= 33; d++ {
				at := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
				want := at.Year() == y && int(at.Month()) == m && at.Day() == d
				if isDate(y, m, d) != want || want && int64(dayNumber(y, m, d))*86400 != at.Unix() {
					t.Fatalf("%d-%d-%d: real %v, day %d; want %v, %d", y, m, d, !want, dayNumber(y, m, d), want, at.Unix()/86400)
				}
			}
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, cell := range oddCells {
		f.Add([]byte(cell))
	}
	f.Fuzz(func(t *testing.T, cell []byte) {
		cell = trim(cell)
		want := classifyAny(cell)
		if got := classify(cell); got != want {
			t.Errorf("%q: %+v, want %+v", cell, got, want)
		}
		if k := digitKind(cell); k != kindEmpty && k != want.kind {
			t.Errorf("%q is of kind %d, want %d", cell, k, want.kind)
		}
	})
}

func TestOnlyDigitsAreReadAsDigits(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range 3 {
			cell := []byte("123")
			cell[at] = byte(c)
			if _, ok := digits8(cell); ok != isDigit(byte(c)) {
				t.Errorf("%q is read as digits: %v", cell, ok)
			}
		}
	}
}
