package rdfio_test

import (
	"testing"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/conformance"
)

func TestIsomorphismLooksThroughTheNamesOfBlankNodesOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`_:a <p:> _:b .`, `_:x <p:> _:y .`, true},
		{`_:a <p:> _:a .`, `_:x <p:> _:y .`, false},
		{`_:a <p:> _:b . _:b <p:> _:a .`, `_:y <p:> _:x . _:x <p:> _:y .`, true},
		{`_:a <p:> _:b . _:b <p:> _:c . _:c <p:> _:a . _:d <p:> _:e . _:e <p:> _:f . _:f <p:> _:d .`,
			`_:a <p:> _:b . _:b <p:> _:c . _:c <p:> _:d . _:d <p:> _:e . _:e <p:> _:f . _:f <p:> _:a .`, false},
		{`_:a <p:> "1" . _:b <p:> "2" .`, `_:b <p:> "1" . _:a <p:> "2" .`, true},
		{`<s:> <p:> "1" .`, `<s:> <p:> 1 .`, false},
	} {
		a, errA := parse(rdfio.Turtle(), c.a)
		b, errB := parse(rdfio.Turtle(), c.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := conformance.Isomorphic(a, b); got != c.want {
			t.Errorf("isomorphic(%s, %s) = %v", c.a, c.b, got)
		}
	}
}
