package csvprofile

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"odarchive/crawler/inspect/charset"
	"odarchive/testdata/shared"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// tableOf returns the records of a text in one dialect, without blank lines.
func tableOf(text []byte, delim, quote, escape string) [][]string {
	var rows [][]string
	r := newRowsBytes(text, Dialect{Delimiter: delim, QuoteChar: quote, EscapeChar: escape})
	for r.Next() {
		if len(r.Cells()) > 1 || len(r.Cells()[0]) > 0 {
			rows = append(rows, copyCells(r.Cells()))
		}
	}
	return rows
}

// TestThirdPartyTablesAreRead checks the levels reached on the open half of the corpus: the same table as with the true
// dialect, and whether there is a header.
func TestThirdPartyTablesAreRead(t *testing.T) {
	t.Parallel()
	dir := shared.Data(t, "csv")
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Skip(err)
	}
	var manifest []struct {
		File, Delimiter, Quotechar, Escapechar, Encoding string
		Header                                           *int `json:"header_lines"`
		Preamble                                         *int `json:"preamble_lines"`
	}
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	tables, headers, headersOf, preambles := 0, 0, 0, 0
	for _, m := range manifest {
		b, err := os.ReadFile(filepath.Join(dir, m.File))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Read(context.Background(), bytes.NewReader(b), Options{})
		if err != nil {
			t.Fatalf("%s: %v", m.File, err)
		}
		text := b
		if r, err := charset.NewReader(bytes.NewReader(b), p.Dialect.Encoding); err == nil {
			text, _ = io.ReadAll(r)
		}
		text = text[:min(len(text), 200_000)]
		if reflect.DeepEqual(tableOf(text, m.Delimiter, m.Quotechar, m.Escapechar),
			tableOf(text, p.Dialect.Delimiter, p.Dialect.QuoteChar, p.Dialect.EscapeChar)) {
			tables++
		} else {
			t.Logf("%s: read with %q %q %q, true are %q %q %q", m.File, p.Dialect.Delimiter, p.Dialect.QuoteChar, p.Dialect.EscapeChar,
				m.Delimiter, m.Quotechar, m.Escapechar)
		}
		if m.Header != nil {
			headersOf++
			if (*m.Header > 0) == p.Dialect.Header {
				headers++
			} else {
				t.Logf("%s: header %v (%v)", m.File, p.Dialect.Header, p.Why)
			}
			if *m.Preamble == p.Dialect.Preamble {
				preambles++
			}
		}
	}
	for _, s := range []struct {
		what  string
		n, of int
		floor float64
	}{{"tables", tables, len(manifest), 98}, {"headers", headers, headersOf, 98.5}, {"preambles", preambles, headersOf, 95}} {
		share := 100 * float64(s.n) / float64(s.of)
		t.Logf("%s right: %d of %d, %.2f %%", s.what, s.n, s.of, share)
		if share < s.floor {
			t.Errorf("%s: %.2f %%, below the level reached before", s.what, share)
		}
	}
}
