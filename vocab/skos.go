package vocab

// SKOSNS is the namespace of the terms.
const SKOSNS = "http://www.w3.org/2004/02/skos/core#"

const (
	SKOSConcept       = SKOSNS + "Concept"
	SKOSConceptScheme = SKOSNS + "ConceptScheme"
	SKOSPrefLabel     = SKOSNS + "prefLabel"
	SKOSNotation      = SKOSNS + "notation"
)
