package files

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"odarchive/crawler/archive"
	"odarchive/crawler/exchange/warc"
)

// Extension fields of records, which keep what an import needs to restore the version.
const (
	fieldVersion  = "Odarchive-Version"   // IRI of the version
	fieldURL      = "Odarchive-URL"       // of the resource, if WARC-Target-URI had to be encoded
	fieldFinalURL = "Odarchive-Final-URL" // where redirects ended, if elsewhere
	fieldFormat   = "Odarchive-Format"    // of the resource, as its sources declare it
)

// head returns the WARC head and the HTTP head of a record. inner is the HTTP head of a version that came with one.
func (w *WARC) head(i int, f archive.Fetched, inner []byte) []byte {
	e, r := &w.entries[i], &w.records[i]
	kind, contentType := "resource", oneLine(f.Headers.Get("Content-Type"))
	if contentType == "" {
		contentType = f.Type
	}
	if r.status > 0 {
		kind, contentType = "response", "application/http;msgtype=response"
	}
	b := make([]byte, 0, 768+len(inner))
	b = put(b, "WARC/1.1\r\nWARC-Type: ", kind, "\r\nWARC-Record-ID: ", recordID(w.iri(i)), "\r\nWARC-Warcinfo-ID: ", w.infoID,
		"\r\nWARC-Target-URI: ", targetURI(f.URL), "\r\nWARC-Date: ")
	b = appendInstant(b, f.At)
	b = hex.AppendEncode(put(b, "\r\nWARC-Payload-Digest: sha256:"), e.Ref.SHA256[:])
	b = hex.AppendEncode(put(b, "\r\nWARC-Block-Digest: sha256:"), r.block[:])
	field := func(name, value string) {
		if value = oneLine(value); value != "" {
			b = put(b, "\r\n", name, ": ", value)
		}
	}
	for _, told := range warc.HeaderFields(f.Exchange, cmp.Or(f.Visit.FinalURL, f.URL)) {
		field(told.Name, told.Value)
	}
	field("WARC-Truncated", f.Truncated)
	field("WARC-Identified-Payload-Type", f.Type)
	field(fieldVersion, w.iri(i))
	if targetURI(f.URL) != f.URL {
		field(fieldURL, f.URL)
	}
	if f.Visit.FinalURL != f.URL {
		field(fieldFinalURL, f.Visit.FinalURL)
	}
	field(fieldFormat, f.Format)
	field("Content-Type", contentType)
	b = strconv.AppendInt(put(b, "\r\nContent-Length: "), int64(len(inner))+e.Ref.Size, 10)
	return append(put(b, "\r\n\r\n"), inner...)
}

// statusOf returns the status of the response that a version came with, 0 if it was not fetched by HTTP.
func statusOf(f archive.Fetched) uint16 {
	switch {
	case !strings.HasPrefix(strings.ToLower(f.URL), "http"):
		return 0
	case f.Visit.Status >= 100 && f.Visit.Status <= 999:
		return uint16(f.Visit.Status)
	case f.Visit.ID == "" && len(f.Headers) > 0: // the visit's record is gone
		return http.StatusOK
	}
	return 0
}

// httpHead returns the HTTP head of a version's record, nil if it has none.
func httpHead(f archive.Fetched) []byte {
	return warc.ResponseHead{Status: int(statusOf(f)), Header: f.Headers, Size: f.Size, Exchange: f.Exchange}.HTTP()
}

// targetURI returns an address as a URI: everything outside of ASCII, and what RFC 3986 forbids, is percent-encoded.
func targetURI(address string) string {
	ok := func(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte("<>\"{}|\\^`", c) < 0 }
	clean := true
	for i := range len(address) {
		clean = clean && ok(address[i])
	}
	if clean {
		return address
	}
	var b strings.Builder
	for i := range len(address) {
		if c := address[i]; ok(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// recordID returns the id of a record about an IRI: a UUID of version 5 in the namespace of URLs (RFC 9562 §5.5), so
// that an export made twice has the same ids.
func recordID(iri string) string {
	namespace := [16]byte{0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}
	sum := sha1.Sum(append(namespace[:], iri...))
	u := sum[:16]
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", u[0:4], u[4:6], u[6:8], u[8:10], u[10:])
}
