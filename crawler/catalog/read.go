package catalog

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// The types below are what the archive returns to readers (REST, pages, linked data). Counts and times are those of the
// moment of the call. The archive keeps no reference to them, so readers may keep and change them.

// Resource is one registered URL: what its sources say about it, what its visits found, and when it is due again.
type Resource struct {
	ID             string // short id; versions have the ids ID_0, ID_1 ...
	URL            string
	Host           string   // host name, with the port if it is not the scheme's default
	Title          string   // of the distribution, or the file's name
	Format         string   // as its sources declare it
	MediaType      string   // detected type of the latest version; "" if there is none
	FileName       string   // of the latest version
	Sources        []Source // its listings, oldest first; Portals and Datasets derive from them
	Portals        []string
	Datasets       []string // IRIs of the datasets it distributes
	DatasetTitle   string   // of the first of them
	SourcesOmitted int      `json:",omitempty"` // number of listings for which the record has no room
	Added          time.Time

	Versions   int // number of versions
	ErrorPages int `json:",omitempty"` // number of those that are error pages
	// OutOfOrder reports that a version was imported that is older than one before it, so that numbers do not follow
	// dates. LatestN returns the number of the latest version.
	OutOfOrder bool  `json:",omitempty"`
	NewestN    int   `json:",omitempty"` // number of the latest version by date, if OutOfOrder
	Size       int64 // bytes of the latest version
	FirstSeen  time.Time
	Changed    time.Time // crawl time of the latest version

	Visits     int // number of visits
	Errors     int // latest visits in a row that found no content
	LastVisit  time.Time
	NextVisit  time.Time // zero: never again
	Interval   time.Duration
	Stopped    bool
	Outcome    Outcome // of the last visit; "" before the first
	ErrorClass ErrorClass
	Why        string
}

// LatestN returns the number of the latest version by date, -1 if there is none.
func (r Resource) LatestN() int {
	if r.OutOfOrder {
		return r.NewestN
	}
	return r.Versions - 1
}

// Portal is a source of resources.
type Portal struct {
	IRI       string
	Title     string
	Datasets  int // that it lists now
	Resources int // that it lists now
	Former    int // resources that it listed before
	Versions  int // of both, as what follows
	Bytes     int64
	Outcomes  map[Outcome]int // of all visits
}

// Known returns the number of resources that the portal lists or listed before.
func (p Portal) Known() int { return p.Resources + p.Former }

// DatasetEntry is a dataset of a portal.
type DatasetEntry struct {
	IRI    string
	Title  string
	Portal string
	URLs   []string // its present and former distributions
	// Withdrawn is when the portal ceased to list the dataset's distributions; zero if it lists any.
	Withdrawn time.Time
}

// Delisted returns when the last source ceased to list the resource. It returns zero if a source lists it, or none ever
// did.
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

// ListedBy reports whether a portal lists the resource under a dataset.
func (r Resource) ListedBy(portal, dataset string) bool {
	return slices.ContainsFunc(r.Sources, func(s Source) bool { return s.Portal == portal && s.Dataset == dataset && s.Delisted.IsZero() })
}

// ListedByPortal reports whether a portal lists the resource under any dataset.
func (r Resource) ListedByPortal(portal string) bool {
	return slices.ContainsFunc(r.Sources, func(s Source) bool { return s.Portal == portal && s.Delisted.IsZero() })
}

// HostHealth is the state of the crawl of one host.
type HostHealth struct {
	Host      string
	Resources int
	Versions  int
	Bytes     int64
	Queued    int // due now
	Outcomes  map[Outcome]int
	LastVisit time.Time
	NextVisit time.Time // when the host may be asked next
	Delay     time.Duration
	State     string // "busy", "waiting", "due", "idle"
	Wait      string // why the host waits: "", "politeness", "retry-after", "back-off", "robots"
}

// Count is one entry of a distribution.
type Count struct {
	Key   string // media type, host, portal IRI ...
	Label string // for people; "" if Key serves
	Count int
	Bytes int64
}

