// Package skos names the terms of SKOS that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package skos

// NS is the namespace; every other constant is a term in it.
const NS = "http://www.w3.org/2004/02/skos/core#"

const (
	Concept       = NS + "Concept"
	ConceptScheme = NS + "ConceptScheme"
	PrefLabel     = NS + "prefLabel"
	AltLabel      = NS + "altLabel"
	Notation      = NS + "notation"
	Broader       = NS + "broader"
	Narrower      = NS + "narrower"
	InScheme      = NS + "inScheme"
)
