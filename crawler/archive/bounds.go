package archive

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/rdfio/iri"
)

// Bounds of what strangers say, in bytes. A record holds at most kv.MaxValue bytes, and JSON may need six for one.
const (
	maxWord    = 255      // media types, encodings, dates, names of files
	maxHeaders = 64 << 10 // of a response, and of a request
	maxTitle   = 2 << 10  // of resources, datasets, portals
	maxName    = 4 << 10  // IRIs of portals and datasets
	maxSources = 256 << 10
)

// MaxETag bounds an entity tag, in bytes. Longer ones are dropped.
const MaxETag = 2 << 10

// omittedHeader is the header field in which a version's headers list the names of the fields that were too long to
// keep.
const omittedHeader = "Odarchive-Omitted-Headers"

// boundActivity cuts what strangers say of a fetch. A final URL that RDF could not name is dropped: a dump of the whole
// archive would fail at it. A number that is no HTTP status becomes 0, for none.
func boundActivity(a catalog.Activity) catalog.Activity {
	a.Why, a.TLS = records.Cut(a.Why, records.MaxSentence), records.Cut(a.TLS, records.MaxSentence)
	a.Robots = records.Cut(a.Robots, records.MaxSentence)
	if len(a.FinalURL) > address.MaxURL || a.FinalURL != "" && iri.Check(describe.IRI(a.FinalURL).Value()) != nil {
		a.FinalURL = ""
	}
	if !catalog.IsStatus(a.Status) {
		a.Status = 0
	}
	return a
}

// bound cuts what strangers say of a body. It replaces headers rather than change them.
func (k *Kept) bound() {
	k.Because = records.Cut(k.Because, records.MaxSentence)
	k.Charset, k.FileName, k.LastModified = records.Cut(k.Charset, maxWord), records.Cut(k.FileName, maxWord),
		records.Cut(k.LastModified, maxWord)
	if k.Type != "" && !isMediaType(k.Type) {
		k.Type = "application/octet-stream"
	}
	k.Truncated = records.Cut(k.Truncated, maxWord)
	if len(k.ETag) > MaxETag {
		k.ETag = ""
	}
	k.Headers, k.Request = boundHeaders(k.Headers), boundHeaders(k.Request)
}

// boundHeaders returns the shortest fields that fit into maxHeaders, and lists the names of the others in
// omittedHeader.
func boundHeaders(h http.Header) http.Header {
	if headersSize(h) <= maxHeaders {
		return h
	}
	names := slices.SortedFunc(maps.Keys(h), func(a, b string) int {
		if d := fieldSize(h, a) - fieldSize(h, b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	kept, left := http.Header{}, maxHeaders
	var omitted []string
	for _, name := range names {
		if n := fieldSize(h, name); n <= left {
			kept[name] = h[name]
			left -= n
			continue
		}
		omitted = append(omitted, records.Cut(name, maxWord))
	}
	kept.Set(omittedHeader, records.Cut(strings.Join(omitted, ", "), records.MaxSentence))
	return kept
}

func headersSize(h http.Header) (n int) {
	for name := range h {
		n += fieldSize(h, name)
	}
	return n
}

func fieldSize(h http.Header, name string) int {
	n := len(name)
	for _, v := range h[name] {
		n += len(v) + 8
	}
	return n
}

// ErrBadIRI is in the chain of errors about the IRIs of portals and datasets that no record may hold.
var ErrBadIRI = errors.New("not an IRI that can be kept")

// CheckName returns an ErrBadIRI error if the IRI of a portal or dataset contains control characters, which separate
// the parts of keys, is not UTF-8, or is longer than 4 KiB, since a key holds two.
func CheckName(iri string) error {
	switch {
	case len(iri) > maxName:
		return fmt.Errorf("%.100q…: %w: longer than %d bytes", iri, ErrBadIRI, maxName)
	case !utf8.ValidString(iri):
		return fmt.Errorf("%q: %w: not UTF-8", iri, ErrBadIRI)
	case strings.ContainsFunc(iri, unicode.IsControl):
		return fmt.Errorf("%q: %w: a control character", iri, ErrBadIRI)
	}
	return nil
}

// CleanName returns a name that CheckName accepts: control characters are percent-encoded, and a name that is too long
// becomes "".
func CleanName(iri string) string {
	if CheckName(iri) == nil {
		return iri
	}
	iri = describe.IRI(iri).Value()
	if CheckName(iri) != nil {
		return ""
	}
	return iri
}

// BoundSeed returns the seed with its texts cut to what a record may hold. The error is ErrBadIRI.
func BoundSeed(s catalog.Seed) (catalog.Seed, error) {
	for _, name := range []string{s.Portal, s.Dataset} {
		if err := CheckName(name); err != nil {
			return s, fmt.Errorf("register %s: %w", s.URL, err)
		}
	}
	s.Title, s.DatasetTitle, s.PortalTitle = records.Cut(s.Title, maxTitle), records.Cut(s.DatasetTitle, maxTitle),
		records.Cut(s.PortalTitle, maxTitle)
	s.Format = records.Cut(s.Format, maxWord)
	if len(s.Accept) > maxTitle || strings.ContainsFunc(s.Accept, unicode.IsControl) {
		s.Accept = ""
	}
	if !isMediaType(s.MediaType) {
		s.MediaType = ""
	}
	return s, nil
}

// sourcesSize returns about how many bytes the listings of a resource add to its record, which holds their names twice.
func sourcesSize(sources []catalog.Source) (n int) {
	for _, s := range sources {
		n += 64 + 2*jsonSize(s.Portal) + 2*jsonSize(s.Dataset) + jsonSize(s.DatasetTitle)
	}
	return n
}

// jsonSize returns about how long a text is in JSON.
func jsonSize(s string) int {
	return len(s) + 5*(strings.Count(s, "&")+strings.Count(s, "<")+strings.Count(s, ">"))
}

// isMediaType reports whether a text has the form of a media type, "type/subtype", without parameters.
func isMediaType(s string) bool {
	main, sub, ok := strings.Cut(s, "/")
	return ok && len(s) <= maxWord && isToken(main) && isToken(sub)
}

// isToken reports whether a text is a token of RFC 9110 section 5.6.2.
func isToken(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") == ""
}
