// Package schema defines the terms of schema.org that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package schema

// NS is the namespace of the terms.
const NS = "http://schema.org/"

const (
	Dataset               = NS + "Dataset"
	DataDownload          = NS + "DataDownload"
	DataCatalog           = NS + "DataCatalog"
	Name                  = NS + "name"
	Description           = NS + "description"
	Url                   = NS + "url"
	ContentUrl            = NS + "contentUrl"
	EncodingFormat        = NS + "encodingFormat"
	ContentSize           = NS + "contentSize"
	Distribution          = NS + "distribution"
	License               = NS + "license"
	Keywords              = NS + "keywords"
	DateModified          = NS + "dateModified"
	DatePublished         = NS + "datePublished"
	Creator               = NS + "creator"
	Publisher             = NS + "publisher"
	IncludedInDataCatalog = NS + "includedInDataCatalog"
	Identifier            = NS + "identifier"
	AdditionalProperty    = NS + "additionalProperty"
	PropertyValue         = NS + "PropertyValue"
	Value                 = NS + "value"
)
