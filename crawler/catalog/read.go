package catalog

import "time"

// The types below are what readers (REST, pages, linked data) ask the archive for. Counts and times are as of the
// moment of asking; nothing in them is shared with the archive, so readers may keep and change them.

// Resource is one crawled URL: what its source said of it, what came of crawling it, when it is due again.
type Resource struct {
	ID             string // the archive's short id; versions are ID_0, ID_1 ...
	URL            string
	Host           string   // host name (with port where it is not the scheme's own)
	Title          string   // of the distribution, or the file's name
	Format         string   // as declared by the source
	MediaType      string   // of the latest version, as detected; "" while there is none
	FileName       string   // of the latest version
	Sources        []Source // who lists it, in the order first seen; Portals and Datasets are drawn from it
	Portals        []string
	Datasets       []string // IRIs of the datasets it distributes
	DatasetTitle   string   // of the first of them
	SourcesOmitted int      `json:",omitempty"` // listings for which the record has no room
	Added          time.Time

	Versions   int   // how many are kept
	ErrorPages int   `json:",omitempty"` // of them, those that turned out to be error pages
	Size       int64 // bytes of the latest version
	FirstSeen  time.Time
	Changed    time.Time // crawl time of the latest version

	Visits     int // fetches so far, whatever came of them
	Errors     int // fetches in a row that gave no version
	LastVisit  time.Time
	NextVisit  time.Time // zero: not due again
	Interval   time.Duration
	Stopped    bool
	Outcome    Outcome // of the last fetch, "" before the first
	ErrorClass ErrorClass
	Why        string
}

// Portal is one source of resources.
type Portal struct {
	IRI       string
	Title     string
	Datasets  int
	Resources int
	Versions  int
	Bytes     int64
	Outcomes  map[Outcome]int // of all fetches of its resources
}

// DatasetEntry is one dataset as its portal lists it.
type DatasetEntry struct {
	IRI    string
	Title  string
	Portal string
	URLs   []string // its distributions, and those that it had
	// Withdrawn since then: the portal lists none of its distributions any more. Zero where it does.
	Withdrawn time.Time
}

// Delisted is since when nobody lists the resource any more, zero where somebody does or nobody ever did.
func (r Resource) Delisted() time.Time {
	var last time.Time
	for _, s := range r.Sources {
		if s.Delisted.IsZero() {
			return time.Time{}
		}
		if s.Delisted.After(last) {
			last = s.Delisted
		}
	}
	return last
}

// HostHealth says how crawling one host goes.
type HostHealth struct {
	Host      string
	Resources int
	Versions  int
	Bytes     int64
	Queued    int // due now
	Outcomes  map[Outcome]int
	LastVisit time.Time
	NextVisit time.Time // not before this time
	Delay     time.Duration
	State     string // "busy", "waiting", "due", "idle"
	Wait      string // why the host waits: "", "politeness", "retry-after", "back-off", "robots"
}

// Count is one line of a distribution.
type Count struct {
	Key   string // media type, host, portal IRI ...
	Label string // for people, "" where Key serves
	Count int
	Bytes int64
}

// Stats are the archive's figures.
type Stats struct {
	Resources   int // URLs known (the original API's datasetCount)
	Crawled     int // URLs with at least one version
	Hosts       int
	Versions    int // files kept (fileCount)
	Portals     int // sourceCount
	Datasets    int // datasets of portals
	Visits      int
	Bytes       int64 // of all versions, as they were fetched
	StoredBytes int64 // that they take on disk
	Triples     int
	Types       []Count // versions by media type, most first
	Changes     []Count // versions by day of crawl ("2026-11-21"), oldest first, at most the last 90 days that have any
	Since       time.Time
}

// Search is a question for resources. The zero value asks for all of them.
type Search struct {
	Text    string // words that titles, URLs, portals, formats or column names hold; all must occur
	Portal  string // IRI
	Dataset string // IRI
	Host    string
	Type    string // media type
	Outcome Outcome
	Sort    string // "" by relevance or newest change first; "changed", "versions", "size", "title"
	After   string // Next of the page before
	Limit   int    // 0 for 25
	Facets  bool   // count the facets too
}

// Found is one page of an answer; where Search.Facets asked for it, with the counts of each facet over the whole answer.
type Found struct {
	Resources []Resource
	Total     int
	Next      string // for Search.After; "" at the end
	Portals   []Count
	Hosts     []Count
	Types     []Count
	Columns   map[string][]string // by resource id: names of columns of its latest version that hold a word of the text
}

// ActivityQuery asks for fetches, newest first.
type ActivityQuery struct {
	URL     string
	Host    string
	Outcome Outcome
	Before  time.Time // zero: from the newest
	Limit   int       // 0 for 50
}

// Capture is a version as capture indexes list it.
type Capture struct {
	Version
	Key    string // SURT key without scheme (package address, CDX)
	Status int    // HTTP status of the fetch that made it, 0 for none
}
