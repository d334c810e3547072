package cdxj

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/exchange/warc"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

const graph = "http://base.example/warc/a.warc.gz"

// file returns a WARC file with a response, its request, and a record of an odd address.
func file(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := warc.NewWriter(&b)
	for i, r := range [][4]string{
		{warc.Response, "http://a.example/x y", warc.HTTPResponse,
			"HTTP/1.1 404 Not Found\r\nContent-Type: text/HTML; charset=x\r\n\r\nno"},
		{warc.Request, "http://a.example/x y", warc.HTTPRequest, "GET / HTTP/1.1\r\n\r\n"},
		{warc.Resource, "no address", "text/csv", "a;b"},
	} {
		rec := &warc.Record{Block: strings.NewReader(r[3])}
		for _, f := range [][2]string{{"WARC-Type", r[0]}, {"WARC-Record-ID", fmt.Sprintf("<urn:x:%d>", i)},
			{"WARC-Date", "2026-01-02T03:04:05Z"},
			{"WARC-Target-URI", r[1]}, {"WARC-IP-Address", "192.0.2.7"}, {"Content-Type", r[2]}} {
			rec.Header.Add(f[0], f[1])
		}
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// read returns the triples about a file, short, and the number of its faults.
func read(t testing.TB, raw []byte) (lines []string, faults int) {
	t.Helper()
	r := NewRowReader(bytes.NewReader(raw), graph, func(warc.Fault) { faults++ })
	for {
		q, err := r.Read()
		if errors.Is(err, io.EOF) {
			return lines, faults
		}
		if err != nil {
			t.Fatal(err)
		}
		if q.G != term.IRI(graph) {
			t.Errorf("%v is in the graph %s", q, q.G)
		}
		p := q.P.Value()
		lines = append(lines, strings.TrimPrefix(q.S.Value(), graph)+" "+p[max(strings.LastIndexAny(p, "/#"), 0)+1:]+" "+q.O.Value())
	}
}

func TestEachRecordIsARow(t *testing.T) {
	t.Parallel()
	raw := file(t)
	lines, faults := read(t, raw)
	if faults != 0 {
		t.Errorf("%d faults", faults)
	}
	for _, want := range []string{
		"#0 type " + vocab.ArcWARCRecord, "#0 recordType response", "#0 targetURI http://a.example/x%20y", "#0 httpStatus 404",
		"#0 mediaType text/html",
		"#0 date 2026-01-02T03:04:05.000Z", "#0 identifier urn:x:0", "#0 offset 0", "#0 remoteAddress 192.0.2.7", "#0 isPartOf " + graph,
		" recordCount 3",
		fmt.Sprintf(" byteSize %d", len(raw)),
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q is missing in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	if all := strings.Join(lines, "\n"); strings.Count(all, "targetURI") != 2 || strings.Count(all, "httpStatus") != 1 ||
		strings.Count(all, " length ") != 3 {
		t.Error(all)
	}
	if lines, faults = read(t, raw[:len(raw)-30]); faults == 0 || !slices.Contains(lines, " recordCount 2") {
		t.Errorf("damaged: %d faults, %q", faults, lines)
	}
}

func FuzzRows(f *testing.F) {
	f.Add(file(f))
	f.Add([]byte("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <x:\xff y>\r\nContent-Length: 0\r\n\r\n\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := NewRowReader(bytes.NewReader(raw), graph, func(warc.Fault) {})
		for {
			q, err := r.Read()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				return
			}
			for _, k := range []term.Key{q.S, q.P, q.O, q.G} {
				if _, err := k.RDF(); err != nil {
					t.Fatalf("%q: %v", k, err)
				}
			}
		}
	})
}
