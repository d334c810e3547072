package rdfprofile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"odarchive/triplestore/hdt"
	"odarchive/triplestore/term"
)

func profiled(t testing.TB, mediaType, text string) *Profile {
	t.Helper()
	p, err := Read(context.Background(), strings.NewReader(text), mediaType, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestStatementsPredicatesAndClassesAreCounted(t *testing.T) {
	t.Parallel()
	p := profiled(t, "text/turtle", `@prefix ex: <http://example.org/ns#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
ex:a a foaf:Person ; foaf:name "A" ; foaf:knows ex:b .
ex:b a foaf:Person ; foaf:name "B" .`)
	if p.Triples != 5 || p.Subjects != 2 || p.Truncated || p.FaultCount != 0 {
		t.Errorf("%+v", p)
	}
	if p.Predicates[0] != (Count{"http://www.w3.org/1999/02/22-rdf-syntax-ns#type", 2}) &&
		p.Predicates[0] != (Count{"http://xmlns.com/foaf/0.1/name", 2}) {
		t.Errorf("%+v", p.Predicates)
	}
	if !reflect.DeepEqual(p.Classes, []Count{{"http://xmlns.com/foaf/0.1/Person", 2}}) || p.Namespaces[0].IRI != "http://example.org/ns#" ||
		p.Prefixes["foaf"] == "" {
		t.Errorf("%+v %+v %+v", p.Classes, p.Namespaces, p.Prefixes)
	}
}

func TestFaultsAreToldWithTheirPlace(t *testing.T) {
	t.Parallel()
	p := profiled(t, "application/n-triples", "<http://a/s> <http://a/p> \"x\" .\nnonsense\n<http://a/s> <http://a/p> \"y\" .\n")
	if p.Triples != 2 || p.FaultCount != 1 || p.Faults[0].Line != 2 || p.Faults[0].Message == "" {
		t.Errorf("%+v", p)
	}
}

func TestGraphsAreCounted(t *testing.T) {
	t.Parallel()
	if p := profiled(t, "application/n-quads",
		"<http://a/s> <http://a/p> <http://a/o> <http://a/g> .\n<http://a/s> <http://a/p> <http://a/o> <http://a/h> .\n"); p.Graphs != 2 ||
		p.Triples != 2 {
		t.Errorf("%+v", p)
	}
}

func TestProfilesComeBackFromJSON(t *testing.T) {
	t.Parallel()
	p := profiled(t, "text/turtle", "<http://a/s> a <http://a/C> .")
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Profile
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(p, &back) {
		t.Errorf("%s: %v", b, err)
	}
}

func TestReadersAndContextsEndReading(t *testing.T) {
	t.Parallel()
	if _, err := Read(context.Background(), iotest.ErrReader(errors.New("gone")), "text/turtle", Options{}); err == nil {
		t.Error("no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, strings.NewReader(strings.Repeat("<http://a/s> <http://a/p> \"x\" .\n", 10000)), "application/n-triples",
		Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := Read(context.Background(), strings.NewReader(""), "text/csv", Options{}); err == nil {
		t.Error("CSV is read as RDF")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("text/turtle", "<a> a <b> .")
	f.Add("application/rdf+xml", "<rdf:RDF/>")
	f.Add("application/ld+json", "{}")
	f.Fuzz(func(t *testing.T, mediaType, text string) {
		_, _ = Read(context.Background(), strings.NewReader(text), mediaType, Options{MaxTriples: 1000})
	})
}

func TestAnHDTFileIsProfiledAsOtherRDF(t *testing.T) {
	t.Parallel()
	w := hdt.NewWriter(hdt.WriterOptions{})
	defer w.Close()
	p := term.IRI("http://example.org/ns#p")
	for i := range 100 {
		if err := w.Write(term.Quad{S: term.IRI(fmt.Sprint("http://example.org/", i)), P: p, O: term.String("x")}); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := w.Finish(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	got, err := ReadHDT(t.Context(), bytes.NewReader(b.Bytes()), int64(b.Len()), Options{})
	if err != nil || got.Triples != 100 || got.Syntax != hdt.MediaType || len(got.Predicates) != 1 || got.Predicates[0].Count != 100 {
		t.Errorf("profile %+v, %v", got, err)
	}
	b.Bytes()[b.Len()-5] ^= 1
	got, err = ReadHDT(t.Context(), bytes.NewReader(b.Bytes()), int64(b.Len()), Options{})
	if err != nil || got.FaultCount != 1 || !got.Truncated {
		t.Errorf("profile of a damaged file: %+v, %v", got, err)
	}
}
