// Package captures reads WARC and ARC files for import: which captures a file has, in the order of their dates, and the
// body of each.
//
// A capture is a response or resource record with content, or a record that stands for one: a revisit record has the
// body of the record that it refers to, and a redirect that of the response that its target was answered with.
package captures

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/warc"
	"odarchive/crawler/warc/audit"
	"odarchive/crawler/warc/cdxj"
	"odarchive/crawler/warc/heads"
	"odarchive/crawler/warc/payload"
)

// Capture is one capture of a file.
type Capture struct {
	URL      string
	FinalURL string // where redirects ended; "" if it is URL
	At       time.Time
	Format   string // as a catalog declared it; only exports of this program say so
	// Truncated is why the body is not the whole file (WARC-Truncated), "" if the file does not say so.
	Truncated string
	offset    int64         // of the record with the body
	head      int64         // of the revisit record that has the HTTP head, -1 if the record with the body has it
	segments  []int64       // of the continuation records that have the rest of the body
	length    int64         // of the block, with segments
	hops      []catalog.Hop // the redirects that led to the body
}

// Offset returns the place of the record that has the body.
func (c Capture) Offset() int64 { return c.offset }

// List is the captures of a file, and what is passed over.
type List struct {
	Captures []Capture // in the order of their dates
	Others   int       // records of other types, responses without content, revisits whose original is elsewhere
	Shared   bool      // records share gzip members, so that Open cannot find them: the file must be unpacked first
}

// Fields of records that an export of this program writes (package bundle).
const (
	fieldURL      = "Odarchive-URL"
	fieldFinalURL = "Odarchive-Final-URL"
	fieldFormat   = "Odarchive-Format"
	fieldVersion  = "Odarchive-Version"
	undone        = "X-Orig-" // prefix of HTTP fields whose codings were undone
)

// entry is what the first pass knows of a record.
type entry struct {
	Capture
	kind      string
	id        string
	digest    string
	status    int
	location  string
	refersTo  string // id
	refersAt  string // "URI date"
	notEmpty  bool
	segmented bool // the record is the first of several segments
}

// Bounds: how many redirects are followed, and how long after one the answer may be.
const (
	maxRedirects  = 10
	redirectsTime = time.Hour
)

// Read reads a file and returns its captures. fault is called for each fault; damaged records are passed over, but a
// record whose digest differs is kept: many programs have written digests of something else. Of a record in segments
// that is not whole, the beginning is kept, as truncated. The error is one of reading.
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
		sums := audit.Watch(rec)
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

