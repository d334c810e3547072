// Package tape writes the requests and responses of the fetcher as WARC records.
//
// Each HTTP request becomes a request record and a response record with the bytes as they were sent and received, in
// the order of the redirects. A response that says that nothing changed (304), or that repeats the payload of an
// earlier one, becomes a revisit record with only the head. A file that was fetched by FTP becomes a resource record.
//
// The records differ from the wire in this: they lack the Authorization field of requests and interim responses (1xx);
// heads of HTTP/2 are written in the style of HTTP/1.1, with the field "WARC-Protocol: h2".
//
// The archive does not depend on these files. If they cannot be written, the crawl continues, and Missed counts the
// fetches that are missing in them.
package tape

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/spool"
)

// Tape writes the exchanges of fetches to a directory of WARC files. Its methods may be called concurrently.
type Tape struct {
	// Refuses reports whether the body of an exchange, which is not nil, must not be written; nil for none.
	Refuses func(ex *fetch.Exchange) bool

	dir    *warc.Dir
	now    func() time.Time // the archive's clock
	log    *slog.Logger
	missed atomic.Int64
	failed atomic.Bool // the last write failed
}

var _ fetch.Tape = (*Tape)(nil)

// New returns a tape that writes to a directory of WARC files. now is the clock for dates. The caller closes the
// directory after the last fetch.
func New(dir *warc.Dir, now func() time.Time, log *slog.Logger) *Tape {
	return &Tape{dir: dir, now: now, log: log}
}

// Missed returns the number of fetches, or descriptions of them, that could not be written. A nil Tape has missed none.
func (t *Tape) Missed() int64 {
	if t == nil {
		return 0
	}
	return t.missed.Load()
}

// Record implements fetch.Tape.
func (t *Tape) Record(_ context.Context, ex *fetch.Exchange, original *fetch.Original, hold bool) fetch.Taped {
	now := t.now()
	taped := fetch.Taped{End: now}
	var group []*warc.Record
	for i, hop := range ex.Hops {
		if hop.Wire == nil {
			t.miss("the response does not fit into the spool", ex.URL, nil)
			continue
		}
		date := now.Add(hop.Start.Sub(ex.End))
		if i < len(ex.Hops)-1 {
			group = append(group, exchange(hop, date, payloadOf(hop, nil), nil, &fetch.Taped{})...)
			continue
		}
		if t.refuses(ex) {
			continue
		}
		last := exchange(hop, date, payloadOf(hop, ex), original, &taped)
		if hold && !taped.Revisit && isPlain(hop, ex) {
			taped.Block = hop.Wire.Block
			taped.Write = t.later(ex.URL, last, hop.Head, ex.Body)
			continue
		}
		group = append(group, last...)
	}
	if strings.HasPrefix(ex.FinalURL, "ftp:") && ex.Body != nil && !t.refuses(ex) {
		group = append(group, file(ex, now.Add(ex.Start.Sub(ex.End)), &taped))
	}
	if len(group) > 0 && !t.append(ex.URL, group...) {
		return fetch.Taped{End: now}
	}
	return taped
}

// refuses reports whether the body of an exchange must not be written.
func (t *Tape) refuses(ex *fetch.Exchange) bool {
	return t.Refuses != nil && ex.Body != nil && t.Refuses(ex)
}

// isPlain reports whether the last response of an exchange consists of exactly its head and the bytes of the body.
func isPlain(hop fetch.Hop, ex *fetch.Exchange) bool {
	return ex.Body != nil && ex.Encoding == "" && hop.Wire.Cut == "" && hop.Wire.Head == int64(len(hop.Head)) &&
		hop.Wire.File.Size() == hop.Wire.Head+ex.Body.Size()
}

