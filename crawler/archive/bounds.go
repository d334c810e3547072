package archive

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/surt"
)

// Bounds of what strangers say, in bytes. A record holds at most kv.MaxValue, and JSON may write one byte as six.
const (
	maxSentence = 1 << 10  // Why, Because
	maxWord     = 255      // media types, encodings, dates, names of files
	maxHeaders  = 64 << 10 // of a response, and of a request
	maxTitle    = 2 << 10  // of resources, datasets, portals
	maxSources  = 500      // listings of one resource
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
	if len(a.FinalURL) > surt.MaxURL {
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
	size := func(name string) int {
		n := len(name)
		for _, v := range h[name] {
			n += len(v) + 8
		}
		return n
	}
	total := 0
	for name := range h {
		total += size(name)
	}
	if total <= maxHeaders {
		return h
	}
	names := slices.SortedFunc(maps.Keys(h), func(a, b string) int {
		if d := size(a) - size(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	kept, left := http.Header{}, maxHeaders
	var omitted []string
	for _, name := range names {
		if n := size(name); n <= left {
			kept[name] = h[name]
			left -= n
			continue
		}
		omitted = append(omitted, cut(name, maxWord))
	}
	kept.Set(OmittedHeader, cut(strings.Join(omitted, ", "), maxSentence))
	return kept
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
