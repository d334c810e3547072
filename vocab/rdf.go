package vocab

// RDFNS is the namespace of the terms.
const RDFNS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

const (
	RDFType       = RDFNS + "type"
	RDFValue      = RDFNS + "value"
	RDFFirst      = RDFNS + "first"
	RDFRest       = RDFNS + "rest"
	RDFNil        = RDFNS + "nil"
	RDFProperty   = RDFNS + "Property"
	RDFStatement  = RDFNS + "Statement"
	RDFSubject    = RDFNS + "subject"
	RDFPredicate  = RDFNS + "predicate"
	RDFObject     = RDFNS + "object"
	RDFList       = RDFNS + "List"
	RDFXMLLiteral = RDFNS + "XMLLiteral"
	RDFHTML       = RDFNS + "HTML"
	RDFJSON       = RDFNS + "JSON"
)
