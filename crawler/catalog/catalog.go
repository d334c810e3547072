// Package catalog defines the words of the domain as plain types: what a portal lists, what was fetched, what is kept.
//
// It does no I/O and imports nothing of the project, so harvesters, crawler, archive, API and pages share the words
// without depending on each other.
package catalog

import (
	"net/http"
	"time"
)

// Seed is a URL to crawl, with what its source says about it. Only URL is required.
type Seed struct {
	URL          string // absolute http, https or ftp URL, as the source spells it
	Portal       string // IRI of the portal that lists it
	PortalTitle  string
	Dataset      string // IRI of the dataset it distributes
	Title        string // of the distribution, or the file's name
	DatasetTitle string
	Format       string        // as declared: "CSV", "text/csv", ".csv"
	MediaType    string        // as declared, if the source has a separate field for it
	Period       time.Duration // declared update period (dct:accrualPeriodicity); 0 = not declared
	Modified     time.Time     // when it changed, as declared (dct:modified); of a date, its end; zero = not declared
	Priority     float64       // 0 by default; a greater one is visited sooner
	Accept       string        // what to ask the server for: AcceptRDF, AcceptCSV, the value of an Accept field, or "" for anything
}

// Outcome is the outcome of one visit. Reports, triples, API and pages use the same words.
type Outcome string

const (
	Archived     Outcome = "archive"    // a new version was stored
	Unchanged    Outcome = "unchanged"  // 304, or the same bytes as the latest version
	NoVersion    Outcome = "no-version" // there was nothing to keep; ErrorClass says why
	Blocked      Outcome = "blocked"    // a target that must not be fetched
	RobotsDenied Outcome = "robots-denied"
	RetryLater   Outcome = "retry-later" // 429 and 503: the host waits
)

// ErrorClass is the reason for which a visit stored no version.
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
	ErrDiskFull        ErrorClass = "disk-full" // of this machine; the file is fetched again soon
	ErrBytesWithdrawn  ErrorClass = "withdrawn" // these bytes were taken away and are not kept again
	ErrInternal        ErrorClass = "internal"  // a fault of this program with the bytes, never of the host
)

// Known reports whether c is one of the constants above.
func (c ErrorClass) Known() bool {
	switch c {
	case ErrProtocol, ErrTruncated, ErrNetwork, ErrTimeout, ErrTooLarge, ErrDecode, ErrHeaderTooLarge, ErrHTTPStatus, ErrTooManyRedirect,
		ErrBadURL,
		ErrForbiddenTarget, ErrEmptyBody, ErrTLS, ErrDNS, ErrSoft404, ErrDiskFull, ErrBytesWithdrawn, ErrInternal:
		return true
	}
	return false
}

// Source is one listing of a resource, by a dataset of a portal. Either may be empty.
type Source struct {
	Portal       string    `json:"portal,omitempty"`
	Dataset      string    `json:"dataset,omitempty"`
	DatasetTitle string    `json:"dataset_title,omitempty"`
	Delisted     time.Time `json:"delisted,omitzero"` // when the dataset ceased to list it; zero if it still does
}

// Version is one archived state of a resource's bytes.
type Version struct {
	ID       string // "{resource id}_{N}"
	URL      string // of the resource
	N        int    // its number, from 0
	Digests  Digests
	Size     int64
	Type     string // detected media type
	Charset  string // detected, "" for binary
	Because  string // how the type was recognised, in one sentence
	FileName string
	At       time.Time // crawl time (UTC)
	Activity string    // ID of the visit that stored it
	Previous string    // ID of the version before, "" for the first

	// ErrorPage is why the bytes are an error page, which is recognised later and excluded from counts; "" for data.
	ErrorPage string `json:",omitempty"`

	// Truncated is why the bytes are not the whole file, in the words of WARC-Truncated ("length", "time",
	// "disconnect", "unspecified"); "" if they are. Only other archives keep such files.
	Truncated string `json:",omitempty"`

	Withdrawn *Withdrawal `json:",omitempty"` // nil if the bytes were not taken away

	LastModified string      // as the server sent it
	ETag         string      // as the server sent it
	Headers      http.Header // of the final response
	Request      http.Header `json:",omitempty"` // headers of the request
}

// IsStatus reports whether a number may be the status of an HTTP response, which has three digits (RFC 9110, section
// 15), or 0 for none.
func IsStatus(n int) bool { return n >= 0 && n <= 999 }

// Activity is one visit, successful or not, or a stretch of visits that found the same.
type Activity struct {
	ID         string // "{resource id}-{start in milliseconds since 1970}", of the first visit of its stretch
	URL        string
	FinalURL   string // after redirects; "" if it is URL
	Start, End time.Time
	Outcome    Outcome
	ErrorClass ErrorClass
	Status     int    // HTTP status; 0 = none
	Why        string // an explanation, in one sentence
	Version    string // ID of the version that it stored, or found unchanged
	TLS        string `json:",omitempty"` // description of the connection, if the server's certificate was not verified
	Robots     string `json:",omitempty"` // the permission by which robots.txt did not apply, in one sentence
	Visits     int    `json:",omitempty"` // how many visits, from Start to End, this is; 0 means 1
}
