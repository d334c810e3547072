// Package dcat names the terms of DCAT 3 that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package dcat

// NS is the namespace; every other constant is a term in it.
const NS = "http://www.w3.org/ns/dcat#"

const (
	Catalog                   = NS + "Catalog"
	Dataset                   = NS + "Dataset"
	Distribution              = NS + "Distribution"
	DataService               = NS + "DataService"
	Resource                  = NS + "Resource"
	CatalogRecord             = NS + "CatalogRecord"
	DatasetProp               = NS + "dataset"
	DistributionProp          = NS + "distribution"
	AccessURL                 = NS + "accessURL"
	DownloadURL               = NS + "downloadURL"
	MediaType                 = NS + "mediaType"
	ByteSize                  = NS + "byteSize"
	Keyword                   = NS + "keyword"
	Theme                     = NS + "theme"
	ThemeTaxonomy             = NS + "themeTaxonomy"
	LandingPage               = NS + "landingPage"
	ContactPoint              = NS + "contactPoint"
	Record                    = NS + "record"
	Service                   = NS + "service"
	CatalogProp               = NS + "catalog"
	CompressFormat            = NS + "compressFormat"
	PackageFormat             = NS + "packageFormat"
	EndpointURL               = NS + "endpointURL"
	ServesDataset             = NS + "servesDataset"
	AccessService             = NS + "accessService"
	EndpointDescription       = NS + "endpointDescription"
	DatasetSeries             = NS + "DatasetSeries"
	InSeries                  = NS + "inSeries"
	SeriesMember              = NS + "seriesMember"
	TemporalResolution        = NS + "temporalResolution"
	SpatialResolutionInMeters = NS + "spatialResolutionInMeters"
	StartDate                 = NS + "startDate"
	EndDate                   = NS + "endDate"
	Bbox                      = NS + "bbox"
	Centroid                  = NS + "centroid"
	Version                   = NS + "version"
	PreviousVersion           = NS + "previousVersion"
	HasVersion                = NS + "hasVersion"
	HasCurrentVersion         = NS + "hasCurrentVersion"
	IsVersionOf               = NS + "isVersionOf"
)
