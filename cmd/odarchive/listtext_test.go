package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"odarchive/crawler/catalog"
)

// wide returns a text in UTF-16.
func wide(text string, big bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b.Write([]byte{byte(u >> 8), byte(u)})
		} else {
			b.Write([]byte{byte(u), byte(u >> 8)})
		}
	}
	return b.String()
}

func zipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestListsAreReadAsProgramsSaveThem(t *testing.T) {
	t.Parallel()
	text := "http://a.example/1\r\nhttp://a.example/bäume\r\n"
	table := "title;url\r\nBäume;http://a.example/1\r\n\"a;b\";http://a.example/bäume\r\n"
	for _, test := range []struct{ name, text string }{
		{"list.txt", "\xff\xfe" + wide(text, false)},
		{"list.txt", "\xfe\xff" + wide(text, true)},
		{"list.txt", wide(text, false)},
		{"list.txt", wide(text, true)},
		{"-", "\xff\xfe" + wide(text, false)},
		{"list.txt.gz", zipped(t, text)},
		{"list.txt", zipped(t, "\ufeff"+text)},
		{"list.csv.gz", zipped(t, "\xff\xfe"+wide(table, false))},
		{"list.csv", table},
		{"list.CSV", strings.ReplaceAll(table, ";", "\t")},
		{"list.tsv", "url\ttitle\nhttp://a.example/1\t\nhttp://a.example/bäume\tx;y\n"},
		{"-", table},
		{"-", zipped(t, table)},
		{"list.csv", "\"URL\"|title\nhttp://a.example/1|x\nhttp://a.example/bäume|y\n"},
	} {
		urls, bad := readList(t, test.name, iotest.OneByteReader(strings.NewReader(test.text)))
		if fmt.Sprint(urls) != "[http://a.example/1 http://a.example/bäume]" || len(bad) > 0 {
			t.Errorf("%s %.40q: URLs %q, bad lines %v", test.name, test.text, urls, bad)
		}
	}
}

func TestAnEntryThatIsNotUTF8IsBad(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"list.txt": "http://a.example/1\nhttp://a.example/gr\xfcn\nhttp://a.example/2\n",
		"list.csv": "url;title;about\nhttp://a.example/1;a;gr\xfcn\n\"http://a.example/1b\";\"B\xe4ume\";b\nhttp://a.example/2;;c\n",
		"list.jsonl": "{\"url\":\"http://a.example/1\"}\n{\"url\":\"http://a.example/1b\",\"title\":\"B\xe4ume\"}\n{\"url\":\"http://a.ex" +
			"ample/2\"}\n",
	} {
		urls, bad := readList(t, name, strings.NewReader(text))
		if fmt.Sprint(urls) != "[http://a.example/1 http://a.example/2]" || len(bad) != 1 {
			t.Errorf("%s: URLs %q, bad lines %v", name, urls, bad)
		}
	}
}

func TestAFileThatIsNoListIsNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"PK\x03\x04\x14\x00":                  "a spreadsheet such as .xlsx",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":    "old Office file",
		"%PDF-1.7\n":                          "a PDF file",
		"\xff\xfe\x00\x00h\x00\x00\x00":       "UTF-32",
		zipped(t, "PK\x03\x04\x14\x00"):       "a zip file",
		zipped(t, zipped(t, "http://a.b/\n")): "the gzip stream holds a gzip stream",
		"\x1f\x8b\x08":                        "gzip",
	} {
		_, err := newSeedList("list.csv", strings.NewReader(text), catalog.Seed{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n") {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

func TestAListThatExpandsTooFarEnds(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"\n", "x", "http://a.example/1\n", "http://a.example/1\nhttp://a.example/2\n"} {
		bomb := zipped(t, strings.Repeat(line, (freeExpansion+1<<20)/len(line)))
		l, err := newSeedList("list.txt", strings.NewReader(bomb), catalog.Seed{})
		for err == nil {
			_, err = l.next()
			var bad *badLine
			if errors.As(err, &bad) {
				err = nil
			}
		}
		if !errors.Is(err, errExpands) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestAListOfNumberedURLsIsReadHoweverWellItIsCompressed(t *testing.T) {
	t.Parallel()
	const urls = (freeExpansion + 4<<20) / 2000
	var list strings.Builder
	for i := range urls {
		fmt.Fprintf(&list, "http://a.example/%s?number=%d\n", strings.Repeat("x", 2000), i)
	}
	packed := zipped(t, list.String())
	if list.Len() < maxExpansion*len(packed) {
		t.Fatalf("%d bytes are compressed to %d, which proves nothing", list.Len(), len(packed))
	}
	if got, bad := readList(t, "list.txt.gz", strings.NewReader(packed)); len(got) != urls || len(bad) > 0 {
		t.Errorf("%d of %d URLs were read, bad lines: %v", len(got), urls, bad)
	}
}

func TestACutCompressedListIsAnErrorAfterItsGoodLines(t *testing.T) {
	t.Parallel()
	text := zipped(t, strings.Repeat("http://a.example/1\n", 10))
	l, err := newSeedList("list.txt.gz", strings.NewReader(text[:len(text)-6]), catalog.Seed{})
	n := 0
	for ; err == nil; n++ {
		_, err = l.next()
	}
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || n != 11 {
		t.Errorf("%d entries, %v", n, err)
	}
}
