// Package skos defines the terms of SKOS that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package skos

// NS is the namespace of the terms.
const NS = "http://www.w3.org/2004/02/skos/core#"

const (
	Concept       = NS + "Concept"
	ConceptScheme = NS + "ConceptScheme"
	PrefLabel     = NS + "prefLabel"
	Notation      = NS + "notation"
)
