// Package void defines the terms of VoID that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package void

// NS is the namespace of the terms.
const NS = "http://rdfs.org/ns/void#"

const (
	Dataset           = NS + "Dataset"
	Triples           = NS + "triples"
	Entities          = NS + "entities"
	Classes           = NS + "classes"
	Properties        = NS + "properties"
	DistinctSubjects  = NS + "distinctSubjects"
	DistinctObjects   = NS + "distinctObjects"
	SparqlEndpoint    = NS + "sparqlEndpoint"
	Vocabulary        = NS + "vocabulary"
	ClassPartition    = NS + "classPartition"
	Property          = NS + "property"
	Class             = NS + "class"
	PropertyPartition = NS + "propertyPartition"
	UriSpace          = NS + "uriSpace"
	ExampleResource   = NS + "exampleResource"
)