// describe returns what is needed of a record that is, or stands for, a capture. bad is why what should be an HTTP message
// is none that can be imported; faults of the block are not, since Finish returns them.
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
	if rec.Type != warc.Revisit { // there it says that the body is elsewhere
		e.Truncated = truncated(rec)
	}
	switch rec.Type {
	case warc.Resource:
		return e, e.notEmpty, nil
	case warc.Response:
		if m == nil {
			e.kind = warc.Resource // of no protocol that has heads
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

// truncated returns why the content of a record is not whole, a word; "" if it is.
func truncated(rec *warc.Record) string { return reason(rec.Header.Get("WARC-Truncated")) }

// reason returns a value of WARC-Truncated as a word.
func reason(why string) string {
	why = strings.ToLower(why)
	if len(why) > 40 || strings.ContainsFunc(why, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "unspecified"
	}
	return why
}

// kept reports whether the body of a response with a status is a version of its URL.
func kept(status int) bool {
	return status == http.StatusOK || status == http.StatusNonAuthoritativeInfo
}

// resolve finds the bodies of revisits and redirects, and drops those that have none.
func resolve(all []entry, others int) ([]Capture, int) {
	// Only what revisits and redirects refer to is looked up: most files have few of them, and many records.
	byID, byDigest, byDate, byURL := map[string]*entry{}, map[string]*entry{}, map[string]*entry{}, map[string][]*entry{}
	redirects := false
	for i := range all {
		e := &all[i]
		redirects = redirects || e.location != ""
		if e.kind == warc.Revisit {
			byID[e.refersTo], byDigest[e.digest] = nil, nil
			if key, ok := dateKey(strings.Cut(e.refersAt, " ")); ok {
				byDate[key] = nil
			}
		}
	}
	for i := range all {
		e := &all[i]
		if redirects {
			byURL[place(e.URL)] = append(byURL[place(e.URL)], e)
		}
		if e.kind == warc.Revisit || e.location != "" {
			continue
		}
		if _, wanted := byID[e.id]; wanted {
			byID[e.id] = e
		}
		if first, wanted := byDigest[e.digest]; wanted && first == nil {
			byDigest[e.digest] = e
		}
		if len(byDate) > 0 {
			key := e.URL + " " + e.At.Format(time.RFC3339Nano)
			if _, wanted := byDate[key]; wanted {
				byDate[key] = e
			}
		}
	}
	for _, list := range byURL {
		slices.SortStableFunc(list, func(a, b *entry) int { return a.At.Compare(b.At) })
	}
	delete(byID, "")
	delete(byDigest, "")
	original := func(e *entry) *entry {
		if o := byID[e.refersTo]; o != nil {
			return o
		}
		if o := byDigest[e.digest]; o != nil {
			return o
		}
		if key, ok := dateKey(strings.Cut(e.refersAt, " ")); ok {
			return byDate[key]
		}
		return nil
	}
	var found []Capture
	for i := range all {
		e := &all[i]
		c := e.Capture
		var o *entry
		switch {
		case e.location != "":
			if o, c.FinalURL, c.hops = follow(e, byURL); o != nil && o.kind == warc.Revisit {
				o = original(o)
			}
		case e.kind == warc.Revisit:
			if o = original(e); e.status == http.StatusOK {
				c.head = e.offset
			}
		default:
			found = append(found, c)
			continue
		}
		if o == nil {
			others++
			continue
		}
		if c.offset, c.segments, c.length, c.Truncated = o.offset, o.segments, o.length, o.Truncated; c.FinalURL == "" {
			c.FinalURL = o.FinalURL
		}
		found = append(found, c)
	}
	return found, others
}

// dateKey returns the key of a record by its address and date. ok is false if the date is none.
func dateKey(uri, date string, _ bool) (key string, ok bool) {
	at, err := warc.ParseDate(date)
	return uri + " " + at.Format(time.RFC3339Nano), err == nil
}

// follow returns the first record with content behind a redirect, nil if the file has none, its URL, and the redirects
// that lead there. The records of each place are in the order of their dates.
func follow(e *entry, byURL map[string][]*entry) (*entry, string, []catalog.Hop) {
	hops := []catalog.Hop{{URL: e.URL, Status: e.status, At: e.At}}
	at, here, location := e.At, e.URL, e.location
	seen := map[string]bool{place(here): true}
	for range maxRedirects {
		base, err := url.Parse(here)
		if err != nil {
			return nil, "", nil
		}
		target, err := base.Parse(location)
		if err != nil {
			return nil, "", nil
		}
		target.Fragment = ""
		here = target.String()
		list := byURL[place(here)]
		// The first one not before the redirect, whose date may be that of the end of the fetch.
		i, _ := slices.BinarySearchFunc(list, at.Add(-time.Second), func(o *entry, at time.Time) int { return o.At.Compare(at) })
		if i < len(list) && list[i] == e {
			i++
		}
		if i == len(list) || list[i].At.Sub(at) >= redirectsTime {
			return nil, "", nil
		}
		next := list[i]
		if next.location == "" {
			return next, here, hops
		}
		if seen[place(here)] {
			return nil, "", nil
		}
		seen[place(here)] = true
		hops = append(hops, catalog.Hop{URL: next.URL, Status: next.status, At: next.At})
		at, location = next.At, next.location
	}
	return nil, "", nil
}

// place returns the index key of an address with its scheme, which keys leave out.
func place(address string) string {
	scheme, _, _ := strings.Cut(address, ":")
	return strings.ToLower(scheme) + " " + cdxj.Key(address)
}

// Content is the content of a capture.
type Content struct {
	Status   int // of the HTTP response, 0 for none
	Header   http.Header
	Exchange *catalog.Exchange // what the file tells of the wire; nil for nothing
	Sent     int64             // bytes of the body with its content codings, -1 if they are unknown or were undone before
	Body     io.Reader         // without codings; its length is not bounded
}

// Open returns the content of a capture of a file. It is valid until the file is closed.
func Open(file io.ReaderAt, size int64, c Capture) (Content, error) {
	m, body, rec, err := message(file, size, c.offset, c.segments...)
	if err != nil {
		return Content{}, err
	}
	if m == nil {
		content := Content{Header: http.Header{}, Body: body, Sent: -1, Exchange: c.exchange(rec, nil)}
		if t := rec.Header.Get("Content-Type"); t != "" {
			content.Header.Set("Content-Type", t)
		}
		return content, nil
	}
	content := Content{Status: m.Status(), Header: header(m, isOwn(rec)), Exchange: c.exchange(rec, m), Sent: -1}
	body, coded := payload.Coded(m, body)
	if !m.Chunked() && !isOwn(rec) && (coded || m.Header.Get("Content-Encoding") == "") {
		content.Sent = max(rec.ContentLength, c.length) - int64(len(m.Head))
	}
	if content.Body, err = payload.Decode(m, body); err != nil {
		return content, err
	}
	if c.head >= 0 {
		if m, _, rec, err := message(file, size, c.head); err == nil && m != nil {
			content.Header, content.Exchange = header(m, isOwn(rec)), c.exchange(rec, m)
		}
	}
	return content, nil
}

// message returns the record at an offset, and the HTTP head in it, nil if it has none, and the rest of its block.
//
// The blocks of the records at segments follow that of the first record.
func message(file io.ReaderAt, size, offset int64, segments ...int64) (*warc.Message, io.Reader, *warc.Record, error) {
	rec, err := warc.NewReader(io.NewSectionReader(file, offset, size-offset), warc.Limits{}).Next()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("offset %d: %w", offset, err)
	}
	if len(segments) > 0 {
		rec.Block = io.MultiReader(rec.Block, &blocks{file: file, size: size, places: segments})
	}
	_, m, body, err := cdxj.Describe(rec, "", true)
	return m, body, rec, err
}

// blocks reads the blocks of the records at places, one after the other.
type blocks struct {
	file    io.ReaderAt
	size    int64
	places  []int64
	current io.Reader // nil before the first
}

func (b *blocks) Read(p []byte) (int, error) {
	for {
		if b.current != nil {
			if n, err := b.current.Read(p); n > 0 || err != io.EOF {
				return n, err
			}
		}
		if len(b.places) == 0 {
			return 0, io.EOF
		}
		at := b.places[0]
		rec, err := warc.NewReader(io.NewSectionReader(b.file, at, b.size-at), warc.Limits{}).Next()
		if err != nil {
			return 0, fmt.Errorf("offset %d: %w", at, err)
		}
		b.current, b.places = rec.Block, b.places[1:]
	}
}

// isOwn reports whether a record is one of an export of this program.
func isOwn(rec *warc.Record) bool { return rec.Header.Get(fieldVersion) != "" }

// exchange returns what the record of a capture tells of the exchange.
func (c Capture) exchange(rec *warc.Record, m *warc.Message) *catalog.Exchange {
	return heads.Exchange(rec, m, isOwn(rec), cmp.Or(c.FinalURL, c.URL), c.hops)
}

// header returns the fields of a response as the crawler would have kept them. Fields of an export of this program get
// their names back, and so do those about codings in files of other programs.
func header(m *warc.Message, own bool) http.Header {
	h := http.Header{}
	for _, f := range m.Header {
		name := http.CanonicalHeaderKey(f.Name)
		if plain := strings.TrimPrefix(name, undone); plain != "" {
			switch plain {
			case "Content-Encoding", "Content-Length", "Transfer-Encoding":
				name = plain
			default:
				if own {
					name = plain
				}
			}
		}
		if name != "Transfer-Encoding" {
			h[name] = append(h[name], f.Value)
		}
	}
	return h
}
