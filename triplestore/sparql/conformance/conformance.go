// Package conformance reads the test suites of the W3C SPARQL working groups: the tests in their manifests and the
// results they expect. It also compares results. It is for tests only, and does not run the tests itself.
package conformance

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Test is an entry of a manifest. Files are named by file: IRIs.
type Test struct {
	IRI, Name string
	Suite     string // folder of the manifest, "sparql11/aggregates"
	Kind      string // local name of the class of the test, like "QueryEvaluationTest" or "NegativeSyntaxTest11"

	Request  string // file of the query or update
	Data     []string
	Named    []NamedFile
	Services []Service
	Result   string // file with the result of a query; "" if there is none
	After    Graphs // data after an update
	Regimes  bool   // needs an entailment regime
	Action   term.Key
	Manifest *Graph
	CardLax  bool // results may omit duplicates (REDUCED)
}

// NamedFile is a graph and its file.
type NamedFile struct{ Name, File string }

// Graphs are the files of the default graph and the named graphs.
type Graphs struct {
	Data  []string
	Named []NamedFile
}

// Service is an endpoint of a federated query.
type Service struct {
	Endpoint string
	Data     []string
}

const (
	mf = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
	qt = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
	ut = "http://www.w3.org/2009/sparql/tests/test-update#"
	sd = "http://www.w3.org/ns/sparql-service-description#"
)

// Load reads a manifest and those that it includes, in order.
func Load(manifest string) ([]Test, error) {
	l := loader{seen: map[string]bool{}}
	abs, err := filepath.Abs(manifest)
	if err != nil {
		return nil, err
	}
	err = l.load(fileIRI(abs))
	return l.tests, err
}

// loader reads manifests, each once.
type loader struct {
	seen  map[string]bool
	tests []Test
}

func (l *loader) load(iri string) error {
	if l.seen[iri] {
		return nil
	}
	l.seen[iri] = true
	quads, err := readGraph(iri)
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

// oxigraph is the namespace of the kinds of tests that only Oxigraph's own suite has.
const oxigraph = "https://github.com/oxigraph/oxigraph/tests#"

// entry returns the test t of a manifest.
func entry(g *Graph, t term.Key, manifest string) Test {
	dir := filepath.Dir(path(manifest))
	out := Test{
		IRI: t.Value(), Name: g.One(t, mf+"name").Value(), Kind: "QueryEvaluationTest", Manifest: g,
		Suite: filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir))),
	}
	for _, k := range g.All(t, vocab.RDFType) {
		if name, ok := strings.CutPrefix(k.Value(), mf); ok {
			out.Kind = name
		} else if name, ok := strings.CutPrefix(k.Value(), oxigraph); ok {
			out.Kind = name
		}
	}
	a := g.One(t, mf+"action")
	out.Action = a
	out.Request = a.Value()
	out.CardLax = strings.HasSuffix(g.One(t, mf+"resultCardinality").Value(), "LaxCardinality")
	if q := cmp.Or(g.One(a, qt+"query"), g.One(a, ut+"request")); q != "" {
		out.Request = q.Value()
	}
	before := graphs(g, a)
	out.Data, out.Named = before.Data, before.Named
	for _, s := range g.All(a, qt+"serviceData") {
		out.Services = append(out.Services, Service{Endpoint: g.One(s, qt+"endpoint").Value(), Data: values(g.All(s, qt+"data"))})
	}
	out.Regimes = g.One(t, mf+"entailmentRegime") != "" || g.One(a, sd+"entailmentRegime") != "" || g.One(t, sd+"entailmentRegime") != ""
	if r := g.One(t, mf+"result"); r != "" {
		if r.Kind() == term.KindIRI {
			out.Result = r.Value()
		}
		out.After = graphs(g, r)
	}
	return out
}

// graphs returns the data that an action or result names.
func graphs(g *Graph, a term.Key) Graphs {
	out := Graphs{Data: append(values(g.All(a, qt+"data")), values(g.All(a, ut+"data"))...)}
	for _, n := range append(g.All(a, qt+"graphData"), g.All(a, ut+"graphData")...) {
		if n.Kind() == term.KindIRI {
			out.Named = append(out.Named, NamedFile{Name: n.Value(), File: n.Value()})
			continue
		}
		file := cmp.Or(g.One(n, ut+"graph"), g.One(n, qt+"graph"), g.One(n, ut+"data"), g.One(n, qt+"data"))
		out.Named = append(out.Named, NamedFile{Name: g.One(n, vocab.RDFSLabel).Value(), File: file.Value()})
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

// fileIRI returns the file: IRI of a file.
func fileIRI(name string) string { return "file://" + filepath.ToSlash(name) }

// path returns the name of the file with a file: IRI.
func path(iri string) string { return filepath.FromSlash(strings.TrimPrefix(iri, "file://")) }

// readGraph reads an RDF file by its IRI. Its extension determines the syntax; without one it is Turtle.
func readGraph(iri string) ([]term.Quad, error) {
	name := path(iri)
	s, ok := rdfio.ByExtension(name)
	if !ok {
		s = rdfio.Turtle()
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var quads []term.Quad
	for q, err := range rdfio.NewReader(f, s,
		rdfio.Options{File: name, Base: iri, BlankPrefix: rdfio.NewBlankPrefix(), RDF12: true}).All() {
		if err != nil {
			return nil, fmt.Errorf("conformance: %w", err)
		}
		quads = append(quads, q)
	}
	return quads, nil
}
