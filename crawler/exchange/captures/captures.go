// Package captures reads WARC and ARC files for import: the captures of a file, in the order of their dates, and their
// bodies.
//
// A capture is a response or resource record with content, or a record that refers to one. The body of a revisit record
// is that of the record to which it refers. The body of a redirect is that of the response for its target.
package captures

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/cdxj"
	"odarchive/crawler/exchange/warc"
)

// Capture is one capture of a file.
type Capture struct {
	URL      string
	FinalURL string // where redirects ended; "" if it is URL
	At       time.Time
	Format   string // format that a catalog declared; only known from exports of this program
	// Truncated is the reason why the body is not the whole file (WARC-Truncated), "" if the record states none.
	Truncated string

	offset   int64         // of the record with the body
	head     int64         // of the revisit record that has the HTTP head, -1 if the record with the body has it
	segments []int64       // of the continuation records that have the rest of the body
	length   int64         // of the block, with segments
	hops     []catalog.Hop // the redirects that led to the body
}

// Offset returns the offset of the record with the body.
func (c Capture) Offset() int64 { return c.offset }

// List has the captures of a file.
type List struct {
	Captures []Capture // in the order of their dates
	Others   int       // other records: of other types, without content, or revisits whose original is not in the file
	Shared   bool      // records share gzip members; Open cannot read them before the file is unpacked
}

// Fields of records that this program exports (package bundle).
const (
	fieldURL      = "Odarchive-URL"
	fieldFinalURL = "Odarchive-Final-URL"
	fieldFormat   = "Odarchive-Format"
	fieldVersion  = "Odarchive-Version"
	undone        = "X-Orig-" // prefix of HTTP fields that do not describe the bytes in the record (package heads)
)

// entry is a record that is, or refers to, a capture.
type entry struct {
	Capture
	kind      string
	id        string
	digest    string
	status    int
	location  string
	refersTo  string // id of the original, in a revisit record
	refersAt  string // "URI date" of the original, in a revisit record
	notEmpty  bool   // the record has content
	segmented bool   // the record is the first of several segments
}

// Read reads a file and returns its captures. It calls fault for each fault and skips damaged records. It keeps records
// whose digest is wrong, since many programs have written digests of something else. Of a record in segments of which
// some are missing, it keeps the beginning as truncated. An error means that the file could not be read.
func Read(r io.Reader, fault func(warc.Fault)) (List, error) {
	var list List
	var all []entry
	var segments warc.Segments
	in := warc.NewReader(r, warc.Limits{})
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if f, ok := errors.AsType[*warc.Fault](err); ok {
			fault(*f)
			continue
		}
		if err != nil {
			return list, err
		}
		sums := warc.Watch(rec)
		e, ok, bad := describe(rec)
		differs := sums.Fault()
		f, isFault := errors.AsType[*warc.Fault](in.Finish())
		if in.Failed() {
			continue // Next returns the error
		}
		if isFault {
			fault(*f)
			if !in.Whole() {
				continue
			}
		} else if differs != nil {
			fault(*differs)
		}
		if bad != nil {
			fault(warc.Fault{Offset: rec.Offset, Why: bad.Error()})
		}
		segments.Add(rec)
		if _, err := rec.Date(); err != nil && (rec.Type == warc.Response || rec.Type == warc.Resource || rec.Type == warc.Revisit) {
			fault(warc.Fault{Offset: rec.Offset, Why: fmt.Sprintf("WARC-Date %.40q is not a date", rec.Header.Get("WARC-Date"))})
		}
		if !ok {
			list.Others++
			continue
		}
		list.Shared = list.Shared || strings.HasPrefix(rec.Version, "1") && rec.Length == 0
		all = append(all, e)
	}
	joined, faults := segments.Join()
	for _, f := range faults {
		fault(f)
	}
	for i := range all {
		if e := &all[i]; e.segmented {
			series := joined[e.offset]
			e.segments, e.length, e.Truncated = series.Places, series.Length, cmp.Or(e.Truncated, reason(series.Truncated))
			if !series.Whole {
				e.Truncated = cmp.Or(e.Truncated, "unspecified")
			}
		}
	}
	list.Captures, list.Others = resolve(all, list.Others)
	slices.SortStableFunc(list.Captures, func(a, b Capture) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.offset, b.offset)) })
	return list, nil
}

// describe returns the entry of a record. ok is false if the record neither is nor refers to a capture. bad is the
// error about a block that should be an HTTP message and is not. Faults of the block are left to Reader.Finish.
func describe(rec *warc.Record) (e entry, ok bool, bad error) {
	needed := rec.Type != warc.Revisit || rec.ContentLength > 0 // a revisit record may leave the head out
	c, m, body, err := cdxj.Describe(rec, "", needed)
	if err != nil {
		if _, ofBlock := errors.AsType[*warc.Fault](err); !ofBlock && rec.Type == warc.Response {
			bad = err
		}
		return e, false, bad
	}
	if _, err := address.Parse(c.URL); err != nil {
		return e, false, nil
	}
	e = entry{Capture: Capture{URL: c.URL, At: c.At, Format: rec.Header.Get(fieldFormat), offset: rec.Offset, head: -1},
		kind: rec.Type, segmented: warc.IsSegment(rec), id: rec.ID(), digest: strings.ToLower(c.Digest), status: c.Status}
	if spelled := rec.Header.Get(fieldURL); spelled != "" && cdxj.Key(spelled) == cdxj.Key(c.URL) {
		e.URL = spelled
	}
	e.FinalURL = rec.Header.Get(fieldFinalURL)
	if e.At.IsZero() || e.At.Year() > 9999 {
		return e, false, nil
	}
	if body != nil {
		n, _ := io.CopyN(io.Discard, body, 1)
		e.notEmpty = n > 0 || e.segmented // the head may be a segment of its own
	}
	if rec.Type != warc.Revisit { // a revisit record may state it because it lacks the body
		e.Truncated = truncated(rec)
	}
	switch rec.Type {
	case warc.Resource:
		return e, e.notEmpty, nil
	case warc.Response:
		if m == nil {
			e.kind = warc.Resource // the protocol has no heads
			return e, e.notEmpty, nil
		}
		if e.status >= 300 && e.status < 400 {
			e.location = m.Header.Get("Location")
			return e, e.location != "", nil
		}
		return e, e.notEmpty && kept(e.status), nil
	case warc.Revisit:
		e.refersTo = rec.Header.Get("WARC-Refers-To")
		e.refersAt = warc.EscapeBytes(rec.Header.Get("WARC-Refers-To-Target-URI")) + " " + rec.Header.Get("WARC-Refers-To-Date")
		return e, e.status == 0 || e.status == http.StatusNotModified || kept(e.status), nil
	}
	return e, false, nil
}

// truncated returns the reason why the content of a record is not complete, "" if the record states none.
func truncated(rec *warc.Record) string { return reason(rec.Header.Get("WARC-Truncated")) }

// reason returns a value of WARC-Truncated in lower case, or "unspecified" if it is not a word.
func reason(why string) string {
	why = strings.ToLower(why)
	if len(why) > 40 || strings.ContainsFunc(why, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "unspecified"
	}
	return why
}

// kept reports whether responses with a status are imported.
func kept(status int) bool {
	return status == http.StatusOK || status == http.StatusNonAuthoritativeInfo
}
