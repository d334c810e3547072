package vocab

// DCATNS is the namespace of the terms.
const DCATNS = "http://www.w3.org/ns/dcat#"

const (
	DCATCatalog          = DCATNS + "Catalog"
	DCATDataset          = DCATNS + "Dataset"
	DCATDistribution     = DCATNS + "Distribution"
	DCATDataService      = DCATNS + "DataService"
	DCATResource         = DCATNS + "Resource"
	DCATCatalogRecord    = DCATNS + "CatalogRecord"
	DCATDatasetProp      = DCATNS + "dataset"
	DCATDistributionProp = DCATNS + "distribution"
	DCATAccessURL        = DCATNS + "accessURL"
	DCATDownloadURL      = DCATNS + "downloadURL"
	DCATMediaType        = DCATNS + "mediaType"
	DCATByteSize         = DCATNS + "byteSize"
	DCATKeyword          = DCATNS + "keyword"
	DCATTheme            = DCATNS + "theme"
	DCATLandingPage      = DCATNS + "landingPage"
	DCATContactPoint     = DCATNS + "contactPoint"
	DCATRecord           = DCATNS + "record"
	DCATService          = DCATNS + "service"
	DCATCatalogProp      = DCATNS + "catalog"
	DCATEndpointURL      = DCATNS + "endpointURL"
	DCATServesDataset    = DCATNS + "servesDataset"
	DCATAccessService    = DCATNS + "accessService"
	DCATDatasetSeries    = DCATNS + "DatasetSeries"
	DCATStartDate        = DCATNS + "startDate"
	DCATEndDate          = DCATNS + "endDate"
	DCATBbox             = DCATNS + "bbox"
	DCATVersion          = DCATNS + "version"
)
