package conformance_test

import (
	"path/filepath"
	"testing"

	"odarchive/testdata/shared"
	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/term"
)

func TestTheManifestsAreRead(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "w3c", "sparql")
	for manifest, atLeast := range map[string]int{
		"sparql10/manifest.ttl": 480, "sparql11/manifest-all.ttl": 600, "sparql12/manifest.ttl": 250,
	} {
		tests, err := conformance.Load(filepath.Join(root, manifest))
		if err != nil || len(tests) < atLeast {
			t.Errorf("%s: %d tests, want at least %d, %v", manifest, len(tests), atLeast, err)
		}
		for _, x := range tests {
			if x.Request == "" && x.Kind != "ProtocolTest" && x.Kind != "ServiceDescriptionTest" && x.Kind != "GraphStoreProtocolTest" {
				t.Errorf("%s %s has no request", x.Suite, x.Name)
			}
		}
	}
}

func TestIsomorphic(t *testing.T) {
	t.Parallel()
	p, q := term.IRI("p:p"), term.IRI("q:q")
	b := func(label string) term.Key { return term.Blank(label) }
	quads := func(keys ...term.Key) (out []term.Quad) {
		for i := 0; i+2 < len(keys); i += 3 {
			out = append(out, term.Quad{S: keys[i], P: keys[i+1], O: keys[i+2]})
		}
		return out
	}
	for _, c := range []struct {
		about string
		a, b  []term.Quad
		want  bool
	}{
		{"the empty graphs", nil, nil, true},
		{"a renamed node", quads(b("x"), p, b("y")), quads(b("m"), p, b("n")), true},
		{"a loop and no loop", quads(b("x"), p, b("x")), quads(b("m"), p, b("n")), false},
		{"a ring of four and two of two", quads(b("1"), p, b("2"), b("2"), p, b("3"), b("3"), p, b("4"), b("4"), p, b("1")),
			quads(b("1"), p, b("2"), b("2"), p, b("1"), b("3"), p, b("4"), b("4"), p, b("3")), false},
		{"a ring turned", quads(b("1"), p, b("2"), b("2"), p, b("3"), b("3"), p, b("1")),
			quads(b("c"), p, b("a"), b("a"), p, b("b"), b("b"), p, b("c")), true},
		{"another predicate", quads(b("x"), p, b("y")), quads(b("x"), q, b("y")), false},
		{"inside a triple term", quads(b("x"), p, term.Triple(b("x"), p, b("y"))), quads(b("n"), p, term.Triple(b("n"), p, b("m"))), true},
		{"crossed in a triple term", quads(b("x"), p, term.Triple(b("x"), p, b("y"))), quads(b("n"), p, term.Triple(b("m"), p, b("n"))),
			false},
	} {
		if got := conformance.Isomorphic(c.a, c.b); got != c.want {
			t.Errorf("%s: got %v", c.about, got)
		}
	}
}
