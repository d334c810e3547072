package vocab

// ArcNS is the namespace of the terms.
const ArcNS = "https://archiver.ai.wu.ac.at/ns/csvw#"

// Terms of the paper. The comments read: subject -> value.
const (
	ArcHasPortal   = ArcNS + "hasPortal"   // dataset or resource -> the portal that lists it
	ArcRows        = ArcNS + "rows"        // table -> number of data rows
	ArcRowsAtLeast = ArcNS + "rowsAtLeast" // table that was not read to its end -> number of data rows that were read
	ArcColumns     = ArcNS + "columns"     // table -> number of columns
)

// Geometries of tables.
const (
	ArcGeometries      = ArcNS + "geometries"      // table -> number of rows with a geometry
	ArcGeometryType    = ArcNS + "geometryType"    // table -> class of geometries (of the simple features of GeoSPARQL)
	ArcReferenceSystem = ArcNS + "referenceSystem" // table -> name of the reference system of its geometries
	ArcBounds          = ArcNS + "bounds"          // table -> smallest x and y, and largest, in that system
)

// Resources and fetches.
const (
	ArcHost       = ArcNS + "host"       // resource -> host name of its URL
	ArcOutcome    = ArcNS + "outcome"    // activity -> an outcome word
	ArcErrorClass = ArcNS + "errorClass" // activity -> an error class word
	ArcWhy        = ArcNS + "why"        // activity -> explanation in one sentence
	ArcHTTPStatus = ArcNS + "httpStatus" // activity -> status code
	ArcVisits     = ArcNS + "visits"     // activity -> number of visits, if it is a stretch of several
	ArcFileName   = ArcNS + "fileName"   // version -> file name for saving it
	ArcCharset    = ArcNS + "charset"    // version -> detected character encoding
	ArcETag       = ArcNS + "etag"       // version -> entity tag sent by the server
	ArcFinalURL   = ArcNS + "finalURL"   // activity -> URL after redirects
	ArcTLS        = ArcNS + "tls"        // activity -> how the connection was made if the certificate was not verified
	// activity -> the permission by which robots.txt did not apply: whose, and why
	ArcRobotsException = ArcNS + "robotsException"

	ArcErrorPage = ArcNS + "errorPage" // version -> why its bytes are an error page and not a version of the data
	ArcTruncated = ArcNS + "truncated" // version -> why its bytes are not the whole file, in a word of WARC-Truncated
	ArcBecause   = ArcNS + "detectedBecause"

	ArcWithdrawnBecause = ArcNS + "withdrawnBecause" // version -> why
	ArcLegalBasis       = ArcNS + "legalBasis"       // version -> the law or contract because of which
)

// Columns of tables.
const (
	ArcDistinct   = ArcNS + "distinct"   // column -> number of distinct values (an estimate above a few thousand)
	ArcNulls      = ArcNS + "nulls"      // column -> number of empty cells
	ArcMin        = ArcNS + "min"        // column -> smallest value, in its datatype
	ArcMax        = ArcNS + "max"        // column -> largest value, in its datatype
	ArcMean       = ArcNS + "mean"       // numeric column -> arithmetic mean
	ArcMaxLength  = ArcNS + "maxLength"  // column -> length of the longest cell in characters
	ArcUniqueKey  = ArcNS + "uniqueKey"  // column -> true if no two rows have the same value
	ArcReferences = ArcNS + "references" // column -> column of another table of the file whose keys are its values
	ArcFormat     = ArcNS + "format"     // column -> pattern of its values

	ArcPersonalData = ArcNS + "personalData" // column -> true if its values seem to identify people
	ArcUnit         = ArcNS + "unit"         // column -> unit of measurement that its name gives

	ArcTableKind     = ArcNS + "tableKind"     // table -> relational, entity or matrix
	ArcSubjectColumn = ArcNS + "subjectColumn" // table -> column whose values name what the rows are about
	ArcTotalRows     = ArcNS + "totalRows"     // table -> number of rows with sums of others
	ArcSectionRows   = ArcNS + "sectionRows"   // table -> number of rows that only head those below
)

// What files say of themselves.
const (
	ArcDimension    = ArcNS + "dimension"    // version, member or variable -> an axis of arrays: a node with schema:name and schema:value
	ArcTableCount   = ArcNS + "tableCount"   // version or member -> number of tables that were counted, but not read
	ArcEncrypted    = ArcNS + "encrypted"    // version or member -> true if its content needs a key
	ArcFactsOmitted = ArcNS + "factsOmitted" // version or member -> number of attributes, dimensions and variables not described
)

// Errors in files.
const (
	ArcFault       = ArcNS + "fault"       // version -> one sentence on what could not be read
	ArcSyntaxFault = ArcNS + "syntaxFault" // RDF file -> a place with a syntax error
	ArcLine        = ArcNS + "line"        // place -> line, from 1
	ArcCol         = ArcNS + "col"         // place -> character in the line, from 1
	ArcFaultCount  = ArcNS + "faultCount"  // RDF file -> number of such places
)

