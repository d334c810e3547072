// Package rdfs defines the terms of RDF Schema 1.1 that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package rdfs

// NS is the namespace of the terms.
const NS = "http://www.w3.org/2000/01/rdf-schema#"

const (
	Label    = NS + "label"
	Comment  = NS + "comment"
	Range    = NS + "range"
	Class    = NS + "Class"
	Resource = NS + "Resource"
	Literal  = NS + "Literal"
	Datatype = NS + "Datatype"
)
