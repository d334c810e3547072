package expr

import "odarchive/triplestore/rdfio/iri"

// toIRI implements IRI(): an IRI is returned as it is, a plain string is resolved against base (§17.4.2.8).
func toIRI(v Value, base string) Value {
	switch {
	case v.kind == IRI:
		return v
	case v.kind != Str, iri.CheckChars(v.s) != nil:
		return errValue
	case iri.IsAbsolute(v.s):
		return NewIRI(v.s)
	}
	if abs, err := iri.Resolve(base, v.s); err == nil {
		return NewIRI(abs)
	}
	return errValue
}
