package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"odarchive/triplestore/term"
)

// Dataset reads the data of a query test: its files into the default graph, its graphs into named ones. A test
// without data may name files in FROM: those of from that exist become graphs.
func (x *Test) Dataset(from []string) ([]term.Quad, error) {
	quads, err := Graphs{Data: x.Data, Named: x.Named}.Quads()
	if err != nil || len(x.Data)+len(x.Named) > 0 {
		return quads, err
	}
	for _, iri := range from {
		if !strings.HasPrefix(iri, "file://") || !exists(Path(iri)) {
			continue
		}
		g, err := Graphs{Named: []NamedFile{{Name: iri, File: iri}}}.Quads()
		if err != nil {
			return nil, err
		}
		quads = append(quads, g...)
	}
	return quads, nil
}

// Quads reads the files.
func (g Graphs) Quads() ([]term.Quad, error) {
	var out []term.Quad
	for _, file := range g.Data {
		quads, err := ReadGraph(file)
		if err != nil {
			return nil, err
		}
		out = append(out, quads...)
	}
	for _, n := range g.Named {
		if n.File == "" { // an empty graph
			continue
		}
		quads, err := ReadGraph(n.File)
		if err != nil {
			return nil, err
		}
		for _, q := range quads {
			if q.G == "" {
				q.G = term.IRI(n.Name)
			}
			out = append(out, q)
		}
	}
	return out, nil
}

// Text is the request.
func (x *Test) Text() (string, error) {
	b, err := os.ReadFile(Path(x.Request))
	if err != nil {
		return "", fmt.Errorf("conformance: %w", err)
	}
	return string(b), nil
}

// Wanted reads the expected result of a query.
func (x *Test) Wanted() (*Result, error) {
	r, err := ReadResult(x.Result)
	if err != nil {
		return nil, fmt.Errorf("conformance: %s: %w", filepath.Base(Path(x.Result)), err)
	}
	return r, nil
}

// String names the test.
func (x *Test) String() string {
	_, local, _ := strings.Cut(x.IRI, "#")
	return x.Suite + " " + x.Name + " (" + local + ")"
}
