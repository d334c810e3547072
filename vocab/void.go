package vocab

// VoIDNS is the namespace of the terms.
const VoIDNS = "http://rdfs.org/ns/void#"

const (
	VoIDDataset           = VoIDNS + "Dataset"
	VoIDTriples           = VoIDNS + "triples"
	VoIDEntities          = VoIDNS + "entities"
	VoIDClasses           = VoIDNS + "classes"
	VoIDProperties        = VoIDNS + "properties"
	VoIDDistinctSubjects  = VoIDNS + "distinctSubjects"
	VoIDDistinctObjects   = VoIDNS + "distinctObjects"
	VoIDSparqlEndpoint    = VoIDNS + "sparqlEndpoint"
	VoIDVocabulary        = VoIDNS + "vocabulary"
	VoIDClassPartition    = VoIDNS + "classPartition"
	VoIDProperty          = VoIDNS + "property"
	VoIDClass             = VoIDNS + "class"
	VoIDPropertyPartition = VoIDNS + "propertyPartition"
	VoIDUriSpace          = VoIDNS + "uriSpace"
	VoIDExampleResource   = VoIDNS + "exampleResource"
)
