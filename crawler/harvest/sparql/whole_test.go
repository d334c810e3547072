package sparql

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/harvest/portaltest"
	"odarchive/triplestore/term"
)

// people returns statements about n people, each with an address in a blank node and some with many statements.
func people(n int) (document string, statements int) {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ":%04d :name \"%d\" ; :knows :%04d ; :lives [ :town \"T%d\" ] .\n", i, i, (i+1)%n, i)
		statements += 4
		if i%7 == 0 {
			for j := range 60 {
				fmt.Fprintf(&b, ":%04d :note \"%d\" .\n", i, j)
				statements++
			}
		}
	}
	return b.String(), statements
}

// TestWhole reads graphs of endpoints that return few rows and do not say so, and in XML whatever they are asked for.
func TestWholeGraphsAreReadWhateverTheEndpointCutsOff(t *testing.T) {
	t.Parallel()
	document, want := people(40)
	for about, graph := range map[string]string{"default graph": "", "named graph": "http://g.example/"} {
		text := prefixes + document
		if graph != "" {
			text = prefixes + "<" + graph + "> { " + document + " }"
		}
		for name, wrap := range map[string]func(http.Handler) http.Handler{
			"whole":  func(h http.Handler) http.Handler { return h },
			"as XML": asXML,
		} {
			endpoint := portaltest.NewEndpoint(t, text)
			e := Endpoint{URL: "http://e.example/sparql", HTTP: &portaltest.Web{Handler: wrap(endpoint)}}
			quads, err := Whole(t.Context(), e, graph, 10_000, nil)
			if err != nil || len(quads) != want {
				t.Errorf("%s, %s: %d statements, want %d: %v", about, name, len(quads), want, err)
			}
			towns := map[term.Key]bool{}
			for _, q := range quads {
				if q.S.Kind() == term.KindBlank {
					towns[q.S] = true
				}
			}
			if len(towns) != 40 {
				t.Errorf("%s, %s: %d blank nodes with a town", about, name, len(towns))
			}
			if _, err := Whole(t.Context(), e, graph, want-1, nil); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s, %s: one statement too many: %v", about, name, err)
			}
		}
	}
}

// asXML answers in XML.
func asXML(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept", "application/sparql-results+xml")
		h.ServeHTTP(w, r)
	})
}

func TestRowsBeyondASilentLimitAreAskedFor(t *testing.T) {
	t.Parallel()
	document, want := people(30)
	for _, most := range []int{9, 25, 250} {
		e := Endpoint{URL: "http://e.example/sparql",
			HTTP: &portaltest.Web{Handler: cutOff(portaltest.NewEndpoint(t, prefixes+document), most)}}
		quads, err := Whole(t.Context(), e, "", 10_000, nil)
		if most < 20 { // a person with notes and an address does not fit into an answer about paths
			quads = slices.DeleteFunc(quads, func(q term.Quad) bool { return q.S.Kind() == term.KindBlank || q.O.Kind() == term.KindBlank })
			want = 30*2 + 5*60
		}
		if err != nil || len(quads) != want {
			t.Errorf("at most %d rows: %d statements, want %d: %v", most, len(quads), want, err)
		}
		_, want = people(30)
	}
}

// cutOff leaves all but the first rows out of answers in JSON, silently.
func cutOff(h http.Handler, most int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		body := rec.Body.String()
		if head, rest, ok := strings.Cut(body, `"bindings":`); ok {
			rows := strings.SplitAfter(rest, "}}")
			if len(rows)-1 > most {
				body = head + `"bindings":` + strings.Join(rows[:most], "") + "]}}"
			}
		}
		w.Header().Set("Content-Type", "application/sparql-results+json")
		fmt.Fprint(w, body)
	})
}

func TestNamedGraphsAreListed(t *testing.T) {
	t.Parallel()
	e := Endpoint{URL: "http://e.example/sparql",
		HTTP: &portaltest.Web{
			Handler: portaltest.NewEndpoint(t, prefixes+":a :b 1 . <http://g.example/1> { :a :b 1 } <http://g.example/2> { :a :b 2 }")}}
	names, err := NamedGraphs(t.Context(), e)
	if err != nil || !slices.Equal(names, []string{"http://g.example/1", "http://g.example/2"}) {
		t.Errorf("%q, %v", names, err)
	}
	for name, want := range map[string]bool{"http://g.example/1": false, "http://g.example/2": true} {
		if adds, err := Adds(t.Context(), e, name); err != nil || adds != want {
			t.Errorf("%s adds something: %v, %v", name, adds, err)
		}
	}
}
