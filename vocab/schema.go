package vocab

// SchemaNS is the namespace of the terms.
const SchemaNS = "http://schema.org/"

const (
	SchemaDataset            = SchemaNS + "Dataset"
	SchemaDataDownload       = SchemaNS + "DataDownload"
	SchemaDataCatalog        = SchemaNS + "DataCatalog"
	SchemaName               = SchemaNS + "name"
	SchemaAdditionalProperty = SchemaNS + "additionalProperty"
	SchemaPropertyValue      = SchemaNS + "PropertyValue"
	SchemaValue              = SchemaNS + "value"
	SchemaNumberOfPages      = SchemaNS + "numberOfPages"
	SchemaVariableMeasured   = SchemaNS + "variableMeasured"
	SchemaUnitText           = SchemaNS + "unitText"
)
