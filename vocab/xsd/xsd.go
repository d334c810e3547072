// Package xsd defines the terms of XML Schema 1.1 datatypes that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package xsd

// NS is the namespace of the terms.
const NS = "http://www.w3.org/2001/XMLSchema#"

const (
	String             = NS + "string"
	Boolean            = NS + "boolean"
	Integer            = NS + "integer"
	Decimal            = NS + "decimal"
	Double             = NS + "double"
	Float              = NS + "float"
	Date               = NS + "date"
	Time               = NS + "time"
	DateTime           = NS + "dateTime"
	DateTimeStamp      = NS + "dateTimeStamp"
	GYear              = NS + "gYear"
	GYearMonth         = NS + "gYearMonth"
	GMonth             = NS + "gMonth"
	GDay               = NS + "gDay"
	GMonthDay          = NS + "gMonthDay"
	Duration           = NS + "duration"
	DayTimeDuration    = NS + "dayTimeDuration"
	YearMonthDuration  = NS + "yearMonthDuration"
	AnyURI             = NS + "anyURI"
	Long               = NS + "long"
	Int                = NS + "int"
	Short              = NS + "short"
	Byte               = NS + "byte"
	NonNegativeInteger = NS + "nonNegativeInteger"
	PositiveInteger    = NS + "positiveInteger"
	HexBinary          = NS + "hexBinary"
	Base64Binary       = NS + "base64Binary"
)
