package rdfio_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/testdata/shared"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/term"
)

// exceptions are tests of the W3C suites that this package does not pass on purpose, by manifest and name. A listed
// test that passes is an error, so that the list stays true.
var exceptions = map[string]string{}

// manifest is a W3C manifest.
type manifest struct {
	dir, base string
	props     map[term.Key]map[string][]term.Key // subject -> local name of predicate -> objects
	entries   []term.Key
	rdf12     bool
}

func loadManifest(t *testing.T, file, base string) manifest {
	t.Helper()
	quads, err := readFile(t, file, rdfio.Turtle(), rdfio.Options{Base: base + "manifest.ttl"})
	if err != nil {
		t.Fatal(err)
	}
	m := manifest{dir: filepath.Dir(file), base: base, props: map[term.Key]map[string][]term.Key{}}
	var heads []term.Key
	for _, q := range quads {
		p := q.P.Value()
		p = p[strings.LastIndexAny(p, "#/")+1:]
		if m.props[q.S] == nil {
			m.props[q.S] = map[string][]term.Key{}
		}
		m.props[q.S][p] = append(m.props[q.S][p], q.O)
		if p == "entries" {
			heads = append(heads, q.O)
		}
	}
	for _, cell := range heads {
		for m.props[cell] != nil {
			m.entries = append(m.entries, m.props[cell]["first"][0])
			cell = m.props[cell]["rest"][0]
		}
	}
	if len(m.entries) == 0 {
		t.Fatalf("%s: no entries", file)
	}
	return m
}

func (m manifest) one(k term.Key, name string) string {
	if v := m.props[k][name]; len(v) > 0 {
		return v[0].Value()
	}
	return ""
}

func (m manifest) file(iri string) string {
	return filepath.Join(m.dir, strings.TrimPrefix(iri, m.base))
}

func TestW3CSuitesRDF11(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "w3c", "rdf", "rdf11")
	for _, suite := range []string{"rdf-n-triples", "rdf-n-quads", "rdf-turtle", "rdf-trig", "rdf-xml"} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			base := "https://w3c.github.io/rdf-tests/rdf/rdf11/" + suite + "/"
			runManifest(t, suite, loadManifest(t, filepath.Join(root, suite, "manifest.ttl"), base))
		})
	}
}

// TestW3CSuitesRDF12 runs all suites with Options.RDF12, also the older ones.
func TestW3CSuitesRDF12(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "w3c", "rdf")
	for _, suite := range []string{"rdf12/rdf-n-triples/syntax", "rdf12/rdf-n-triples/c14n", "rdf12/rdf-n-quads/syntax",
		"rdf12/rdf-n-quads/c14n",
		"rdf12/rdf-turtle/syntax", "rdf12/rdf-turtle/eval", "rdf12/rdf-trig/syntax", "rdf12/rdf-trig/eval", "rdf12/rdf-xml/eval",
		"rdf11/rdf-n-triples", "rdf11/rdf-n-quads", "rdf11/rdf-turtle", "rdf11/rdf-trig", "rdf11/rdf-xml"} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			m := loadManifest(t, filepath.Join(root, filepath.FromSlash(suite), "manifest.ttl"),
				"https://w3c.github.io/rdf-tests/rdf/"+suite+"/")
			m.rdf12 = true
			runManifest(t, suite, m)
		})
	}
}

func runManifest(t *testing.T, suite string, m manifest) {
	passed := 0
	for _, e := range m.entries {
		name := m.one(e, "name")
		id := suite + "/" + e.Value()[strings.IndexByte(e.Value(), '#')+1:]
		failure := m.run(t, e)
		reason, listed := exceptions[id]
		switch {
		case failure != "" && !listed:
			t.Errorf("%s (%s): %s", id, name, failure)
		case failure == "" && listed:
			t.Errorf("%s passes and is listed as an exception (%s)", id, reason)
		case failure == "":
			passed++
		}
	}
	t.Logf("%s: %d of %d", suite, passed, len(m.entries))
}

// run runs a test and returns its fault, or "".
func (m manifest) run(t *testing.T, e term.Key) string {
	kind := m.one(e, "type")
	kind = kind[strings.LastIndexAny(kind, "#/")+1:]
	action := m.one(e, "action")
	s, ok := rdfio.ByExtension(action)
	if !ok {
		return "no syntax for " + action
	}
	o := rdfio.Options{Base: action, RDF12: m.rdf12}
	got, err := readFile(t, m.file(action), s, o)
	switch {
	case strings.Contains(kind, "Negative"):
		if err == nil {
			return "was accepted"
		}
		return ""
	case err != nil:
		return err.Error()
	case strings.HasSuffix(kind, "Eval"):
		result := m.one(e, "result")
		rs, _ := rdfio.ByExtension(result)
		o.Base = result
		want, err := readFile(t, m.file(result), rs, o)
		if err != nil {
			return "result: " + err.Error()
		}
		if !conformance.Isomorphic(got, want) {
			return "got\n" + nquads(t, got) + "want\n" + nquads(t, want)
		}
	case strings.HasSuffix(kind, "C14N"):
		want, err := os.ReadFile(m.file(m.one(e, "result")))
		if err != nil {
			return err.Error()
		}
		if text := nquads(t, got); text != string(want) {
			return fmt.Sprintf("got\n%swant\n%s", text, want)
		}
	case !strings.Contains(kind, "Positive"):
		return "unknown kind of test " + kind
	}
	return again(t, got)
}

// again writes quads in every syntax and reads them back, without those that the syntax cannot express.
func again(t *testing.T, quads []term.Quad) string {
	prefixes := map[string]string{"ex": "http://example/", "": "http://a.example/", "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#"}
	for _, s := range rdfio.Syntaxes() {
		var b strings.Builder
		var written []term.Quad
		w := rdfio.NewWriter(&b, s, prefixes)
		for _, q := range quads {
			var unsayable *rdfio.TermError
			switch err := w.Write(q); {
			case err == nil:
				written = append(written, q)
			case !errors.As(err, &unsayable) || s.Text && s.Quads:
				return "writing " + s.Name + ": " + err.Error()
			}
		}
		if err := w.Close(); err != nil {
			return err.Error()
		}
		back, err := readAll(rdfio.NewReader(strings.NewReader(b.String()), s, rdfio.Options{RDF12: true}))
		if err != nil {
			return "reading back " + s.Name + ": " + err.Error() + "\n" + b.String()
		}
		if !conformance.Isomorphic(written, back) {
			return "not the same after " + s.Name + "\n" + b.String() + nquads(t, back)
		}
	}
	return ""
}
