// Package xsd defines the terms of XML Schema 1.1 datatypes that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package xsd

// NS is the namespace of the terms.
const NS = "http://www.w3.org/2001/XMLSchema#"

const (
	String     = NS + "string"
	Boolean    = NS + "boolean"
	Integer    = NS + "integer"
	Decimal    = NS + "decimal"
	Double     = NS + "double"
	Date       = NS + "date"
	DateTime   = NS + "dateTime"
	GYear      = NS + "gYear"
	GYearMonth = NS + "gYearMonth"
	AnyURI     = NS + "anyURI"
	HexBinary  = NS + "hexBinary"
)
