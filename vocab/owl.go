package vocab

// OWLNS is the namespace of the terms.
const OWLNS = "http://www.w3.org/2002/07/owl#"

const (
	OWLOntology         = OWLNS + "Ontology"
	OWLClass            = OWLNS + "Class"
	OWLObjectProperty   = OWLNS + "ObjectProperty"
	OWLDatatypeProperty = OWLNS + "DatatypeProperty"
)
