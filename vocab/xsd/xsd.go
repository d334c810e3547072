// Package xsd names the terms of XML Schema 1.1 datatypes that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package xsd

// NS is the namespace; every other constant is a term in it.
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
