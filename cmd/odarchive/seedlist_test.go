package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"odarchive/crawler/catalog"
)

// readList returns the URLs of a list and the numbers of its bad lines.
func readList(t *testing.T, name string, r io.Reader) (urls []string, bad []int) {
	t.Helper()
	l, err := newSeedList(name, r, catalog.Seed{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		s, err := l.next()
		var line *badLine
		switch {
		case errors.Is(err, io.EOF):
			return urls, bad
		case errors.As(err, &line):
			bad = append(bad, line.Line)
		case err != nil:
			t.Fatal(err)
		default:
			urls = append(urls, s.URL)
		}
	}
}

func TestASortedBatchIsRegisteredInPartsThatAServerTakes(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for i := range 3*maxAdded/2 + 1 {
		fmt.Fprintf(&list, "http://h%d.example/%d\n", i%7, i)
	}
	l, err := newSeedList("list.txt", strings.NewReader(list.String()), catalog.Seed{Title: strings.Repeat("x", 500)})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	all := batchesOf(t.Context(), l, -1)
	for b, ok := all.next(t.Context()); ok; b, ok = all.next(t.Context()) {
		before := "" // host
		for part := range parts(b.seeds) {
			text := 0
			for _, s := range part {
				text += textOf(s)
				host, _, _ := strings.Cut(s.URL[len("http://"):], "/")
				if host < before {
					t.Fatalf("%s follows %s", host, before)
				}
				before = host
			}
			if n += len(part); len(part) > maxAdded || text > maxAddedBytes {
				t.Errorf("a part of %d seeds, %d bytes", len(part), text)
			}
		}
	}
	if n != 3*maxAdded/2+1 {
		t.Errorf("%d seeds, want %d", n, 3*maxAdded/2+1)
	}
}

func TestABadLineOfAListHidesNoOther(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLine+1)
	for _, test := range []struct {
		name, text string
		urls       string // without http://a.example/, separated by spaces
		bad        string
	}{
		{"list.txt", "http://a.example/1\n\n# c\nno\n http://a.example/2 \r\nhttp://a.example/3", "1 2 3", "[4]"},
		{"list.txt", "http://a.example/1\n" + long + "\nhttp://a.example/2\n" + long, "1 2", "[2 4]"},
		{"list.txt", "", "", "[]"},
		{"list.jsonl", "{\"url\":\"http://a.example/1\"}\n{\"url\":\"" + long + "\"}\n[]\n{\"href\":\"http://a.example/2\"}", "1 2",
			"[2 3]"},
		{"list.csv", "\ufeffTitle,URL\r\na,http://a.example/1\r\n\"b\nc\",http://a.example/2\n\nd,http://a.example/3\n", "1 2 3", "[]"},
		{"list.csv", "url,x\nhttp://a.example/1,\"\nhttp://a.example/2,b\nhttp://a.example/3,\"c\"\n", "2 3", "[2]"},
		{"list.csv", "url,x\nhttp://a.example/1,\"" + strings.Repeat("\nhttp://a.example/2,y", 3) + "\n" + long + "\nhttp://a.example/3,\n",
			"2 2 2 3", "[2 6]"},
		{"list.csv", "url\nhttp://a.example/1\na,b\n\"http://a.example/2\"x\nhttp://a.example/3\n", "1 3", "[3 4]"},
		{"list.txt", "http://a.example/1\tTrees\nhttp://a.example/2\t\nhttp://a.example/3\rhttp://a.example/4\rhttp://a.example/5\n", "2",
			"[1 3]"},
		{
			"list.txt",
			"http://a.example/1 http://a.example/2\nhttp://a.example/3 # trees\nhttp://a.example/4\u200b\nhttp://a.example/5?of=a b\n",
			"5?of=a b", "[1 2 3]"},
		{"-", long + "\nhttp://a.example/1\n", "1", "[1]"},
		{"-", "x,url\n1,http://a.example/1\n", "1", "[]"},
		{"-", "{\"url\":\"http://a.example/1\"}\n{", "1", "[2]"},
		{"-", "http://a.example/1\nhttp://a.example/2", "1 2", "[]"},
	} {
		urls, bad := readList(t, test.name, iotest.HalfReader(strings.NewReader(test.text)))
		got := strings.ReplaceAll(strings.Join(urls, " "), "http://a.example/", "")
		if got != test.urls || fmt.Sprint(bad) != test.bad {
			t.Errorf("%s %.60q: URLs %q, bad lines %v; want %q, %s", test.name, test.text, got, bad, test.urls, test.bad)
		}
	}
}

func FuzzAListEnds(f *testing.F) {
	f.Add("list.csv", "url,x\nhttp://a.example/1,\"\n\"\"\n")
	f.Add("list.jsonl", "{\"url\":\"http://a.example/1\"}\n{")
	f.Add("-", "\ufeffhttp://a.example/1\r\n\x00")
	f.Fuzz(func(t *testing.T, name, text string) {
		l, err := newSeedList(name, strings.NewReader(text), catalog.Seed{})
		if err != nil {
			return
		}
		lines := strings.Count(text, "\n") + 1
		for entries := 0; ; entries++ {
			_, err := l.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if entries > lines {
				t.Fatalf("%d entries of %d lines", entries, lines)
			}
			var bad *badLine
			if err != nil && !errors.As(err, &bad) {
				t.Fatal(err)
			}
		}
	})
}
