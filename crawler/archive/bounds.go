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
	"odarchive/crawler/catalog"
)

// Bounds of what strangers say, in bytes. A record holds at most kv.MaxValue, and JSON may write one byte as six.
const (
	maxSentence = 1 << 10  // Why, Because
	maxWord     = 255      // media types, encodings, dates, names of files
	maxHeaders  = 64 << 10 // of a response, and of a request
	maxTitle    = 2 << 10  // of resources, datasets, portals
	maxName     = 4 << 10  // IRIs of portals and datasets
	maxSources  = 256 << 10
)

// MaxETag is the length of the longest entity tag that is kept, in bytes.
const MaxETag = 2 << 10

// OmittedHeader is the name under which a version's headers list the names of those that were too long to keep.
const OmittedHeader = "Odarchive-Omitted-Headers"

// cut is a text of at most n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}

func boundActivity(a catalog.Activity) catalog.Activity {
	a.Why, a.TLS = cut(a.Why, maxSentence), cut(a.TLS, maxSentence)
	if len(a.FinalURL) > address.MaxURL {
		a.FinalURL = ""
	}
	return a
}

// bound cuts what is said of a body. The headers that it changes are copies.
func (k *Kept) bound() {
	k.Because = cut(k.Because, maxSentence)
	k.Charset, k.FileName, k.LastModified = cut(k.Charset, maxWord), cut(k.FileName, maxWord), cut(k.LastModified, maxWord)
	if k.Type != "" && !isMediaType(k.Type) {
		k.Type = "application/octet-stream"
	}
	if len(k.ETag) > MaxETag {
		k.ETag = ""
	}
	k.Headers, k.Request = boundHeaders(k.Headers), boundHeaders(k.Request)
}

// boundHeaders keeps the shortest fields, as far as there is room, and names the others.
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
		omitted = append(omitted, cut(name, maxWord))
	}
	kept.Set(OmittedHeader, cut(strings.Join(omitted, ", "), maxSentence))
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

// ErrBadIRI is in the chain of errors about names of portals and datasets that no record may hold.
var ErrBadIRI = errors.New("it is no IRI that can be kept")

// CheckName returns an error that is ErrBadIRI if the name of a portal or dataset has control characters, which separate the
// parts of keys, is no UTF-8, or is longer than 4 KiB: a key has two names.
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

// CleanName returns a name that CheckName takes: control characters are percent-encoded, and a name that is too long is "".
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

// BoundSeed returns what a source says of a URL with its texts cut to what records hold. The error is ErrBadIRI.
func BoundSeed(s catalog.Seed) (catalog.Seed, error) {
	for _, name := range []string{s.Portal, s.Dataset} {
		if err := CheckName(name); err != nil {
			return s, fmt.Errorf("register %s: %w", s.URL, err)
		}
	}
	s.Title, s.DatasetTitle, s.PortalTitle = cut(s.Title, maxTitle), cut(s.DatasetTitle, maxTitle), cut(s.PortalTitle, maxTitle)
	s.Format = cut(s.Format, maxWord)
	if !isMediaType(s.MediaType) {
		s.MediaType = ""
	}
	return s, nil
}

// sourcesSize is about how long a record becomes by the listings of its resource: their names stand in it twice.
func sourcesSize(sources []catalog.Source) (n int) {
	for _, s := range sources {
		n += 64 + 2*jsonSize(s.Portal) + 2*jsonSize(s.Dataset) + jsonSize(s.DatasetTitle)
	}
	return n
}

// jsonSize is about how long a text is in JSON.
func jsonSize(s string) int {
	return len(s) + 5*(strings.Count(s, "&")+strings.Count(s, "<")+strings.Count(s, ">"))
}

// isMediaType tells whether a text has the form of a media type, "type/subtype", without parameters.
func isMediaType(s string) bool {
	main, sub, ok := strings.Cut(s, "/")
	return ok && len(s) <= maxWord && isToken(main) && isToken(sub)
}

// isToken is RFC 9110 section 5.6.2.
func isToken(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") == ""
}
