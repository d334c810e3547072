package catalog

import (
	"fmt"
	"strings"
	"time"
)

// Exchange is what was on the wire when a version was fetched: what its Headers do not have.
type Exchange struct {
	Hops       []Hop  // requests over HTTP, in order: the redirects, and the one that brought the version
	Head       []byte // of the last response, as it was received; at most MaxExchangeHead bytes. Nil without HTTP
	HTTP2      bool   // there is no such text in HTTP/2: Head was written in the style of HTTP/1.1
	RemoteAddr string // address and port of the last connection
	TLS        *TLS   // of the last connection; nil without TLS
	Encoded    int64  // bytes of the body as it was sent, with its content codings

	// WARC is the record that holds the response; nil if none was written.
	WARC *WARCRecord
}

// MaxExchangeHead is the maximum number of bytes of Exchange.Head.
const MaxExchangeHead = 64 << 10

// Hop is one request of a fetch.
type Hop struct {
	URL    string
	Status int
	At     time.Time // when the request was sent, by the archive's clock, in milliseconds
}

// TLS describes a connection with TLS.
type TLS struct {
	Version     string   // "TLS 1.3"
	Cipher      string   // IANA name
	Certificate [32]byte // SHA-256 of the host's certificate
}

// WARCRecord names a WARC record that holds a response.
type WARCRecord struct {
	ID   [16]byte  // UUID of the WARC-Record-ID
	Date time.Time // WARC-Date, in milliseconds
	// Payload is the SHA-256 of the payload: the body with its content codings, without its chunks. In an Exchange that
	// is to be stored, zero means that it is the version's own.
	Payload [32]byte
}

// RecordID returns the UUID as it is in the WARC-Record-ID, without the angle brackets.
func (w WARCRecord) RecordID() string {
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", w.ID[:4], w.ID[4:6], w.ID[6:8], w.ID[8:10], w.ID[10:])
}

// StatusLine returns the first line of Head, "" without HTTP.
func (e Exchange) StatusLine() string {
	line, _, _ := strings.Cut(string(e.Head), "\n")
	return strings.TrimRight(line, "\r")
}

// Protocol returns "h2", "http/1.1" or "http/1.0", and "" without HTTP.
func (e Exchange) Protocol() string {
	switch {
	case e.HTTP2:
		return "h2"
	case strings.HasPrefix(string(e.Head), "HTTP/1.0"):
		return "http/1.0"
	case len(e.Head) > 0:
		return "http/1.1"
	}
	return ""
}
