package describe

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"

	"github.com/go-chi/chi/v5"
)

var day = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

// log is an archive of a number of events, of which every seventh has no version.
type log struct{ count uint64 }

func (l *log) EventCount() (uint64, error) { return l.count, nil }

func (l *log) VersionsLogged(_ context.Context, from, to uint64) (list []catalog.Version, err error) {
	for seq := from; seq < min(to, l.count); seq++ {
		if seq%7 != 6 {
			data := fmt.Appendf(nil, "%d", seq)
			id := ns.ResourceID(fmt.Sprint("r", seq%1000))
			list = append(list,
				catalog.Version{ID: ns.VersionID(id, int(seq)), URL: fmt.Sprintf("http://data.example/%d a.csv", seq%1000),
					At:   day.Add(time.Duration(seq) * time.Minute),
					Size: int64(len(data)), Type: "text/csv", Digests: catalog.Digests{SHA256: sha256.Sum256(data), MD5: md5.Sum(data)},
					ErrorPage: strings.Repeat("x", int(l.count%2)), Previous: "changes"})
		}
	}
	return list, nil
}

func (l *log) EventBounds(level int, n uint64) (first, last time.Time, ok bool, err error) {
	size := events.NodeSize(level)
	return day.Add(time.Duration(n*size) * time.Minute), day.Add(time.Duration((n+1)*size) * time.Minute), true, nil
}

func getStream(t *testing.T, l *log, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	a := &StreamAPI{Archive: l, Mint: ns.Mint{Base: "http://archive.example/"}}
	r := chi.NewRouter()
	r.Get("/ldes", problem.Handler(a.Root))
	r.Get("/ldes/shape", problem.Handler(a.Shape))
	r.Get("/ldes/{level}/{number}", problem.Handler(a.Node))
	req := httptest.NewRequest("GET", strings.TrimPrefix(path, "http://archive.example"), nil)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	out := httptest.NewRecorder()
	r.ServeHTTP(out, req)
	return out
}

func read(t *testing.T, out *httptest.ResponseRecorder, at string) (quads []term.Quad) {
	t.Helper()
	syntax, ok := rdfio.ByMediaType(out.Header().Get("Content-Type"))
	if out.Code != http.StatusOK || !ok {
		t.Fatalf("%s: %d %s", at, out.Code, out.Body)
	}
	dec := rdfio.NewReader(out.Body, syntax, rdfio.Options{Base: at})
	for q, err := range dec.All() {
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		quads = append(quads, q)
	}
	return quads
}

func TestEveryVersionIsReachedOnceOnPagesWhoseRelationsAreTrue(t *testing.T) {
	t.Parallel()
	for _, count := range []uint64{0, 1, 255, 256, 257, 1000, 65536 + 256*3 + 5} {
		l := &log{count}
		members := map[string]time.Time{}
		var walk func(page string) (first, last time.Time)
		seen := map[string]bool{}
		walk = func(page string) (first, last time.Time) {
			if seen[page] {
				t.Fatalf("%d events: %s is reached twice", count, page)
			}
			seen[page] = true
			quads := read(t, getStream(t, l, page, "Accept", "application/n-triples"), page)
			value := func(s term.Key, p string) term.Key {
				for _, q := range quads {
					if q.S == s && q.P == term.IRI(p) {
						return q.O
					}
				}
				return ""
			}
			note := func(at time.Time) {
				if first.IsZero() || at.Before(first) {
					first = at
				}
				if at.After(last) {
					last = at
				}
			}
			type bound struct{ from, to time.Time }
			children := map[string]bound{}
			for _, q := range quads {
				switch q.P {
				case term.IRI(vocab.TreeMember):
					at, err := time.Parse(time.RFC3339, value(q.O, vocab.DCTIssued).Value())
					if _, known := members[q.O.Value()]; known || err != nil {
						t.Fatalf("%s twice, or without a date: %v", q.O, err)
					}
					members[q.O.Value()] = at
					note(at)
				case term.IRI(vocab.TreeRelationProp):
					if q.S != term.IRI(page) {
						t.Fatalf("%s has a relation of %s", page, q.S)
					}
					to := value(q.O, vocab.TreeNodeProp).Value()
					b := children[to]
					at, _ := time.Parse(time.RFC3339, value(q.O, vocab.TreeValue).Value())
					switch value(q.O, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type") {
					case term.IRI(vocab.TreeGreaterThanOrEqual):
						b.from = at
					case term.IRI(vocab.TreeLessThanOrEqual):
						b.to = at
					}
					children[to] = b
				}
			}
			for to, b := range children {
				from, until := walk(to)
				if !b.from.IsZero() && from.Before(b.from) || !b.to.IsZero() && until.After(b.to) {
					t.Errorf("%s has versions from %s to %s, its relation says %v", to, from, until, b)
				}
				if !from.IsZero() {
					note(from)
					note(until)
				}
			}
			return first, last
		}
		walk("http://archive.example/ldes")
		if want := int(count - count/7); len(members) != want {
			t.Errorf("%d events: %d members, want %d", count, len(members), want)
		}
	}
}

