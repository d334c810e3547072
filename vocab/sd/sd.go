// Package sd defines the terms of SPARQL 1.1 Service Description that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package sd

// NS is the namespace of the terms.
const NS = "http://www.w3.org/ns/sparql-service-description#"

const (
	Service             = NS + "Service"
	Dataset             = NS + "Dataset"
	Graph               = NS + "Graph"
	NamedGraph          = NS + "NamedGraph"
	Endpoint            = NS + "endpoint"
	SupportedLanguage   = NS + "supportedLanguage"
	Feature             = NS + "feature"
	DefaultDataset      = NS + "defaultDataset"
	DefaultGraph        = NS + "defaultGraph"
	NamedGraphProp      = NS + "namedGraph"
	Name                = NS + "name"
	GraphProp           = NS + "graph"
	ResultFormat        = NS + "resultFormat"
	SPARQL11Query       = NS + "SPARQL11Query"
	SPARQL11Update      = NS + "SPARQL11Update"
	BasicFederatedQuery = NS + "BasicFederatedQuery"
	UnionDefaultGraph   = NS + "UnionDefaultGraph"
	LanguageExtension   = NS + "languageExtension"
	EmptyGraphs         = NS + "EmptyGraphs"
	DereferencesURIs    = NS + "DereferencesURIs"
)
