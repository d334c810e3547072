package sparql_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

func TestChangesCountAgainstTheMemoryOfAllQueries(t *testing.T) {
	t.Parallel()
	var data []term.Quad
	for i := range 6000 {
		data = append(data, term.Quad{S: keyOf(fmt.Sprintf("<x:s%d>", i)), P: keyOf("<x:p>"), O: keyOf(fmt.Sprint(i))})
	}
	const insert = "INSERT { ?s <x:q> ?o } WHERE { ?s <x:p> ?o }"
	for _, c := range []struct {
		name, text string
		occupied   int64 // of 16 MiB
		names      string
	}{
		{"alone", insert, 0, ""},
		{"beside others", insert, 16<<20 - 300_000, "--total-memory"},
		{"a copy", "COPY DEFAULT TO <x:g>", 0, ""},
		{"a copy beside others", "COPY DEFAULT TO <x:g>", 16<<20 - 300_000, "--total-memory"},
		{"copies", strings.Repeat("COPY DEFAULT TO <x:g> ;", 8), 0, "--query-memory"},
		{"removal beside others", "DELETE WHERE { ?s <x:p> ?o }", 16<<20 - 300_000, "--total-memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := sparql.New(sparql.Options{Memory: 8 << 20, MaxMemory: 16 << 20})
			if !e.Occupy(c.occupied) {
				t.Fatal("there is no room")
			}
			store := naive.New(data...)
			_, err := apply(t, e, store, c.text)
			if c.names == "" && err != nil || c.names != "" &&
				(!errors.Is(err, sparql.ErrMemory) || !strings.Contains(err.Error(), c.names)) {
				t.Errorf("got %v, want an error that names %q", err, c.names)
			}
			if n := len(state(t, store)); err != nil && n != len(data) {
				t.Errorf("%d quads are left of %d", n, len(data))
			}
			if e.Held() != c.occupied {
				t.Errorf("%d bytes are taken afterwards, %d before", e.Held(), c.occupied)
			}
		})
	}
}