// later returns a function that writes the records of a response and its request. The response's block is head and
// body; the function's argument has the body in compressed form, or is nil.
func (t *Tape) later(url string, recs []*warc.Record, head []byte, body *spool.File) func(*warc.Packed) bool {
	answer, ask := recs[0], recs[1].Block.(io.Seeker)
	return func(packed *warc.Packed) bool {
		if packed != nil && packed.Size == body.Size() {
			answer.Block, answer.Packed = bytes.NewReader(head), packed
			if _, err := t.dir.Append(recs...); err == nil {
				t.works()
				return true
			}
			answer.Packed = nil
			_, _ = ask.Seek(0, io.SeekStart) // a bytes.Reader always can
		}
		answer.Block = io.MultiReader(bytes.NewReader(head), body.Open())
		return t.append(url, recs...) // fails again unless the compressed body was at fault
	}
}

// append writes records. If it fails, it counts a missed fetch and returns false.
func (t *Tape) append(url string, recs ...*warc.Record) bool {
	if _, err := t.dir.Append(recs...); err != nil {
		t.miss("", url, err)
		return false
	}
	t.works()
	return true
}

// works records that writing has succeeded.
func (t *Tape) works() {
	if t.failed.Swap(false) {
		t.log.Info("WARC files are written again", "missed", t.missed.Load())
	}
}

// miss counts a fetch that is not written. If writing fails several times in a row, it logs only the first failure.
func (t *Tape) miss(why, url string, err error) {
	t.missed.Add(1)
	if why != "" {
		t.log.Warn("a fetch is missing in the WARC files", "url", url, "why", why)
	} else if !t.failed.Swap(true) {
		t.log.Error("WARC files cannot be written; the crawl goes on without them", "url", url, "error", err)
	}
}

// exchange returns the records of a hop: first the response, or the revisit record if it repeats the original, then the
// request.
func exchange(hop fetch.Hop, date time.Time, payload string, original *fetch.Original, taped *fetch.Taped) []*warc.Record {
	answer := &warc.Record{Header: head(warc.Response, hop, date), Block: hop.Wire.File.Open(), ContentLength: hop.Wire.File.Size()}
	taped.Record, taped.Date, taped.Payload = answer.ID(), date, payload
	if profile := repeats(hop, original, payload); profile != "" {
		taped.Revisit = true
		answer = revisit(hop, date, *original, profile, payload, taped.Record)
	} else {
		answer.Header.Add("Content-Type", warc.HTTPResponse)
		if hop.Wire.Cut != "" {
			answer.Header.Add("WARC-Truncated", hop.Wire.Cut)
		}
		answer.Header.Add("WARC-Block-Digest", hop.Wire.Block)
		answer.Header.Add("WARC-Payload-Digest", payload)
		answer.Header.Add("Content-Length", strconv.FormatInt(answer.ContentLength, 10))
	}
	ask := &warc.Record{Header: head(warc.Request, hop, date), Block: bytes.NewReader(hop.Request), ContentLength: int64(len(hop.Request))}
	ask.Header.Add("WARC-Concurrent-To", taped.Record)
	ask.Header.Add("Content-Type", warc.HTTPRequest)
	return []*warc.Record{answer, ask}
}

// payloadOf returns the payload digest of a response. ex is the exchange if the hop is its last one, otherwise nil. If
// the exchange kept the whole body and the body had no content coding, the digest is that of the body, which is known.
func payloadOf(hop fetch.Hop, ex *fetch.Exchange) string {
	if ex != nil && ex.Body != nil && ex.Encoding == "" && hop.Wire.Cut == "" && ex.Received == ex.Body.Size() {
		sha := ex.Body.Digests().SHA256
		return warc.FormatDigest(sha[:])
	}
	payload, _ := warc.PayloadDigest(hop.Wire.File.Open()) // if the file cannot be read, writing the record will fail as well
	return payload
}

// repeats returns the profile of the revisit record for a response that repeats the original, or "" if it does not.
func repeats(hop fetch.Hop, original *fetch.Original, payload string) string {
	switch {
	case original == nil || hop.Wire.Cut != "":
		return ""
	case hop.Status == 304:
		return warc.ProfileNotModified
	case hop.Status == 200 && original.Payload == payload && original.Record != "" && hop.Wire.File.Size() > hop.Wire.Head:
		return warc.ProfileIdenticalDigest
	}
	return ""
}

