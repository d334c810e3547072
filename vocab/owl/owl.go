// Package owl defines the terms of OWL 2 that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package owl

// NS is the namespace of the terms.
const NS = "http://www.w3.org/2002/07/owl#"

const (
	Ontology         = NS + "Ontology"
	Class            = NS + "Class"
	ObjectProperty   = NS + "ObjectProperty"
	DatatypeProperty = NS + "DatatypeProperty"
)
