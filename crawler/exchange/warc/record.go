// Package warc reads and writes WARC, the file format of web archives (ISO 28500). It also reads the older format ARC.
//
// A Record is a list of header fields and a block of bytes; ReadMessage parses a block that is an HTTP message. A
// Reader reads a file record by record and continues after damage. A Writer appends records with digests, each in a
// gzip member of its own. A Dir is a directory of files to which records are appended (FORMAT.md).
//
// A Reader is safe for untrusted input: it uses no more memory than Limits allow and never panics. It checks the
// structure of a file, but neither digests nor which fields a record has; package audit does.
package warc

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Types of records (WARC 1.1 §6).
const (
	Warcinfo     = "warcinfo"
	Response     = "response"
	Resource     = "resource"
	Request      = "request"
	Metadata     = "metadata"
	Revisit      = "revisit"
	Conversion   = "conversion"
	Continuation = "continuation"
)

// Profiles of revisit records (WARC 1.1 §6.7).
const (
	ProfileNotModified     = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
	ProfileIdenticalDigest = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
)

// Media types of blocks.
const (
	HTTPRequest  = "application/http;msgtype=request"
	HTTPResponse = "application/http;msgtype=response"
	WarcFields   = "application/warc-fields"
)

// Field is one header field. Names are compared without regard to case.
type Field struct {
	Name, Value string
}

// Header is the fields of a record in order. A name may occur several times.
type Header []Field

// Get returns the value of the first field of that name, "" if there is none.
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Values returns the values of all fields of that name, in order.
func (h Header) Values(name string) []string {
	var all []string
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			all = append(all, f.Value)
		}
	}
	return all
}

// Add appends a field.
func (h *Header) Add(name, value string) { *h = append(*h, Field{name, value}) }

// Record is one record.
type Record struct {
	// Version is "1.1", "1.0", "0.18" or "0.17". It is "ARC/1" for a record of an ARC file, which has the header that
	// the same capture would have in a WARC file.
	Version string

	Type   string // WARC-Type in lower case, "" if the record has none
	Header Header

	// Block is the content of the record. A record that a Reader returned has a Block that is valid until the next
	// call of Next; an incomplete one ends in a *Fault.
	Block io.Reader

	// Packed, if not nil, has the bytes of the block that follow those of Block. Only a Writer uses it; Header must
	// then have all digests and Content-Length.
	Packed *Packed

	// Head is the header as it stands in the file, from the version line to the blank line. It is valid until the next
	// call of Next. A Writer ignores it.
	Head []byte

	Offset int64 // of the record in the file; in a compressed file, of its member

	// Length is the number of bytes of the record in the file or, in a compressed file, of its member. It is 0 until
	// Reader.Finish, and stays 0 if the record shares its member with others or is damaged.
	Length int64

	// ContentLength is the number of bytes of Block as the header states it.
	ContentLength int64
}

// URI returns WARC-Target-URI, without the angle brackets that some programs write around it, escaped by EscapeBytes.
func (rec *Record) URI() string {
	u := rec.Header.Get("WARC-Target-URI")
	if strings.HasPrefix(u, "<") && strings.HasSuffix(u, ">") {
		u = u[1 : len(u)-1]
	}
	return EscapeBytes(u)
}

// EscapeBytes percent-encodes the bytes of a URI that are not UTF-8, as browsers do in requests. Older programs wrote
// such bytes unencoded; replacing them by U+FFFD would make different URIs equal.
func EscapeBytes(uri string) string {
	if utf8.ValidString(uri) {
		return uri
	}
	var b strings.Builder
	for i := 0; i < len(uri); {
		r, n := utf8.DecodeRuneInString(uri[i:])
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02X", uri[i])
		} else {
			b.WriteString(uri[i : i+n])
		}
		i += n
	}
	return b.String()
}

// ID returns WARC-Record-ID as it stands, with its angle brackets.
func (rec *Record) ID() string { return rec.Header.Get("WARC-Record-ID") }

// Date returns WARC-Date. It returns an error if the field is missing or malformed.
func (rec *Record) Date() (time.Time, error) { return ParseDate(rec.Header.Get("WARC-Date")) }

// Fault is the error about a fault in a file. A Reader can continue after it.
type Fault struct {
	Offset int64  // of the record or member with the fault
	Why    string // one clause, such as "the block ends after 10 of 500 bytes"
}

func (f *Fault) Error() string { return fmt.Sprintf("offset %d: %s", f.Offset, f.Why) }

// dates are the forms of WARC-Date (WARC 1.1 §5.4).
var dates = [...]string{time.RFC3339Nano, "2006-01-02T15:04Z", "2006-01-02", "2006-01", "2006"}

// ParseDate parses a WARC-Date: a W3C date and time in UTC with up to nine digits of a fraction, or less precise.
func ParseDate(s string) (time.Time, error) {
	for _, layout := range dates {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("warc: %.40q is not a date", s)
}

// FormatDate returns t as a WARC-Date with milliseconds, the precision of dates in the archive.
func FormatDate(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// NewID returns a new record id, a random UUID in angle brackets.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return FormatID(b)
}

// FormatID returns the record id whose UUID has these bytes, marked as version 4 (random) if no version is set in them.
func FormatID(b [16]byte) string {
	if v := b[6] >> 4; v == 0 || v > 8 || b[8]&0xc0 != 0x80 {
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	}
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
