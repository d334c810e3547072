package harvest

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// WholeAfter is how long harvests take a source's word for what changed before the next reads everything: what was deleted
// without a word is noticed then, and a source that lies is found out.
const WholeAfter = 7 * 24 * time.Hour

// ErrNotModified is the error of a Request for a document that is still the one of its Unless.
var ErrNotModified = errors.New("has not been modified")

// Tag is what a source tells versions of a document apart by: its ETag, else its Last-Modified, else "" (RFC 9110 §8.8).
func Tag(h http.Header) string {
	if tag := strings.TrimSpace(h.Get("Etag")); tag != "" {
		return tag
	}
	return strings.TrimSpace(h.Get("Last-Modified"))
}

// unless makes a request one for a version of a document other than that of the tag (RFC 9110 §13.1).
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

// Mark is "" where the source does not tell versions apart.
func (d Document) Mark() string {
	if d.Tag == "" || strings.ContainsAny(d.URL, " \n") {
		return ""
	}
	return strings.Join([]string{documentMark, d.Read.UTC().Format(time.RFC3339), d.URL, d.Tag}, " ")
}

// ParseDocument reads what Mark wrote; false where it did not.
func ParseDocument(mark string) (Document, bool) {
	parts := strings.SplitN(mark, " ", 4)
	if len(parts) < 4 || parts[0] != documentMark {
		return Document{}, false
	}
	read, err := time.Parse(time.RFC3339, parts[1])
	return Document{URL: parts[2], Tag: parts[3], Read: read}, err == nil
}

// Unless is the Tag to ask a document with, "" for another one and once in WholeAfter.
func (d Document) Unless(address string, now time.Time) string {
	if address != d.URL || now.Sub(d.Read) >= WholeAfter || d.Read.After(now.Add(time.Hour)) {
		return ""
	}
	return d.Tag
}