// Stats are counts of the whole archive.
type Stats struct {
	Resources   int // registered URLs (datasetCount of the original API)
	Crawled     int // URLs with at least one version
	Hosts       int
	Versions    int // stored files (fileCount)
	Portals     int // sourceCount
	Datasets    int // that portals list now
	Visits      int
	Bytes       int64 // of all versions, as fetched
	StoredBytes int64 // on disk
	Triples     int
	Types       []Count // versions by media type, most frequent first
	Changes     []Count // versions by day of crawl ("2026-11-21"), oldest first; the last 90 days with versions
	Since       time.Time
}

// Search selects resources. The zero value selects all of them.
type Search struct {
	// Text is words, phrases and filters in the language of the search page (crawler/archive/search); all must match.
	Text      string
	Portal    string // IRI
	Dataset   string // IRI
	Host      string
	Type      string // media type
	Licence   string // as in Found.Licences
	Publisher string // as in Found.Publishers
	Outcome   Outcome
	Since     time.Time // the latest version is not older; zero for any
	Before    time.Time // the latest version is older; zero for any
	Size      Range     // bytes of the latest version
	Rows      Range     // of its tables
	Sort      string    // "" for relevance, or newest change first without Text; "changed", "versions", "size", "title", "rows"
	After     string    // Found.Next of the previous page
	Limit     int       // default 25
	Facets    bool      // return the counts of facets
	Strict    bool      // find nothing rather than files that have only some of the words
}

// Range is a range of numbers. Zero fields are no bound.
type Range struct{ Least, Most int64 }

// Found is one page of results, with the counts of facets over all results if Search.Facets is set.
type Found struct {
	Resources  []Resource
	Total      int
	Next       string // for Search.After; "" at the end
	Portals    []Count
	Hosts      []Count
	Types      []Count
	Licences   []Count
	Publishers []Count
	Ages       []Count // by time since the latest version: the key is days, as "30", and counts all that are not older
	Gone       int     // how many no portal lists any more, or could not be fetched at the last visit though versions are kept
	Sizes      []Count // by size: the key is a Range as "1000..9999"
	TableRows  []Count // by rows of tables, likewise

	Columns map[string][]string // by resource id, the column names of its latest version that contain a word of Search.Text
	About   map[string]About    // by resource id

	// What the search made of the text.
	Corrected []Correction // words that no file has, with what was looked for instead
	Partly    bool         // no file has all words: these have most of them
	Missing   []string     // then: the words that no file has
	Bounded   bool         // phrases were looked for in some of the files only, because too many have their words
	Indexing  Indexing     // how far descriptions and values are indexed
}

// Correction is a word that was replaced.
type Correction struct{ Word, By string }

// Indexing is how much of the archive's descriptions, keywords and values can be found. Waiting is the number of files
// that are not indexed yet.
type Indexing struct{ Waiting, Total int }

// About is what a hit says of a file beside its record.
type About struct {
	Score     float64
	Title     []Piece // of the file
	Dataset   []Piece // title of its dataset
	Text      []Piece // the part of the description where words were found, or its beginning
	Publisher string
	Licence   string
	Rows      int64 // of its tables, 0 if there are none
}

// Piece is a part of a text. Found is set if a word of the search is there.
type Piece struct {
	Text  string
	Found bool
}

// QuestionError is an error about the text of a search, in a sentence for people.
type QuestionError struct{ Why string }

func (e *QuestionError) Error() string { return e.Why }

// Is reports whether target is ErrQuestion.
func (e *QuestionError) Is(target error) bool { return target == ErrQuestion }

// ErrQuestion is what every QuestionError is.
var ErrQuestion = errors.New("not a search")

// BadQuestion returns a QuestionError.
func BadQuestion(format string, args ...any) error {
	return &QuestionError{fmt.Sprintf(format, args...)}
}

// ActivityQuery selects visits, newest first.
type ActivityQuery struct {
	URL     string
	Host    string
	Outcome Outcome
	Before  time.Time // zero for the newest
	Limit   int       // default 50; visits of several URLs that began together are not cut apart by it
}

// Capture is a version as capture indexes list it.
type Capture struct {
	Version
	Key    string // SURT key without scheme (package address, CDX)
	Status int    // HTTP status of the fetch that made it, 0 for none
}
