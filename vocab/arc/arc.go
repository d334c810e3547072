// Package arc defines the archive's own terms: those of the ODArchive paper (ISWC 2020) and this project's additions.
//
// The namespace is that of the paper, so that its queries keep working. ns/arc.ttl, served at /ns/csvw, defines the
// terms; a test checks that both lists are equal.
package arc

// NS is the namespace of the terms.
const NS = "https://archiver.ai.wu.ac.at/ns/csvw#"

// Terms of the paper. The comments read: subject -> value.
const (
	HasPortal   = NS + "hasPortal"   // dataset or resource -> the portal that lists it
	Rows        = NS + "rows"        // table -> number of data rows
	RowsAtLeast = NS + "rowsAtLeast" // table that was not read to its end -> number of data rows that were read
	Columns     = NS + "columns"     // table -> number of columns
)

// Geometries of tables.
const (
	Geometries      = NS + "geometries"      // table -> number of rows with a geometry
	GeometryType    = NS + "geometryType"    // table -> class of geometries (of the simple features of GeoSPARQL)
	ReferenceSystem = NS + "referenceSystem" // table -> name of the reference system of its geometries
	Bounds          = NS + "bounds"          // table -> smallest x and y, and largest, in that system
)

// Resources and fetches.
const (
	Host       = NS + "host"       // resource -> host name of its URL
	Outcome    = NS + "outcome"    // activity -> an outcome word
	ErrorClass = NS + "errorClass" // activity -> an error class word
	Why        = NS + "why"        // activity -> explanation in one sentence
	HTTPStatus = NS + "httpStatus" // activity -> status code
	Visits     = NS + "visits"     // activity -> number of visits, if it is a stretch of several
	FileName   = NS + "fileName"   // version -> file name for saving it
	Charset    = NS + "charset"    // version -> detected character encoding
	ETag       = NS + "etag"       // version -> entity tag sent by the server
	FinalURL   = NS + "finalURL"   // activity -> URL after redirects
	TLS        = NS + "tls"        // activity -> how the connection was made if the certificate was not verified
	// activity -> the permission by which robots.txt did not apply: whose, and why
	RobotsException = NS + "robotsException"

	ErrorPage = NS + "errorPage" // version -> why its bytes are an error page and not a version of the data
	Truncated = NS + "truncated" // version -> why its bytes are not the whole file, in a word of WARC-Truncated
	Because   = NS + "detectedBecause"

	WithdrawnBecause = NS + "withdrawnBecause" // version -> why
	LegalBasis       = NS + "legalBasis"       // version -> the law or contract because of which
)

// Columns of tables.
const (
	Distinct   = NS + "distinct"   // column -> number of distinct values (an estimate above a few thousand)
	Nulls      = NS + "nulls"      // column -> number of empty cells
	Min        = NS + "min"        // column -> smallest value, in its datatype
	Max        = NS + "max"        // column -> largest value, in its datatype
	Mean       = NS + "mean"       // numeric column -> arithmetic mean
	MaxLength  = NS + "maxLength"  // column -> length of the longest cell in characters
	UniqueKey  = NS + "uniqueKey"  // column -> true if no two rows have the same value
	References = NS + "references" // column -> column of another table of the file whose keys are its values
	Format     = NS + "format"     // column -> pattern of its values

	PersonalData = NS + "personalData" // column -> true if its values seem to identify people
	Unit         = NS + "unit"         // column -> unit of measurement that its name gives

	TableKind     = NS + "tableKind"     // table -> relational, entity or matrix
	SubjectColumn = NS + "subjectColumn" // table -> column whose values name what the rows are about
	TotalRows     = NS + "totalRows"     // table -> number of rows with sums of others
	SectionRows   = NS + "sectionRows"   // table -> number of rows that only head those below
)

// What files say of themselves.
const (
	Dimension    = NS + "dimension"    // version, member or variable -> an axis of arrays: a node with schema:name and schema:value
	TableCount   = NS + "tableCount"   // version or member -> number of tables that were counted, but not read
	Encrypted    = NS + "encrypted"    // version or member -> true if its content needs a key
	FactsOmitted = NS + "factsOmitted" // version or member -> number of attributes, dimensions and variables not described
)

// Errors in files.
const (
	Fault       = NS + "fault"       // version -> one sentence on what could not be read
	SyntaxFault = NS + "syntaxFault" // RDF file -> a place with a syntax error
	Line        = NS + "line"        // place -> line, from 1
	Col         = NS + "col"         // place -> character in the line, from 1
	FaultCount  = NS + "faultCount"  // RDF file -> number of such places
)

// Omissions because of limits.
const (
	ColumnsOmitted = NS + "columnsOmitted" // table -> number of columns not described
	TablesOmitted  = NS + "tablesOmitted"  // version -> number of tables in its described members that are not described
	MembersOmitted = NS + "membersOmitted" // version -> number of members not described, as far as they were counted
)

