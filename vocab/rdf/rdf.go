// Package rdf names the terms of RDF 1.1 that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package rdf

// NS is the namespace; every other constant is a term in it.
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
	LangString = NS + "langString"
	List       = NS + "List"
	XMLLiteral = NS + "XMLLiteral"
	HTML       = NS + "HTML"
	JSON       = NS + "JSON"
)
