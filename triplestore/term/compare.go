package term

import (
	"cmp"
	"strings"
)

// Compare is a total order of terms that agrees with equality of keys: no term, blank nodes, IRIs, literals, triple
// terms (the order of kinds in SPARQL 1.1 §15.1); within a kind by code points of the value, then datatype, then
// language. It knows no values: "10" stands before "9". ORDER BY compares values first and uses this for the rest.
func Compare(a, b Key) int {
	if a == b {
		return 0
	}
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	if a.Kind() == KindTriple {
		as, ap, ao, _ := a.Parts()
		bs, bp, bo, _ := b.Parts()
		return cmp.Or(Compare(as, bs), Compare(ap, bp), Compare(ao, bo), strings.Compare(string(a), string(b)))
	}
	return cmp.Or(
		strings.Compare(a.Value(), b.Value()),
		strings.Compare(a.Datatype(), b.Datatype()),
		strings.Compare(string(a), string(b)),
	)
}

func rank(k Key) int {
	return [...]int{KindNone: 0, KindBlank: 1, KindIRI: 2, KindLiteral: 3, KindTriple: 4}[k.Kind()]
}