// Omissions because of limits.
const (
	ArcColumnsOmitted = ArcNS + "columnsOmitted" // table -> number of columns not described
	ArcTablesOmitted  = ArcNS + "tablesOmitted"  // version -> number of tables in its described members that are not described
	ArcMembersOmitted = ArcNS + "membersOmitted" // version -> number of members not described, as far as they were counted
)

// Tables with common values.
const (
	ArcJoinableWith = ArcNS + "joinableWith" // version or member -> another one whose columns share values with its columns
	ArcContainedIn  = ArcNS + "containedIn"  // column -> another one that has at least half of its distinct values
	ArcJoin         = ArcNS + "Join"         // class: a pair of such columns, with measures
	ArcJoinFrom     = ArcNS + "joinFrom"     // join -> column whose values are looked up
	ArcJoinTo       = ArcNS + "joinTo"       // join -> column in which they are found
	ArcContainment  = ArcNS + "containment"  // join -> fraction of the first column's distinct values that the second has
	ArcJaccard      = ArcNS + "jaccard"      // join -> number of common values divided by the number of values of either
)

// Changes between versions.
const (
	ArcChangeKind     = ArcNS + "changeKind"
	ArcRowsAdded      = ArcNS + "rowsAdded"
	ArcRowsRemoved    = ArcNS + "rowsRemoved"
	ArcRowsChanged    = ArcNS + "rowsChanged"
	ArcColumnsAdded   = ArcNS + "columnsAdded"
	ArcColumnsRemoved = ArcNS + "columnsRemoved"
	ArcColumnsRenamed = ArcNS + "columnsRenamed"
	ArcColumnsRetyped = ArcNS + "columnsRetyped"
	ArcTriplesAdded   = ArcNS + "triplesAdded"
	ArcTriplesRemoved = ArcNS + "triplesRemoved"
	ArcPathsAdded     = ArcNS + "pathsAdded"
	ArcPathsRemoved   = ArcNS + "pathsRemoved"
	ArcPathsChanged   = ArcNS + "pathsChanged"
	ArcBytesChanged   = ArcNS + "bytesChanged"
)

// Harvests.
const (
	ArcHarvest     = ArcNS + "Harvest"     // class of harvest activities
	ArcHarvestKind = ArcNS + "harvestKind" // harvest activity -> kind of source: "ckan", "oai"
	ArcPortals     = ArcNS + "portals"     // harvest activity -> number of portals seen
	ArcDatasets    = ArcNS + "datasets"    // harvest activity -> number of datasets seen
	ArcInserted    = ArcNS + "inserted"    // harvest activity -> number of datasets listed for the first time
	ArcUpdated     = ArcNS + "updated"     // harvest activity -> number of datasets whose description changed
	ArcUnchanged   = ArcNS + "unchanged"   // harvest activity -> number of datasets whose description did not change
	// harvest activity -> number of datasets no longer listed; version -> when its bytes were taken away
	ArcWithdrawn    = ArcNS + "withdrawn"
	ArcReturned     = ArcNS + "returned"     // harvest activity -> number of datasets listed again
	ArcInvalid      = ArcNS + "invalid"      // harvest activity -> number of unusable listings
	ArcRequests     = ArcNS + "requests"     // harvest activity -> number of requests
	ArcBytes        = ArcNS + "bytes"        // harvest activity -> total bytes of the responses
	ArcDelisted     = ArcNS + "delisted"     // resource -> time since which no portal lists it
	ArcHarvested    = ArcNS + "harvested"    // harvest activity -> number of distributions seen
	ArcAdded        = ArcNS + "added"        // harvest activity -> number of new URLs
	ArcGraph        = ArcNS + "graph"        // portal -> named graph with its harvested catalog; version -> named graph with its statements
	ArcGraphOmitted = ArcNS + "graphOmitted" // version -> why there is no named graph with its statements
	ArcSoftware     = ArcNS + "software"     // portal or site -> software that it runs; version or member -> software that wrote it
)

// Records of WARC files (crawler/exchange/cdxj).
const (
	ArcWARCFile      = ArcNS + "WARCFile"      // class
	ArcWARCRecord    = ArcNS + "WARCRecord"    // class
	ArcRecordCount   = ArcNS + "recordCount"   // file -> number of records that could be read
	ArcRecordType    = ArcNS + "recordType"    // record -> WARC-Type
	ArcTargetURI     = ArcNS + "targetURI"     // record -> WARC-Target-URI
	ArcPayloadDigest = ArcNS + "payloadDigest" // record -> WARC-Payload-Digest
	ArcRemoteAddress = ArcNS + "remoteAddress" // record -> WARC-IP-Address
	ArcRefersTo      = ArcNS + "refersTo"      // record -> WARC-Refers-To, without angle brackets
	ArcOffset        = ArcNS + "offset"        // record -> place in the file, of the gzip member in a compressed one
	ArcLength        = ArcNS + "length"        // record -> bytes in the file, of the gzip member in a compressed one
)

// Metadata records of repositories.
const (
	ArcMetadataRecord = ArcNS + "metadataRecord" // dataset -> description by the repository, in its own XML format
)

