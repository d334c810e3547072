package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"odarchive/triplestore/term"
)

// Dataset reads the data of a query test: Data into the default graph, Named into named graphs. If the test has
// neither, files in from, which are those of its FROM clauses, become named graphs if they exist.
func (x *Test) Dataset(from []string) ([]term.Quad, error) {
	quads, err := Graphs{Data: x.Data, Named: x.Named}.Quads()
	if err != nil || len(x.Data)+len(x.Named) > 0 {
		return quads, err
	}
	for _, iri := range from {
		if !strings.HasPrefix(iri, "file://") || !exists(path(iri)) {
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

// Quads reads the files of the graphs.
func (g Graphs) Quads() ([]term.Quad, error) {
	var out []term.Quad
	for _, file := range g.Data {
		quads, err := readGraph(file)
		if err != nil {
			return nil, err
		}
		out = append(out, quads...)
	}
	for _, n := range g.Named {
		if n.File == "" { // an empty graph
			continue
		}
		quads, err := readGraph(n.File)
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

// Text returns the text of the request.
func (x *Test) Text() (string, error) {
	b, err := os.ReadFile(path(x.Request))
	if err != nil {
		return "", fmt.Errorf("conformance: %w", err)
	}
	return string(b), nil
}

// Wanted returns the expected result of a query.
func (x *Test) Wanted() (*Result, error) {
	r, err := readResult(x.Result)
	if err != nil {
		return nil, fmt.Errorf("conformance: %s: %w", filepath.Base(path(x.Result)), err)
	}
	return r, nil
}

// String returns suite and name of the test.
func (x *Test) String() string {
	_, local, _ := strings.Cut(x.IRI, "#")
	return x.Suite + " " + x.Name + " (" + local + ")"
}