// Tables with common values.
const (
	JoinableWith = NS + "joinableWith" // version or member -> another one whose columns share values with its columns
	ContainedIn  = NS + "containedIn"  // column -> another one that has at least half of its distinct values
	Join         = NS + "Join"         // class: a pair of such columns, with measures
	JoinFrom     = NS + "joinFrom"     // join -> column whose values are looked up
	JoinTo       = NS + "joinTo"       // join -> column in which they are found
	Containment  = NS + "containment"  // join -> fraction of the first column's distinct values that the second has
	Jaccard      = NS + "jaccard"      // join -> number of common values divided by the number of values of either
)

// Changes between versions.
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
	Harvest      = NS + "Harvest"      // class of harvest activities
	HarvestKind  = NS + "harvestKind"  // harvest activity -> kind of source: "ckan", "oai"
	Portals      = NS + "portals"      // harvest activity -> number of portals seen
	Datasets     = NS + "datasets"     // harvest activity -> number of datasets seen
	Inserted     = NS + "inserted"     // harvest activity -> number of datasets listed for the first time
	Updated      = NS + "updated"      // harvest activity -> number of datasets whose description changed
	Unchanged    = NS + "unchanged"    // harvest activity -> number of datasets whose description did not change
	Withdrawn    = NS + "withdrawn"    // harvest activity -> number of datasets no longer listed; version -> when its bytes were taken away
	Returned     = NS + "returned"     // harvest activity -> number of datasets listed again
	Invalid      = NS + "invalid"      // harvest activity -> number of unusable listings
	Requests     = NS + "requests"     // harvest activity -> number of requests
	Bytes        = NS + "bytes"        // harvest activity -> total bytes of the responses
	Delisted     = NS + "delisted"     // resource -> time since which no portal lists it
	Harvested    = NS + "harvested"    // harvest activity -> number of distributions seen
	Added        = NS + "added"        // harvest activity -> number of new URLs
	Graph        = NS + "graph"        // portal -> named graph with its harvested catalog; version -> named graph with its statements
	GraphOmitted = NS + "graphOmitted" // version -> why there is no named graph with its statements
	Software     = NS + "software"     // portal or site -> software that it runs; version or member -> software that wrote it
)

// Records of WARC files (crawler/exchange/cdxj).
const (
	WARCFile      = NS + "WARCFile"      // class
	WARCRecord    = NS + "WARCRecord"    // class
	RecordCount   = NS + "recordCount"   // file -> number of records that could be read
	RecordType    = NS + "recordType"    // record -> WARC-Type
	TargetURI     = NS + "targetURI"     // record -> WARC-Target-URI
	PayloadDigest = NS + "payloadDigest" // record -> WARC-Payload-Digest
	RemoteAddress = NS + "remoteAddress" // record -> WARC-IP-Address
	RefersTo      = NS + "refersTo"      // record -> WARC-Refers-To, without angle brackets
	Offset        = NS + "offset"        // record -> place in the file, of the gzip member in a compressed one
	Length        = NS + "length"        // record -> bytes in the file, of the gzip member in a compressed one
)

// Metadata records of repositories.
const (
	MetadataRecord = NS + "metadataRecord" // dataset -> description by the repository, in its own XML format
)

// Classes of the values of columns for which schema.org and GeoSPARQL have none (rdfs:range of a column).
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

	SubdivisionCode  = NS + "SubdivisionCode"
	MunicipalityCode = NS + "MunicipalityCode"
	UnitOfMeasure    = NS + "UnitOfMeasure"
	Coordinates      = NS + "Coordinates"
	PersonName       = NS + "PersonName"
	Doi              = NS + "Doi"
	Orcid            = NS + "Orcid"
	WikidataItem     = NS + "WikidataItem"
	Gtin             = NS + "Gtin"
	Isbn             = NS + "Isbn"
	Issn             = NS + "Issn"
	Lei              = NS + "Lei"
)

// Metadata quality: dimensions (dqv:Dimension), then metrics (dqv:Metric).
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

// Discovery of files on web sites.
const (
	FoundBy    = NS + "foundBy" // dataset -> how it was found
	Discovery  = NS + "Discovery"
	FoundOn    = NS + "foundOn"    // discovery -> the page that links to the file
	FoundPath  = NS + "foundPath"  // discovery -> URLs of the pages that led there, from the first one, separated by spaces
	FoundScore = NS + "foundScore" // discovery -> files per request that the link had promised
	FoundLevel = NS + "foundLevel" // discovery -> what kind of page that is: home, list, item, filelist
)

// Search: predicates that queries use and no triple has.
const (
	Matches = NS + "matches" // subject -> a text query, or a list of it and what it returns
	Search  = NS + "search"  // resource -> the text of a search, or a list of it and what it returns
)

// Sites that campaigns look at.
const (
	Site         = NS + "Site"         // class: the pages of one host
	SoftwareSign = NS + "softwareSign" // site -> what gives its software away
	PagesSeen    = NS + "pagesSeen"    // site -> number of pages that were looked at
	Score        = NS + "score"        // site or page -> how much it has to do with what a campaign looks for
	BestPage     = NS + "bestPage"     // site -> page with a high score
	PageLevel    = NS + "pageLevel"    // page -> what it is for somebody who looks for data, as a word
)
