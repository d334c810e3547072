// Package schema names the terms of schema.org that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package schema

// NS is the namespace; every other constant is a term in it.
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
