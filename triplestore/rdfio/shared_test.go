package rdfio_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

func readAll(r *rdfio.Reader) ([]term.Quad, error) {
	var quads []term.Quad
	for {
		q, err := r.Read()
		if err == io.EOF {
			return quads, nil
		}
		if err != nil {
			return quads, err
		}
		quads = append(quads, q)
	}
}

func parse(s rdfio.Syntax, doc string) ([]term.Quad, error) {
	return readAll(rdfio.NewReader(strings.NewReader(doc), s, rdfio.Options{Base: "http://example.org/base"}))
}

func readFile(t testing.TB, name string, s rdfio.Syntax, o rdfio.Options) ([]term.Quad, error) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return readAll(rdfio.NewReader(f, s, o))
}

func nquads(t testing.TB, quads []term.Quad) string {
	t.Helper()
	var b strings.Builder
	w := rdfio.NewWriter(&b, rdfio.NQuads(), nil)
	for _, q := range quads {
		if err := w.Write(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
