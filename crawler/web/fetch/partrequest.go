package fetch

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"odarchive/crawler/catalog"
)

// Part asks for a part of a file, as its host stores it: content codings are neither asked for nor undone.
type Part struct {
	From, To int64  // bytes from From on, before To
	If       string // ETag or Last-Modified of the file (If-Range); "" for any
	Only     bool   // the whole file is not wanted if the host sends that
}

// Sent is the part of a file that a host sent: the Body of the exchange is what begins at From. Total is the length of
// the whole file. It is zero if the host sent the whole file.
type Sent struct{ From, Total int64 }

// setHeader sets the fields of a request for the part.
func (p *Part) setHeader(h http.Header) {
	h.Set("Range", fmt.Sprintf("bytes=%d-%d", p.From, p.To-1))
	h.Set("Accept-Encoding", "identity")
	if p.If != "" && validField(p.If) {
		h.Set("If-Range", p.If)
	}
}

// wantsPart checks the status of a response to a request for a part. ok is false if the body is not wanted; then it has
// set the outcome.
func (ex *Exchange) wantsPart(p *Part, h http.Header) (ok bool) {
	if ex.Status == http.StatusOK && p.Only {
		ex.fail(catalog.NoVersion, catalog.ErrProtocol, "the server sent the whole file instead of a part")
		return false
	}
	if ex.Status != http.StatusPartialContent {
		return true // as for any request
	}
	from, to, total, ok := contentRange(h.Get("Content-Range"))
	if !ok || from != p.From || to > p.To {
		ex.fail(catalog.NoVersion, catalog.ErrProtocol,
			fmt.Sprintf("the server was asked for bytes %d to %d and sent %.100q", p.From, p.To-1, h.Get("Content-Range")))
		return false
	}
	ex.Sent = Sent{From: from, Total: total}
	ex.asked = to - from
	return true
}

// contentRange parses a Content-Range field of one part, such as "bytes 0-99/1000". to is behind the last byte.
func contentRange(field string) (from, to, total int64, ok bool) {
	unit, rest, _ := strings.Cut(strings.TrimSpace(field), " ")
	span, length, _ := strings.Cut(strings.TrimSpace(rest), "/")
	first, last, _ := strings.Cut(span, "-")
	from, err1 := strconv.ParseInt(first, 10, 62)
	to, err2 := strconv.ParseInt(last, 10, 62)
	total, err3 := strconv.ParseInt(length, 10, 62)
	ok = strings.EqualFold(unit, "bytes") && err1 == nil && err2 == nil && err3 == nil && 0 <= from && from <= to && to < total
	return from, to + 1, total, ok
}
