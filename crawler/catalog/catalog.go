// Package catalog holds the words of the domain as plain types: what a portal lists, what was fetched, what is kept.
//
// It does no I/O and imports nothing of the project, so that harvesters, crawler, archive, API and pages share
// the words without sharing machinery.
package catalog

import (
	"net/http"
	"time"
)

// Seed is one URL that should be crawled, with what its source said about it. Only URL is required.
type Seed struct {
	URL          string // absolute http, https or ftp URL, as the source spelled it
	Portal       string // IRI of the portal that lists it
	PortalTitle  string
	Dataset      string // IRI of the dataset it distributes
	Title        string // of the distribution, or the file's name
	DatasetTitle string
	Format       string        // as declared: "CSV", "text/csv", ".csv"
	MediaType    string        // as declared, where the source has a field of its own for it
	Period       time.Duration // declared update period (dct:accrualPeriodicity), 0 = not said
	Priority     float64       // 0 is ordinary, greater is sooner
}

// Outcome of one fetch. The words stand in reports, triples, API and pages alike.
type Outcome string

const (
	Archived     Outcome = "archive"    // a new version was stored
	Unchanged    Outcome = "unchanged"  // 304, or the same bytes as the latest version
	NoVersion    Outcome = "no-version" // tried, nothing worth keeping; ErrorClass says why
	Blocked      Outcome = "blocked"    // a target that must not be fetched
	RobotsDenied Outcome = "robots-denied"
	RetryLater   Outcome = "retry-later" // 429 and 503: the host waits
)

// ErrorClass says why there is no version.
type ErrorClass string

const (
	ErrProtocol        ErrorClass = "protocol"
	ErrTruncated       ErrorClass = "truncated"
	ErrNetwork         ErrorClass = "network"
	ErrTimeout         ErrorClass = "timeout"
	ErrTooLarge        ErrorClass = "too-large"
	ErrDecode          ErrorClass = "decode"
	ErrHeaderTooLarge  ErrorClass = "header-too-large"
	ErrHTTPStatus      ErrorClass = "http-status"
	ErrTooManyRedirect ErrorClass = "too-many-redirects"
	ErrBadURL          ErrorClass = "bad-url"
	ErrForbiddenTarget ErrorClass = "forbidden-target"
	ErrEmptyBody       ErrorClass = "empty-body"
	ErrTLS             ErrorClass = "tls"
	ErrDNS             ErrorClass = "dns"
	ErrSoft404         ErrorClass = "soft-404"
	ErrDiskFull        ErrorClass = "disk-full" // the archive's own; the file is asked for again soon
	ErrInternal        ErrorClass = "internal"  // our own fault with these bytes; never the host's
)

// Source is one listing of a resource: a dataset of a portal. Either may be empty.
type Source struct {
	Portal       string    `json:"portal,omitempty"`
	Dataset      string    `json:"dataset,omitempty"`
	DatasetTitle string    `json:"dataset_title,omitempty"`
	Delisted     time.Time `json:"delisted,omitzero"` // since when the dataset does not list it any more; zero: it does
}

// Version is one kept state of a resource's bytes.
type Version struct {
	ID       string // "{resource id}_{N}"
	URL      string // the resource
	N        int    // from 0
	Digests  Digests
	Size     int64
	Type     string // detected media type
	Charset  string // detected, "" for binary
	Because  string // one sentence: how the type was recognised
	FileName string
	At       time.Time // crawl time (UTC)
	Activity string    // ID of the fetch that made it
	Previous string    // ID of the version before, "" for the first

	// ErrorPage says why the bytes turned out to be an error page, of which no count takes notice; "" for data.
	ErrorPage string `json:",omitempty"`

	LastModified string      // as the server said
	ETag         string      // as the server said
	Headers      http.Header // of the final response
	Request      http.Header `json:",omitempty"` // headers of the request that it answers
}

// Activity is one fetch, whatever came of it.
type Activity struct {
	ID         string // "{resource id}-{start in milliseconds since 1970}"
	URL        string
	FinalURL   string // after redirects, "" where it is the same
	Start, End time.Time
	Outcome    Outcome
	ErrorClass ErrorClass
	Status     int    // HTTP status, 0 = none
	Why        string // one sentence
	Version    string // ID of the version it made, or found unchanged
	TLS        string `json:",omitempty"` // how the connection was made, where the server's certificate was not verified
}
