// Package owl names the terms of OWL 2 that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package owl

// NS is the namespace; every other constant is a term in it.
const NS = "http://www.w3.org/2002/07/owl#"

const (
	Ontology         = NS + "Ontology"
	Class            = NS + "Class"
	ObjectProperty   = NS + "ObjectProperty"
	DatatypeProperty = NS + "DatatypeProperty"
	SameAs           = NS + "sameAs"
	VersionInfo      = NS + "versionInfo"
	VersionIRI       = NS + "versionIRI"
	Deprecated       = NS + "deprecated"
	Imports          = NS + "imports"
)
