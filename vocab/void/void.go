// Package void names the terms of VoID that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package void

// NS is the namespace; every other constant is a term in it.
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
	DataDump          = NS + "dataDump"
	Vocabulary        = NS + "vocabulary"
	ClassPartition    = NS + "classPartition"
	Property          = NS + "property"
	Class             = NS + "class"
	PropertyPartition = NS + "propertyPartition"
	UriSpace          = NS + "uriSpace"
	ExampleResource   = NS + "exampleResource"
	InDataset         = NS + "inDataset"
)
