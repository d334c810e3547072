// Package dcat defines the terms of DCAT 3 that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package dcat

// NS is the namespace of the terms.
const NS = "http://www.w3.org/ns/dcat#"

const (
	Catalog          = NS + "Catalog"
	Dataset          = NS + "Dataset"
	Distribution     = NS + "Distribution"
	DataService      = NS + "DataService"
	Resource         = NS + "Resource"
	CatalogRecord    = NS + "CatalogRecord"
	DatasetProp      = NS + "dataset"
	DistributionProp = NS + "distribution"
	AccessURL        = NS + "accessURL"
	DownloadURL      = NS + "downloadURL"
	MediaType        = NS + "mediaType"
	ByteSize         = NS + "byteSize"
	Keyword          = NS + "keyword"
	Theme            = NS + "theme"
	LandingPage      = NS + "landingPage"
	ContactPoint     = NS + "contactPoint"
	Record           = NS + "record"
	Service          = NS + "service"
	CatalogProp      = NS + "catalog"
	EndpointURL      = NS + "endpointURL"
	ServesDataset    = NS + "servesDataset"
	AccessService    = NS + "accessService"
	DatasetSeries    = NS + "DatasetSeries"
	StartDate        = NS + "startDate"
	EndDate          = NS + "endDate"
	Bbox             = NS + "bbox"
	Version          = NS + "version"
)
