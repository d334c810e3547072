package vocab

// XSDNS is the namespace of the terms.
const XSDNS = "http://www.w3.org/2001/XMLSchema#"

const (
	XSDString     = XSDNS + "string"
	XSDBoolean    = XSDNS + "boolean"
	XSDInteger    = XSDNS + "integer"
	XSDDecimal    = XSDNS + "decimal"
	XSDDouble     = XSDNS + "double"
	XSDDate       = XSDNS + "date"
	XSDDateTime   = XSDNS + "dateTime"
	XSDGYear      = XSDNS + "gYear"
	XSDGYearMonth = XSDNS + "gYearMonth"
	XSDAnyURI     = XSDNS + "anyURI"
	XSDHexBinary  = XSDNS + "hexBinary"
)
