// Package rdf defines the terms of RDF 1.1 that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package rdf

// NS is the namespace of the terms.
const NS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

const (
	Type       = NS + "type"
	Value      = NS + "value"
	First      = NS + "first"
	Rest       = NS + "rest"
	Nil        = NS + "nil"
	Property   = NS + "Property"
	Statement  = NS + "Statement"
	Subject    = NS + "subject"
	Predicate  = NS + "predicate"
	Object     = NS + "object"
	List       = NS + "List"
	XMLLiteral = NS + "XMLLiteral"
	HTML       = NS + "HTML"
	JSON       = NS + "JSON"
)