// Classes of the values of columns for which schema.org and GeoSPARQL have none (rdfs:range of a column).
const (
	ArcCountryCode  = ArcNS + "CountryCode"
	ArcNutsCode     = ArcNS + "NutsCode"
	ArcPostalCode   = ArcNS + "PostalCode"
	ArcLatitude     = ArcNS + "Latitude"
	ArcLongitude    = ArcNS + "Longitude"
	ArcEmailAddress = ArcNS + "EmailAddress"
	ArcPhoneNumber  = ArcNS + "PhoneNumber"
	ArcIban         = ArcNS + "Iban"
	ArcCurrencyCode = ArcNS + "CurrencyCode"
	ArcLanguageCode = ArcNS + "LanguageCode"
	ArcMonthName    = ArcNS + "MonthName"
	ArcWeekdayName  = ArcNS + "WeekdayName"
	ArcUuid         = ArcNS + "Uuid"

	ArcSubdivisionCode  = ArcNS + "SubdivisionCode"
	ArcMunicipalityCode = ArcNS + "MunicipalityCode"
	ArcUnitOfMeasure    = ArcNS + "UnitOfMeasure"
	ArcCoordinates      = ArcNS + "Coordinates"
	ArcPersonName       = ArcNS + "PersonName"
	ArcDoi              = ArcNS + "Doi"
	ArcOrcid            = ArcNS + "Orcid"
	ArcWikidataItem     = ArcNS + "WikidataItem"
	ArcGtin             = ArcNS + "Gtin"
	ArcIsbn             = ArcNS + "Isbn"
	ArcIssn             = ArcNS + "Issn"
	ArcLei              = ArcNS + "Lei"
)

// Metadata quality: dimensions (dqv:Dimension), then metrics (dqv:Metric).
const (
	ArcExistence                  = ArcNS + "Existence"
	ArcConformance                = ArcNS + "Conformance"
	ArcRetrievability             = ArcNS + "Retrievability"
	ArcAccuracy                   = ArcNS + "Accuracy"
	ArcOpenness                   = ArcNS + "Openness"
	ArcExistenceAccess            = ArcNS + "ExistenceAccess"
	ArcExistenceDiscovery         = ArcNS + "ExistenceDiscovery"
	ArcExistenceContact           = ArcNS + "ExistenceContact"
	ArcExistenceRights            = ArcNS + "ExistenceRights"
	ArcExistencePreservation      = ArcNS + "ExistencePreservation"
	ArcExistenceDate              = ArcNS + "ExistenceDate"
	ArcExistenceTemporal          = ArcNS + "ExistenceTemporal"
	ArcExistenceSpatial           = ArcNS + "ExistenceSpatial"
	ArcConformanceAccess          = ArcNS + "ConformanceAccess"
	ArcConformanceEmail           = ArcNS + "ConformanceEmail"
	ArcConformanceURL             = ArcNS + "ConformanceURL"
	ArcConformanceDate            = ArcNS + "ConformanceDate"
	ArcConformanceLicense         = ArcNS + "ConformanceLicense"
	ArcConformanceFormat          = ArcNS + "ConformanceFormat"
	ArcRetrievabilityDataset      = ArcNS + "RetrievabilityDataset"
	ArcRetrievabilityDistribution = ArcNS + "RetrievabilityDistribution"
	ArcAccuracyFormat             = ArcNS + "AccuracyFormat"
	ArcAccuracySize               = ArcNS + "AccuracySize"
	ArcOpennessFormat             = ArcNS + "OpennessFormat"
	ArcOpennessMachineReadable    = ArcNS + "OpennessMachineReadable"
	ArcOpennessLicense            = ArcNS + "OpennessLicense"
)

// Discovery of files on web sites.
const (
	ArcFoundBy    = ArcNS + "foundBy" // dataset -> how it was found
	ArcDiscovery  = ArcNS + "Discovery"
	ArcFoundOn    = ArcNS + "foundOn"    // discovery -> the page that links to the file
	ArcFoundPath  = ArcNS + "foundPath"  // discovery -> URLs of the pages that led there, from the first one, separated by spaces
	ArcFoundScore = ArcNS + "foundScore" // discovery -> files per request that the link had promised
	ArcFoundLevel = ArcNS + "foundLevel" // discovery -> what kind of page that is: home, list, item, filelist
)

// Search: predicates that queries use and no triple has.
const (
	ArcMatches = ArcNS + "matches" // subject -> a text query, or a list of it and what it returns
	ArcSearch  = ArcNS + "search"  // resource -> the text of a search, or a list of it and what it returns
)

// Sites that campaigns look at.
const (
	ArcSite         = ArcNS + "Site"         // class: the pages of one host
	ArcSoftwareSign = ArcNS + "softwareSign" // site -> what gives its software away
	ArcPagesSeen    = ArcNS + "pagesSeen"    // site -> number of pages that were looked at
	ArcScore        = ArcNS + "score"        // site or page -> how much it has to do with what a campaign looks for
	ArcBestPage     = ArcNS + "bestPage"     // site -> page with a high score
	ArcPageLevel    = ArcNS + "pageLevel"    // page -> what it is for somebody who looks for data, as a word
)
