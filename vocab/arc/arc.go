// Package arc names the archive's own terms: those of the ODArchive paper (ISWC 2020) and our additions.
//
// The namespace is the one that the paper's queries use, so that they keep running. What each term means stands
// in ns/arc.ttl, served at /ns/csvw; a test holds the two lists equal.
package arc

// NS is the namespace; every other constant is a term in it.
const NS = "https://archiver.ai.wu.ac.at/ns/csvw#"

// Terms of the paper.
const (
	HasPortal = NS + "hasPortal" // dataset or resource -> the portal that lists it
	Rows      = NS + "rows"      // table -> number of data rows
	Columns   = NS + "columns"   // table -> number of columns
)

// Resources and fetches.
const (
	Host       = NS + "host"       // resource -> host name it is fetched from
	Outcome    = NS + "outcome"    // activity -> one of the outcome words
	ErrorClass = NS + "errorClass" // activity -> one of the error class words
	Why        = NS + "why"        // activity -> one sentence
	HTTPStatus = NS + "httpStatus" // activity -> status code
	FileName   = NS + "fileName"   // version -> the name it is saved under
	Charset    = NS + "charset"    // version -> detected character encoding
	ETag       = NS + "etag"       // version -> entity tag as the server sent it
	FinalURL   = NS + "finalURL"   // activity -> URL after redirects
	TLS        = NS + "tls"        // activity -> how the connection was made, where the certificate was not verified
	ErrorPage  = NS + "errorPage"  // version -> why its bytes are an error page, and no version of the data
	Because    = NS + "detectedBecause"
)

// Columns of tables.
const (
	Distinct  = NS + "distinct"  // column -> number of distinct values (an estimate above a few thousand)
	Nulls     = NS + "nulls"     // column -> number of empty cells
	Min       = NS + "min"       // column -> least value, in its datatype
	Max       = NS + "max"       // column -> greatest value, in its datatype
	Mean      = NS + "mean"      // numeric column -> arithmetic mean
	MaxLength = NS + "maxLength" // column -> longest cell in characters
	UniqueKey = NS + "uniqueKey" // column -> true where no two rows share a value
	Format    = NS + "format"    // column -> pattern its values follow
)

// What could not be read.
const (
	Fault       = NS + "fault"       // version -> one sentence on what in it could not be read
	SyntaxFault = NS + "syntaxFault" // RDF file -> a place where its syntax is wrong
	Line        = NS + "line"        // such a place -> line, from 1
	Col         = NS + "col"         // such a place -> character in the line, from 1
	FaultCount  = NS + "faultCount"  // RDF file -> how many such places there are
)

// What limits have left out.
const (
	ColumnsOmitted = NS + "columnsOmitted" // table -> number of its columns that are not described
	TablesOmitted  = NS + "tablesOmitted"  // version -> number of tables in its described members that are not described
	MembersOmitted = NS + "membersOmitted" // version -> number of its members that are not described, as far as they were counted
)

// Tables that belong together.
const (
	JoinableWith = NS + "joinableWith" // version or member -> another whose columns share values with its own
	ContainedIn  = NS + "containedIn"  // column -> another that has at least half of its distinct values
	Join         = NS + "Join"         // class: one such pair of columns, with its measures
	JoinFrom     = NS + "joinFrom"     // join -> the column whose values are looked up
	JoinTo       = NS + "joinTo"       // join -> the column they are found in
	Containment  = NS + "containment"  // join -> share of the first column's distinct values that the second has
	Jaccard      = NS + "jaccard"      // join -> values that both have, as a share of those that either has
)

// What changed from one version to the next.
const (
	ChangeKind     = NS + "changeKind"
	RowsAdded      = NS + "rowsAdded"
	RowsRemoved    = NS + "rowsRemoved"
	RowsChanged    = NS + "rowsChanged"
	ColumnsAdded   = NS + "columnsAdded"
	ColumnsRemoved = NS + "columnsRemoved"
	ColumnsRenamed = NS + "columnsRenamed"
	ColumnsRetyped = NS + "columnsRetyped"
	TriplesAdded   = NS + "triplesAdded"
	TriplesRemoved = NS + "triplesRemoved"
	PathsAdded     = NS + "pathsAdded"
	PathsRemoved   = NS + "pathsRemoved"
	PathsChanged   = NS + "pathsChanged"
	BytesChanged   = NS + "bytesChanged"
)

