package term

import (
	"fmt"
	"strings"

	"github.com/knakk/rdf"
)

// Of returns the key of a knakk/rdf term, or the empty Key for nil and for a zero Blank or IRI.
func Of(t rdf.Term) Key {
	switch t := t.(type) {
	case rdf.IRI:
		if s := t.String(); s != "" {
			return IRI(s)
		}
	case rdf.Blank:
		// Not String, which panics on the zero value.
		if label := strings.TrimPrefix(t.Serialize(rdf.NTriples), "_:"); label != "" {
			return Blank(label)
		}
	case rdf.Literal:
		if t.Lang() != "" {
			return Lang(t.String(), t.Lang())
		}
		return Typed(t.String(), t.DataType.String())
	}
	return ""
}

// RDF returns the term as a knakk/rdf term. It fails for the empty key and for what knakk/rdf cannot represent: triple
// terms, base directions, IRIs with forbidden characters, malformed language tags.
func (k Key) RDF() (t rdf.Term, err error) {
	defer func() {
		if r := recover(); r != nil { // knakk/rdf indexes into its input unchecked
			t, err = nil, fmt.Errorf("term %q: %v", string(k), r)
		}
	}()
	switch k.Kind() {
	case KindIRI:
		t, err = rdf.NewIRI(k.Value())
	case KindBlank:
		t, err = rdf.NewBlank(k.Value())
	case KindLiteral:
		t, err = k.rdfLiteral()
	default:
		err = fmt.Errorf("not a term of RDF 1.1")
	}
	if err != nil {
		return nil, fmt.Errorf("term %q: %w", string(k), err)
	}
	return t, nil
}

func (k Key) rdfLiteral() (rdf.Term, error) {
	if k.Dir() != "" {
		return nil, fmt.Errorf("RDF 1.1 has no base direction")
	}
	if lang := k.Lang(); lang != "" {
		return rdf.NewLangLiteral(k.Value(), lang)
	}
	dt, err := rdf.NewIRI(k.Datatype())
	if err != nil {
		return nil, err
	}
	return rdf.NewTypedLiteral(k.Value(), dt), nil
}
