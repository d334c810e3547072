// Package dcterms defines the terms of Dublin Core that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package dcterms

// NS is the namespace of the terms.
const NS = "http://purl.org/dc/terms/"

const (
	Title              = NS + "title"
	Description        = NS + "description"
	Identifier         = NS + "identifier"
	Issued             = NS + "issued"
	Modified           = NS + "modified"
	Created            = NS + "created"
	Publisher          = NS + "publisher"
	Creator            = NS + "creator"
	Contributor        = NS + "contributor"
	License            = NS + "license"
	Rights             = NS + "rights"
	AccessRights       = NS + "accessRights"
	Format             = NS + "format"
	Type               = NS + "type"
	Subject            = NS + "subject"
	Source             = NS + "source"
	Language           = NS + "language"
	Spatial            = NS + "spatial"
	Temporal           = NS + "temporal"
	AccrualPeriodicity = NS + "accrualPeriodicity"
	ConformsTo         = NS + "conformsTo"
	HasVersion         = NS + "hasVersion"
	IsVersionOf        = NS + "isVersionOf"
	HasPart            = NS + "hasPart"
	IsPartOf           = NS + "isPartOf"
	Relation           = NS + "relation"
	Date               = NS + "date"
	PeriodOfTime       = NS + "PeriodOfTime"
	Location           = NS + "Location"
	LicenseDocument    = NS + "LicenseDocument"
	RightsStatement    = NS + "RightsStatement"
	MediaType          = NS + "MediaType"
	MediaTypeOrExtent  = NS + "MediaTypeOrExtent"
	Frequency          = NS + "Frequency"
	Standard           = NS + "Standard"
)