// Harvests.
const (
	Harvest     = NS + "Harvest"     // class of harvest activities
	HarvestKind = NS + "harvestKind" // harvest activity -> kind of source: "ckan", "oai"
	Portals     = NS + "portals"     // harvest activity -> number of portals seen
	Datasets    = NS + "datasets"    // harvest activity -> number of datasets seen
	Inserted    = NS + "inserted"    // harvest activity -> number of datasets listed for the first time
	Updated     = NS + "updated"     // harvest activity -> number of datasets whose description changed
	Unchanged   = NS + "unchanged"   // harvest activity -> number of datasets whose description did not
	Withdrawn   = NS + "withdrawn"   // harvest activity -> number of datasets that are listed no longer
	Returned    = NS + "returned"    // harvest activity -> number of datasets that are listed again
	Invalid     = NS + "invalid"     // harvest activity -> number of listings that cannot be used
	Requests    = NS + "requests"    // harvest activity -> number of requests
	Bytes       = NS + "bytes"       // harvest activity -> bytes of all answers
	Delisted    = NS + "delisted"    // resource -> since when no portal lists it
	Harvested   = NS + "harvested"   // harvest activity -> number of distributions seen
	Added       = NS + "added"       // harvest activity -> number of URLs not known before
	Graph       = NS + "graph"       // portal -> the named graph with its catalog as harvested
	Software    = NS + "software"    // portal -> the software that it runs on
)

// Records of repositories.
const (
	MetadataRecord = NS + "metadataRecord" // dataset -> what the repository says of it, in its own XML
)

// Classes of things that a column's values name, where schema.org and GeoSPARQL have none (rdfs:range of a column).
const (
	CountryCode  = NS + "CountryCode"
	NutsCode     = NS + "NutsCode"
	PostalCode   = NS + "PostalCode"
	Latitude     = NS + "Latitude"
	Longitude    = NS + "Longitude"
	EmailAddress = NS + "EmailAddress"
	PhoneNumber  = NS + "PhoneNumber"
	Iban         = NS + "Iban"
	CurrencyCode = NS + "CurrencyCode"
	LanguageCode = NS + "LanguageCode"
	MonthName    = NS + "MonthName"
	WeekdayName  = NS + "WeekdayName"
	Uuid         = NS + "Uuid"
)

// Quality of metadata: dimensions (dqv:Dimension), then metrics (dqv:Metric).
const (
	Existence                  = NS + "Existence"
	Conformance                = NS + "Conformance"
	Retrievability             = NS + "Retrievability"
	Accuracy                   = NS + "Accuracy"
	Openness                   = NS + "Openness"
	ExistenceAccess            = NS + "ExistenceAccess"
	ExistenceDiscovery         = NS + "ExistenceDiscovery"
	ExistenceContact           = NS + "ExistenceContact"
	ExistenceRights            = NS + "ExistenceRights"
	ExistencePreservation      = NS + "ExistencePreservation"
	ExistenceDate              = NS + "ExistenceDate"
	ExistenceTemporal          = NS + "ExistenceTemporal"
	ExistenceSpatial           = NS + "ExistenceSpatial"
	ConformanceAccess          = NS + "ConformanceAccess"
	ConformanceEmail           = NS + "ConformanceEmail"
	ConformanceURL             = NS + "ConformanceURL"
	ConformanceDate            = NS + "ConformanceDate"
	ConformanceLicense         = NS + "ConformanceLicense"
	ConformanceFormat          = NS + "ConformanceFormat"
	RetrievabilityDataset      = NS + "RetrievabilityDataset"
	RetrievabilityDistribution = NS + "RetrievabilityDistribution"
	AccuracyFormat             = NS + "AccuracyFormat"
	AccuracySize               = NS + "AccuracySize"
	OpennessFormat             = NS + "OpennessFormat"
	OpennessMachineReadable    = NS + "OpennessMachineReadable"
	OpennessLicense            = NS + "OpennessLicense"
)
