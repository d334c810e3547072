// Package conformance reads the test suites of the W3C SPARQL working groups: their manifests as Tests, the results
// they expect, and whether two results are the same. It is used by tests only; it runs nothing itself.
//
// The suites are no part of the project. Root finds them beside the checkout or where ODARCHIVE_SHARED says.
package conformance

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// Root is the folder of the suites: sparql10, sparql11, sparql12; false where they are not at hand.
func Root() (string, bool) {
	shared := os.Getenv("ODARCHIVE_SHARED")
	for dir, err := os.Getwd(); shared == "" && err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if there := filepath.Join(dir, "shared"); exists(filepath.Join(there, "CONTRACT.md")) {
			shared = there
		}
	}
	root := filepath.Join(shared, "data", "w3c", "sparql")
	return root, shared != "" && exists(root)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Test is one entry of a manifest. Files are IRIs (file:); Path gives their names.
type Test struct {
	IRI, Name string
	Suite     string // folder of the manifest, "sparql11/aggregates"
	Kind      string // local name of the test's class: "QueryEvaluationTest", "NegativeSyntaxTest11", ...
	Approval  string // local name: "Approved", ...; "" where the manifest says nothing

	Request   string // the query or update
	Data      []string
	Named     []NamedFile
	Services  []Service
	Result    string // of a query; "" if there is none
	After     Graphs // of an update
	Regimes   bool   // asks for an entailment regime
	Action    term.Key
	Manifest  *Graph
	CardLax   bool // duplicates may be left out (REDUCED)
	HasResult bool
}

// NamedFile is a graph and the file that holds it.
type NamedFile struct{ Name, File string }

// Graphs are the default graph's files and the named graphs.
type Graphs struct {
	Data  []string
	Named []NamedFile
}

// Service is an endpoint that a federated query asks.
type Service struct {
	Endpoint string
	Data     []string
}

const (
	mf    = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
	qt    = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
	ut    = "http://www.w3.org/2009/sparql/tests/test-update#"
	dawgt = "http://www.w3.org/2001/sw/DataAccess/tests/test-dawg#"
	rdf   = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	rdfs  = "http://www.w3.org/2000/01/rdf-schema#"
	sd    = "http://www.w3.org/ns/sparql-service-description#"
)

// Load reads a manifest and all that it includes, in order.
func Load(manifest string) ([]Test, error) {
	l := loader{seen: map[string]bool{}}
	abs, err := filepath.Abs(manifest)
	if err != nil {
		return nil, err
	}
	err = l.load(FileIRI(abs))
	return l.tests, err
}

type loader struct {
	seen  map[string]bool
	tests []Test
}

func (l *loader) load(iri string) error {
	if l.seen[iri] {
		return nil
	}
	l.seen[iri] = true
	quads, err := ReadGraph(iri)
	if err != nil {
		return err
	}
	g := NewGraph(quads)
	for _, q := range quads {
		switch q.P.Value() {
		case mf + "include":
			for _, m := range g.List(q.O) {
				if err := l.load(m.Value()); err != nil {
					return err
				}
			}
		case mf + "entries":
			for _, t := range g.List(q.O) {
				l.tests = append(l.tests, entry(g, t, iri))
			}
		}
	}
	return nil
}

func entry(g *Graph, t term.Key, manifest string) Test {
	dir := filepath.Dir(Path(manifest))
	out := Test{
		IRI: t.Value(), Name: g.One(t, mf+"name").Value(), Kind: "QueryEvaluationTest", Manifest: g,
		Suite: filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir))),
	}
	for _, k := range g.All(t, rdf+"type") {
		if name, ok := strings.CutPrefix(k.Value(), mf); ok {
			out.Kind = name
		}
	}
	_, out.Approval, _ = strings.Cut(g.One(t, dawgt+"approval").Value(), "#")
	a := g.One(t, mf+"action")
	out.Action = a
	out.Request = a.Value()
	out.CardLax = strings.HasSuffix(g.One(t, mf+"resultCardinality").Value(), "LaxCardinality")
	if q := firstOf(g.One(a, qt+"query"), g.One(a, ut+"request")); q != "" {
		out.Request = q.Value()
	}
	before := graphs(g, a)
	out.Data, out.Named = before.Data, before.Named
	for _, s := range g.All(a, qt+"serviceData") {
		out.Services = append(out.Services, Service{Endpoint: g.One(s, qt+"endpoint").Value(), Data: values(g.All(s, qt+"data"))})
	}
	out.Regimes = g.One(t, mf+"entailmentRegime") != "" || g.One(a, sd+"entailmentRegime") != "" || g.One(t, sd+"entailmentRegime") != ""
	if r := g.One(t, mf+"result"); r != "" {
		out.HasResult = true
		if r.Kind() == term.KindIRI {
			out.Result = r.Value()
		}
		out.After = graphs(g, r)
	}
	return out
}

func firstOf(keys ...term.Key) term.Key {
	for _, k := range keys {
		if k != "" {
			return k
		}
	}
	return ""
}

func graphs(g *Graph, a term.Key) Graphs {
	out := Graphs{Data: append(values(g.All(a, qt+"data")), values(g.All(a, ut+"data"))...)}
	for _, n := range append(g.All(a, qt+"graphData"), g.All(a, ut+"graphData")...) {
		if n.Kind() == term.KindIRI {
			out.Named = append(out.Named, NamedFile{Name: n.Value(), File: n.Value()})
			continue
		}
		file := firstOf(g.One(n, ut+"graph"), g.One(n, qt+"graph"), g.One(n, ut+"data"), g.One(n, qt+"data"))
		out.Named = append(out.Named, NamedFile{Name: g.One(n, rdfs+"label").Value(), File: file.Value()})
	}
	return out
}

func values(keys []term.Key) []string {
	var out []string
	for _, k := range keys {
		out = append(out, k.Value())
	}
	return out
}

// FileIRI names a file.
func FileIRI(name string) string { return "file://" + filepath.ToSlash(name) }

// Path is the name of a file from its IRI.
func Path(iri string) string { return filepath.FromSlash(strings.TrimPrefix(iri, "file://")) }

// ReadGraph reads an RDF file by its IRI; the ending says which syntax. A file without one is Turtle.
func ReadGraph(iri string) ([]term.Quad, error) {
	name := Path(iri)
	s, ok := rdfio.ByExtension(name)
	if !ok {
		s = rdfio.Turtle()
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := rdfio.NewReader(f, s, rdfio.Options{File: name, Base: iri, BlankPrefix: rdfio.NewBlankPrefix(), RDF12: true})
	var quads []term.Quad
	for {
		q, err := r.Read()
		if errors.Is(err, io.EOF) {
			return quads, nil
		}
		if err != nil {
			return nil, fmt.Errorf("conformance: %w", err)
		}
		quads = append(quads, q)
	}
}
