// Package cdxj makes and reads capture indexes of WARC files, and selects records.
//
// An index is a text file in the format CDXJ. It has one line for each response, revisit and resource record: the SURT
// key of the address, the time as 14 digits, and a JSON object with the place of the record. Lines are sorted, so that
// addresses are found by binary search. A line that begins with "!meta" describes the indexed file.
package cdxj

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/exchange/warc"
)

// Timestamp is the layout of the time of a capture, in UTC.
const Timestamp = "20060102150405"

// Span is the place of a record in its file, or that of the gzip member with the record.
type Span struct{ Offset, Length int64 }

// Capture is a line of an index. Describe also returns Captures of other types of records, for Filter.
type Capture struct {
	Key    string // SURT key of URL
	At     time.Time
	URL    string
	Type   string // of the record: warc.Response, warc.Revisit, warc.Resource
	MIME   string // without parameters, in lower case; "warc/revisit" for revisits
	Status int    // of the HTTP response, 0 for none
	Digest string // WARC-Payload-Digest as the record states it
	Span
	File string // path of the file
	// With has the places of records of other types, such as requests, that belong to the capture.
	With []Span
}

// object is the JSON object of a line. Numbers are strings, as in the indexes of other programs.
type object struct {
	URL      string `json:"url"`
	MIME     string `json:"mime,omitempty"`
	Status   figure `json:"status,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Length   figure `json:"length"`
	Offset   figure `json:"offset"`
	Filename string `json:"filename"`
	Type     string `json:"type,omitempty"` // for resource records only
	With     string `json:"with,omitempty"` // "OFFSET,LENGTH OFFSET,LENGTH"
}

// figure is a number in JSON, which most indexes write as a string, and some as a number.
type figure string

// UnmarshalJSON implements json.Unmarshaler.
func (f *figure) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(f))
	}
	if string(b) != "null" {
		*f = figure(b)
	}
	return nil
}

// Key returns the key of an address in indexes.
func Key(url string) string {
	if key, err := address.CDX(url); err == nil {
		return key
	}
	return strings.Join(strings.Fields(strings.ToLower(url)), "%20")
}

// Line returns the line of a capture, without its end.
func (c Capture) Line() string {
	o := object{URL: c.URL, MIME: c.MIME, Digest: c.Digest, Length: figure(strconv.FormatInt(c.Length, 10)),
		Offset: figure(strconv.FormatInt(c.Offset, 10)), Filename: c.File}
	if c.Status > 0 {
		o.Status = figure(strconv.Itoa(c.Status))
	}
	if c.Type == warc.Resource {
		o.Type = c.Type
	}
	var with []string
	for _, s := range c.With {
		with = append(with, fmt.Sprintf("%d,%d", s.Offset, s.Length))
	}
	o.With = strings.Join(with, " ")
	b, err := json.Marshal(o)
	if err != nil { // strings always marshal
		panic(err)
	}
	return c.Key + " " + c.At.UTC().Format(Timestamp) + " " + string(b)
}

// errLine is the error about a line that is not in the format CDXJ.
var errLine = errors.New("it is not a line of CDXJ")

// ParseLine parses a line.
func ParseLine(line string) (c Capture, err error) {
	key, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	stamp, text, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || len(stamp) < 14 {
		return c, errLine
	}
	var o object
	if c.At, err = time.Parse(Timestamp, stamp[:14]); err != nil {
		return c, errLine
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return c, fmt.Errorf("%w: %w", errLine, err)
	}
	c.Key, c.URL, c.MIME, c.Digest, c.File = key, o.URL, o.MIME, o.Digest, o.Filename
	c.Status, _ = strconv.Atoi(string(o.Status)) // revisits and resources have none
	switch {
	case o.Type == warc.Resource:
		c.Type = o.Type
	case o.MIME == revisitMIME:
		c.Type = warc.Revisit
	default:
		c.Type = warc.Response
	}
	if c.Span, err = parseSpan(string(o.Offset + "," + o.Length)); err != nil {
		return c, err
	}
	for _, s := range strings.Fields(o.With) {
		span, err := parseSpan(s)
		if err != nil {
			return c, err
		}
		c.With = append(c.With, span)
	}
	return c, nil
}

func parseSpan(s string) (p Span, err error) {
	offset, length, _ := strings.Cut(s, ",")
	if p.Offset, err = strconv.ParseInt(offset, 10, 64); err == nil {
		p.Length, err = strconv.ParseInt(length, 10, 64)
	}
	if err != nil || p.Offset < 0 || p.Length < 0 {
		return p, fmt.Errorf("%w: %.40q is not a place in a file", errLine, s)
	}
	return p, nil
}

const revisitMIME = "warc/revisit"

// isCapture reports whether an index lists records of a type.
func isCapture(recordType string) bool {
	return recordType == warc.Response || recordType == warc.Revisit || recordType == warc.Resource
}

// Describe returns the Capture of a record of any type. If withHTTP is set and the block is an HTTP message, Describe
// reads its head for the status and the media type. m is that head, otherwise nil; body is the part of the block that
// was not read.
func Describe(rec *warc.Record, file string, withHTTP bool) (c Capture, m *warc.Message, body io.Reader, err error) {
	c = Capture{URL: rec.URI(), Type: rec.Type, Digest: rec.Header.Get("WARC-Payload-Digest"), File: file, Span: Span{Offset: rec.Offset}}
	if c.At, err = rec.Date(); err != nil {
		c.At = time.Time{}
	}
	body = rec.Block
	contentType := rec.Header.Get("Content-Type")
	c.MIME = mediaType(contentType)
	if c.MIME == "application/http" && rec.Type != warc.Request {
		c.MIME = ""
		if withHTTP {
			var rest io.Reader
			if m, rest, err = warc.ReadMessage(rec.Block); err != nil {
				return c, nil, body, err
			}
			body = rest
			c.Status, c.MIME = m.Status(), mediaType(m.Header.Get("Content-Type"))
		}
	}
	if rec.Type == warc.Revisit {
		c.MIME = revisitMIME
	}
	return c, m, body, nil
}

// mediaType returns a media type without parameters, in lower case.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	s = strings.ToLower(strings.TrimSpace(s))
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return ""
	}
	return s
}

// companionWindow is the number of captures, before and after a record of another type, among which the capture of that
// record is looked for.
const companionWindow = 64

// Make reads a file and calls emit with its captures, in the order of the file. It skips damaged records and calls
// fault for each fault. unlisted is the number of records of other types that have an address but belong to no capture.
// An error means that the file could not be read, or comes from emit.
func Make(name string, r io.Reader, emit func(Capture) error, fault func(warc.Fault)) (unlisted int, err error) {
	in := warc.NewReader(r, warc.Limits{})
	x := &maker{emit: emit}
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			return x.end()
		}
		if f, ok := errors.AsType[*warc.Fault](err); ok {
			fault(*f)
			continue
		}
		if err != nil {
			return 0, err
		}
		capture := isCapture(rec.Type)
		c, _, _, err := Describe(rec, name, capture)
		if f, ok := errors.AsType[*warc.Fault](in.Finish()); ok {
			fault(*f)
			if !in.Whole() {
				continue
			}
		}
		if _, ok := errors.AsType[*warc.Fault](err); !ok && err != nil {
			fault(warc.Fault{Offset: rec.Offset, Why: err.Error()}) // the block is not an HTTP message
		}
		if c.URL == "" {
			continue
		}
		c.Length = rec.Length
		if err := x.add(c, capture); err != nil {
			return 0, err
		}
	}
}

// maker delays the last captures until the records that belong to them are known.
type maker struct {
	emit     func(Capture) error
	held     []Capture // the last captures, which were not emitted yet
	loose    []Capture // the last records of other types whose capture was not found yet
	unlisted int
}

// add adds a record. capture reports whether it is one of the types that an index lists.
func (x *maker) add(c Capture, capture bool) error {
	if !capture {
		for i := len(x.held) - 1; i >= 0; i-- {
			if x.held[i].URL == c.URL {
				x.held[i].With = append(x.held[i].With, c.Span)
				return nil
			}
		}
		x.loose = append(x.loose, c)
		if len(x.loose) > companionWindow {
			x.loose, x.unlisted = x.loose[1:], x.unlisted+1
		}
		return nil
	}
	c.Key = Key(c.URL)
	x.loose = slices.DeleteFunc(x.loose, func(other Capture) bool {
		if other.URL == c.URL {
			c.With = append(c.With, other.Span)
			return true
		}
		return false
	})
	x.held = append(x.held, c)
	if len(x.held) <= companionWindow {
		return nil
	}
	first := x.held[0]
	x.held = slices.Delete(x.held, 0, 1)
	return x.emit(first)
}

// end emits the remaining captures, and returns the number of records that belong to no capture.
func (x *maker) end() (unlisted int, err error) {
	for _, c := range x.held {
		if err := x.emit(c); err != nil {
			return 0, err
		}
	}
	return x.unlisted + len(x.loose), nil
}
