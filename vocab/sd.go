package vocab

// SDNS is the namespace of the terms.
const SDNS = "http://www.w3.org/ns/sparql-service-description#"

const (
	SDService             = SDNS + "Service"
	SDDataset             = SDNS + "Dataset"
	SDGraph               = SDNS + "Graph"
	SDNamedGraph          = SDNS + "NamedGraph"
	SDEndpoint            = SDNS + "endpoint"
	SDSupportedLanguage   = SDNS + "supportedLanguage"
	SDFeature             = SDNS + "feature"
	SDDefaultDataset      = SDNS + "defaultDataset"
	SDDefaultGraph        = SDNS + "defaultGraph"
	SDNamedGraphProp      = SDNS + "namedGraph"
	SDName                = SDNS + "name"
	SDGraphProp           = SDNS + "graph"
	SDResultFormat        = SDNS + "resultFormat"
	SDSPARQL11Query       = SDNS + "SPARQL11Query"
	SDSPARQL11Update      = SDNS + "SPARQL11Update"
	SDBasicFederatedQuery = SDNS + "BasicFederatedQuery"
	SDUnionDefaultGraph   = SDNS + "UnionDefaultGraph"
	SDLanguageExtension   = SDNS + "languageExtension"
	SDEmptyGraphs         = SDNS + "EmptyGraphs"
	SDDereferencesURIs    = SDNS + "DereferencesURIs"
)
