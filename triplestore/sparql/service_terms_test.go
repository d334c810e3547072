package sparql_test

import (
	"strings"
	"testing"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

// An endpoint may send terms that are not RDF. A store that took them could not be dumped any more.
func TestTermsOfServicesThatAreNotRDFGetIntoNoGraph(t *testing.T) {
	t.Parallel()
	for about, object := range map[string]string{
		"an IRI that ends early":    `{"type":"uri","value":"http://e/a> <http://e/b> <http://e/c> .\n<http://e/d"}`,
		"a relative IRI":            `{"type":"uri","value":"not absolute"}`,
		"an IRI with a space":       `{"type":"uri","value":"http://e/a b"}`,
		"a language that is none":   `{"type":"literal","value":"x","xml:lang":"en> . <a"}`,
		"a datatype that is no IRI": `{"type":"literal","value":"x","datatype":"a b> <"}`,
		"a broken IRI in a triple term": `{"type":"triple","value":{"subject":{"type":"uri","value":"s:s"},"predicate":{"type":"uri","val` +
			`ue":"p p"},"object":{"type":"uri","value":"o:o"}}}`,
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			url := endpoint(t, "application/sparql-results+json", `{"head":{"vars":["s","o"]},"results":{"bindings":[
				{"s":{"type":"uri","value":"s:1"},"o":`+object+`},
				{"s":{"type":"uri","value":"s:2"},"o":{"type":"literal","value":"sound","xml:lang":"en"}}]}}`, 200)
			e := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
			store := naive.New()
			where := " WHERE { { SELECT * { SERVICE <" + url + "> { ?s <p:p> ?o } } } }"

			r, err := e.Query(t.Context(), store.Snapshot(), "CONSTRUCT { ?s <p:p> ?o . ?s <p:q> 1 }"+where, sparql.QueryOptions{})
			if err != nil {
				t.Fatal(err)
			}
			made, err := collect(r)
			if err != nil || len(made.Graph) != 3 {
				t.Errorf("CONSTRUCT made %v, %v, want the 3 triples that are RDF", made, err)
			}
			if got := strings.Join(r.LateWarnings(), "; "); !strings.Contains(got, "not RDF") {
				t.Errorf("the warnings are %q", got)
			}

			// What is in a store already must go away with DELETE, so its template is not checked.
			_, err = e.Update(t.Context(), storeOf(store),
				"DELETE { ?s <p:p> ?o } INSERT { ?s <p:p> ?o . ?s <p:q> 1 GRAPH ?o { ?s <p:q> 2 } }"+where, sparql.UpdateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			quads := state(t, store)
			for _, q := range quads {
				if err := rdfio.Check(q); err != nil {
					t.Errorf("the store has %v: %v", q, err)
				}
			}
			if len(quads) != 3 {
				t.Errorf("the store has %v, want 3 triples", quads)
			}
		})
	}
}

// An ASK ends with its first solution. It asks endpoints only if what is here has none.
func TestAnAskThatIsAnsweredHereNeedsNoEndpoint(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	ds := naive.New(term.Quad{S: term.IRI("x:s"), P: term.IRI("x:p"), O: term.String("o")}).Snapshot()
	for text, fails := range map[string]bool{
		"ASK { { SERVICE ?none { ?s ?p ?o } } UNION { ?s ?p ?o } }":                     false,
		"ASK { { SERVICE ?none { ?s ?p ?o } } UNION { ?s ?p ?o } FILTER (?o = \"o\") }": false,
		"ASK { { SERVICE ?none { ?s ?p ?o } } UNION { ?s ?p 7 } }":                      true,
		"SELECT * { { SERVICE ?none { ?s ?p ?o } } UNION { ?s ?p ?o } }":                true,
	} {
		r, err := e.Query(t.Context(), ds, text, sparql.QueryOptions{})
		if err == nil {
			_, err = collect(r)
		}
		if (err != nil) != fails {
			t.Errorf("%s: %v", text, err)
		}
	}
}
