package harvest

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// WholeAfter is how long harvests rely on a source to say what changed. After that, a harvest reads everything, to find
// undeclared deletions and changes.
const WholeAfter = 7 * 24 * time.Hour

// ErrNotModified is the error of a Request for a document that still has the version Unless.
var ErrNotModified = errors.New("has not been modified")

// Tag returns what identifies the version of a document: its ETag, else its Last-Modified, else "" (RFC 9110 §8.8).
func Tag(h http.Header) string {
	if tag := strings.TrimSpace(h.Get("Etag")); tag != "" {
		return tag
	}
	return strings.TrimSpace(h.Get("Last-Modified"))
}

// unless makes a request conditional on a version other than that of the tag (RFC 9110 §13.1).
func unless(req *http.Request, tag string) {
	if _, err := http.ParseTime(tag); err == nil {
		req.Header.Set("If-Modified-Since", tag)
		return
	}
	req.Header.Set("If-None-Match", tag)
}

// Document is the mark of a source that is one document and was read to its end.
type Document struct {
	URL  string
	Tag  string
	Read time.Time
}

const documentMark = "document"

// Mark returns the document as a mark, or "" if the source does not identify versions.
func (d Document) Mark() string {
	if d.Tag == "" || strings.ContainsAny(d.URL, " \n") {
		return ""
	}
	return strings.Join([]string{documentMark, d.Read.UTC().Format(time.RFC3339), d.URL, d.Tag}, " ")
}

// ParseDocument parses what Mark returned. It returns false for other marks.
func ParseDocument(mark string) (Document, bool) {
	parts := strings.SplitN(mark, " ", 4)
	if len(parts) < 4 || parts[0] != documentMark {
		return Document{}, false
	}
	read, err := time.Parse(time.RFC3339, parts[1])
	return Document{URL: parts[2], Tag: parts[3], Read: read}, err == nil
}

// Unless returns the Tag for a conditional request, or "" if the address is another one or a whole harvest is due.
func (d Document) Unless(address string, now time.Time) string {
	if address != d.URL || now.Sub(d.Read) >= WholeAfter || d.Read.After(now.Add(time.Hour)) {
		return ""
	}
	return d.Tag
}
