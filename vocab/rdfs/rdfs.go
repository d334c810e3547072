// Package rdfs names the terms of RDF Schema 1.1 that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package rdfs

// NS is the namespace; every other constant is a term in it.
const NS = "http://www.w3.org/2000/01/rdf-schema#"

const (
	Label         = NS + "label"
	Comment       = NS + "comment"
	SeeAlso       = NS + "seeAlso"
	IsDefinedBy   = NS + "isDefinedBy"
	SubClassOf    = NS + "subClassOf"
	SubPropertyOf = NS + "subPropertyOf"
	Domain        = NS + "domain"
	Range         = NS + "range"
	Class         = NS + "Class"
	Resource      = NS + "Resource"
	Literal       = NS + "Literal"
	Datatype      = NS + "Datatype"
)