// revisit returns the record of a response that repeats an earlier one.
func revisit(hop fetch.Hop, date time.Time, original fetch.Original, profile, payload, id string) *warc.Record {
	rec := &warc.Record{Header: head(warc.Revisit, hop, date), Block: io.NewSectionReader(hop.Wire.File, 0, hop.Wire.Head),
		ContentLength: hop.Wire.Head}
	rec.Header[1].Value = id
	rec.Header.Add("WARC-Profile", profile)
	if original.Record != "" {
		rec.Header.Add("WARC-Refers-To", original.Record)
	}
	rec.Header.Add("WARC-Refers-To-Target-URI", original.URL)
	rec.Header.Add("WARC-Refers-To-Date", warc.FormatDate(original.Date))
	if profile == warc.ProfileIdenticalDigest {
		rec.Header.Add("WARC-Payload-Digest", payload)
		rec.Header.Add("WARC-Truncated", "length") // the body is left out (WARC 1.1 §6.7.2)
	}
	rec.Header.Add("Content-Type", warc.HTTPResponse)
	return rec
}

// head returns the fields that the records of a hop have in common. The second field is WARC-Record-ID, with a new id.
func head(typ string, hop fetch.Hop, date time.Time) warc.Header {
	h := make(warc.Header, 0, 16)
	h.Add("WARC-Type", typ)
	h.Add("WARC-Record-ID", warc.NewID())
	h.Add("WARC-Date", warc.FormatDate(date))
	h.Add("WARC-Target-URI", hop.URL)
	if ip, _, err := net.SplitHostPort(hop.RemoteAddr); err == nil {
		h.Add("WARC-IP-Address", ip)
	}
	switch {
	case hop.HTTP2:
		h.Add("WARC-Protocol", "h2")
	case bytes.HasPrefix(hop.Head, []byte("HTTP/1.0")):
		h.Add("WARC-Protocol", "http/1.0")
	default:
		h.Add("WARC-Protocol", "http/1.1")
	}
	if hop.TLS != nil {
		h.Add("WARC-Protocol", strings.ToLower(strings.Replace(hop.TLS.Version, " ", "/", 1)))
		h.Add("WARC-Cipher-Suite", hop.TLS.Cipher)
	}
	return h
}

// file returns the record of a file that was fetched by FTP.
func file(ex *fetch.Exchange, date time.Time, taped *fetch.Taped) *warc.Record {
	rec := &warc.Record{Block: ex.Body.Open(), ContentLength: ex.Body.Size()}
	rec.Header = head(warc.Resource, fetch.Hop{URL: ex.FinalURL, RemoteAddr: ex.RemoteAddr}, date)
	rec.Header = append(rec.Header[:len(rec.Header)-1], warc.Field{Name: "WARC-Protocol", Value: "ftp"},
		warc.Field{Name: "Content-Type", Value: "application/octet-stream"})
	taped.Record, taped.Date = rec.ID(), date
	return rec
}

// Describe adds a metadata record about the response that a fetch recorded: the visit's triples in Turtle.
func (t *Tape) Describe(url string, about fetch.Taped, turtle []byte) {
	if about.Record == "" {
		return
	}
	t.append(url, &warc.Record{
		Header: warc.Header{
			{Name: "WARC-Type", Value: warc.Metadata}, {Name: "WARC-Record-ID", Value: warc.NewID()},
			{Name: "WARC-Date", Value: warc.FormatDate(about.Date)},
			{Name: "WARC-Target-URI", Value: url}, {Name: "WARC-Concurrent-To", Value: about.Record},
			{Name: "Content-Type", Value: "text/turtle"},
		},
		Block: bytes.NewReader(turtle), ContentLength: int64(len(turtle)),
	})
}

// UUID returns the bytes of a record id that warc.FormatID made, and zeros for any other.
func UUID(id string) (b [16]byte) {
	raw, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(id, "<urn:uuid:"), ">"), "-", ""))
	if err == nil && len(raw) == len(b) {
		copy(b[:], raw)
	}
	return b
}

// RecordID returns the record id with these bytes.
func RecordID(b [16]byte) string { return warc.FormatID(b) }
