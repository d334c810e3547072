package expr

import "odarchive/triplestore/rdfio/iri"

// toIRI implements IRI (§17.4.2.8): it returns an IRI unchanged and resolves a plain string against base.
func toIRI(v Value, base string) Value {
	switch {
	case v.kind == IRI:
		return v
	case v.kind != Str, iri.CheckChars(v.s) != nil:
		return errValue
	}
	abs, err := iri.Resolve(base, v.s)
	if err != nil || iri.CheckPort(abs) != nil {
		return errValue
	}
	return newIRI(abs)
}
