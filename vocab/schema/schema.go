// Package schema defines the terms of schema.org that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package schema

// NS is the namespace of the terms.
const NS = "http://schema.org/"

const (
	Dataset            = NS + "Dataset"
	DataDownload       = NS + "DataDownload"
	DataCatalog        = NS + "DataCatalog"
	Name               = NS + "name"
	AdditionalProperty = NS + "additionalProperty"
	PropertyValue      = NS + "PropertyValue"
	Value              = NS + "value"
	NumberOfPages      = NS + "numberOfPages"
	VariableMeasured   = NS + "variableMeasured"
	UnitText           = NS + "unitText"
)
