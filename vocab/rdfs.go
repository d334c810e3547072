package vocab

// RDFSNS is the namespace of the terms.
const RDFSNS = "http://www.w3.org/2000/01/rdf-schema#"

const (
	RDFSLabel    = RDFSNS + "label"
	RDFSComment  = RDFSNS + "comment"
	RDFSRange    = RDFSNS + "range"
	RDFSClass    = RDFSNS + "Class"
	RDFSResource = RDFSNS + "Resource"
	RDFSLiteral  = RDFSNS + "Literal"
	RDFSDatatype = RDFSNS + "Datatype"
)
