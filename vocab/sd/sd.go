// Package sd names the terms of SPARQL 1.1 Service Description that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package sd

// NS is the namespace; every other constant is a term in it.
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
	InputFormat         = NS + "inputFormat"
	SPARQL11Query       = NS + "SPARQL11Query"
	SPARQL11Update      = NS + "SPARQL11Update"
	BasicFederatedQuery = NS + "BasicFederatedQuery"
	UnionDefaultGraph   = NS + "UnionDefaultGraph"
	EmptyGraphs         = NS + "EmptyGraphs"
	DereferencesURIs    = NS + "DereferencesURIs"
	ExtensionFunction   = NS + "extensionFunction"
)