func TestAFullPageIsTheSameForEver(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"ttl", "trig", "jsonld", "nt", "nq"} {
		for _, page := range []string{"/ldes/0/0", "/ldes/0/255", "/ldes/1/0"} {
			before, after := getStream(t, &log{65536}, page+"?format="+format), getStream(t, &log{70001}, page+"?format="+format)
			if before.Code != 200 || before.Body.String() != after.Body.String() ||
				!strings.Contains(after.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s in %s: %d, %q", page, format, before.Code, after.Header())
			}
			if known := getStream(t, &log{70001}, page+"?format="+format, "If-None-Match", before.Header().Get("ETag")); known.Code != 304 {
				t.Errorf("%s in %s, known: %d", page, format, known.Code)
			}
		}
	}
	for _, page := range []string{"/ldes", "/ldes/0/256", "/ldes/shape"} {
		if got := getStream(t, &log{65540}, page).Header().Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s: Cache-Control %q", page, got)
		}
	}
	for _, page := range []string{"/ldes/0/257", "/ldes/1/1", "/ldes/4/0", "/ldes/-1/0", "/ldes/0/00", "/ldes/+0/0",
		"/ldes/0/18446744073709551616", "/ldes/0/9223372036854775807"} {
		if got := getStream(t, &log{65540}, page); got.Code != 404 {
			t.Errorf("%s: %d", page, got.Code)
		}
	}
}

// The bytes of a page must not change, not even with the writers: others keep them, and compare.
func TestTheBytesOfAPageStayThese(t *testing.T) {
	t.Parallel()
	got := getStream(t, &log{1}, "/ldes/0/0").Body.String()
	const want = `@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix ldes: <https://w3id.org/ldes#> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix spdx: <http://spdx.org/rdf/terms#> .
@prefix tree: <https://w3id.org/tree#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<http://archive.example/ldes#stream> a ldes:EventStream .
<http://archive.example/ldes/0/0> a tree:Node .
<http://archive.example/ldes#stream> tree:member <http://archive.example/api/v1/get/file/id/dd191696e15e2ee293410d02_0> .
<http://archive.example/api/v1/get/file/id/dd191696e15e2ee293410d02_0> a prov:Entity ;
    dct:identifier "cfcd208495d565ef66e7dff9f98764da" ;
    dct:isVersionOf <http://data.example/0%20a.csv> ;
    dct:issued "2026-11-21T06:00:00.000Z"^^xsd:dateTime ;
    spdx:checksum _:sha256-dd191696e15e2ee293410d02_0 ;
    dcat:byteSize 1 ;
    dcat:downloadURL <http://archive.example/api/v1/get/file/id/dd191696e15e2ee293410d02_0> ;
    dcat:mediaType "text/csv" .
_:sha256-dd191696e15e2ee293410d02_0 a spdx:Checksum ;
    spdx:algorithm spdx:checksumAlgorithm_sha256 ;
    spdx:checksumValue "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"^^xsd:hexBinary .
`
	if got != want {
		t.Errorf("%s", got)
	}
}
