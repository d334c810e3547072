package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path/filepath"
	"strings"

	"odarchive/crawler/inspect/charset"
	"odarchive/triplestore/compression"
)

// listText is the text of a list: decompressed, and decoded to UTF-8 without a byte order mark. Its decoder is freed
// when it is read to the end.
type listText struct {
	*bufio.Reader
	kind   string // ending of the list's name, without that of a compression, in lower case
	source *counter
	plain  *expanding // nil if the list is not compressed
	recent []uint64   // hashes of entries, each at the place that it names; made by found
	seed   maphash.Seed
}

// counter counts the bytes read through it.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// Bounds of a compressed list, from one new entry to the next. Lists of numbered URLs are compressed to a seven
// hundredth, but each of their entries is new.
const (
	maxExpansion  = 250
	freeExpansion = 16 << 20 // bytes without a new entry to which any list may expand
	maxRecent     = 1 << 16  // entries that are remembered
)

// errExpands is the error for a compressed list that goes on and on without another entry.
var errExpands = fmt.Errorf("it expands to more than %d times its size without a new entry", maxExpansion)

// found records an entry of the list.
func (t *listText) found(entry string) {
	if t.plain == nil {
		return
	}
	if t.recent == nil {
		t.recent, t.seed = make([]uint64, maxRecent), maphash.MakeSeed()
	}
	h := maphash.String(t.seed, entry)
	if place := &t.recent[h%maxRecent]; *place != h {
		*place = h
		t.plain.since, t.plain.sinceRead = t.plain.n, t.source.n
	}
}

// openText finds out how a list is compressed and encoded, by its first bytes. A list that is no text is an error that
// says what it is.
func openText(name string, r io.Reader) (*listText, error) {
	t := &listText{kind: strings.ToLower(filepath.Ext(name)), source: &counter{Reader: r}}
	t.Reader = bufio.NewReaderSize(t.source, 64<<10)
	if format := compression.Sniff(t.head(16)); format != "" {
		switch t.kind {
		case ".txt", ".csv", ".tsv", ".jsonl", ".ndjson": // compressed, whatever its name says
		default:
			t.kind = strings.ToLower(filepath.Ext(strings.TrimSuffix(name, filepath.Ext(name))))
		}
		plain, err := compression.Open(t.Reader, format, compression.Options{Lenient: true})
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, format, err)
		}
		t.plain = &expanding{source: t.source, plain: plain, format: format}
		t.Reader = bufio.NewReaderSize(t.plain, 64<<10)
		if inner := compression.Sniff(t.head(16)); inner != "" {
			return nil, fmt.Errorf("%s: the %s stream holds a %s stream; decompress the list first", name, format, inner)
		}
	}
	encoding, err := textEncoding(t.head(512))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	plain, err := charset.NewReader(t.Reader, encoding)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t.Reader = bufio.NewReaderSize(plain, 64<<10)
	return t, nil
}

// head returns the next bytes, at most n, without reading them. Errors appear when they are read.
func (t *listText) head(n int) []byte {
	head, _ := t.Peek(n)
	return head
}

// expanding is a compressed list with bounds.
type expanding struct {
	source *counter
	plain  io.Reader
	format compression.Format
	n      int64

	since, sinceRead int64 // n, and the bytes read of source, when the last new entry was found
}

func (e *expanding) Read(p []byte) (int, error) {
	n, err := e.plain.Read(p)
	if e.n += int64(n); e.n-e.since > freeExpansion && e.n-e.since > maxExpansion*(e.source.n-e.sinceRead) {
		return 0, fmt.Errorf("%s: %w", e.format, errExpands)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w", e.format, err)
	}
	return n, err
}

// notLists are files that people take for lists, by their first bytes.
var notLists = []struct{ begin, what string }{
	{"PK\x03\x04", "a zip file, or a spreadsheet such as .xlsx or .ods: save it as CSV, or unpack it"},
	{"\xd0\xcf\x11\xe0", "an old Office file such as .xls: save it as CSV"},
	{"%PDF-", "a PDF file"},
	{"PAR1", "a Parquet file: save it as CSV"},
	{"7z\xbc\xaf", "a 7z archive: unpack it"},
	{"Rar!", "a RAR archive: unpack it"},
	{"\x00\x00\xfe\xff", "a text in UTF-32: save it as UTF-8"},
	{"\xff\xfe\x00\x00", "a text in UTF-32: save it as UTF-8"},
	{"SQLite format 3\x00", "an SQLite database: export it as CSV"},
}

// textEncoding returns the encoding of a text with these first bytes: UTF-16, with or without a byte order mark, or
// UTF-8. All other bytes are taken for UTF-8 too; an entry that is not is a bad line.
func textEncoding(head []byte) (string, error) {
	for _, f := range notLists {
		if bytes.HasPrefix(head, []byte(f.begin)) {
			return "", errors.New("expected a list of URLs as text; found " + f.what)
		}
	}
	at := bytes.IndexByte(head, 0)
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), at == 1 && len(head) > 3 && head[3] == 0:
		return "utf-16le", nil
	case bytes.HasPrefix(head, []byte("\xfe\xff")), at == 0 && len(head) > 3 && head[1] != 0 && head[2] == 0:
		return "utf-16be", nil
	}
	return "utf-8", nil
}
