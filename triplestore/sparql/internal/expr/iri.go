package expr

import "odarchive/triplestore/rdfio/iri"

// toIRI implements IRI (§17.4.2.8): it returns an IRI unchanged and resolves a plain string against base.
func toIRI(v Value, base string) Value {
	switch {
	case v.kind == IRI:
		return v
	case v.kind != Str, iri.CheckChars(v.s) != nil:
		return errValue
	case iri.IsAbsolute(v.s):
		return newIRI(v.s)
	}
	if abs, err := iri.Resolve(base, v.s); err == nil {
		return newIRI(abs)
	}
	return errValue
}
