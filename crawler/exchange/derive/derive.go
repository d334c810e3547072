// Package derive makes the two kinds of files that Common Crawl derives from WARC files: WAT, which describes each
// response as JSON, and WET, which has the text of each page.
package derive

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"odarchive/crawler/exchange/cdxj"
	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/exchange/webgraph"
)

// Kind makes the derived record of a response. If it returns false, the response has none.
type Kind func(name string, rec *warc.Record, m *warc.Message, c cdxj.Capture, page *webgraph.Page) (*warc.Record, bool)

// Make reads a file and writes the records that kind makes of its responses. It calls fault for each fault and skips
// damaged records. It returns the number of records written.
func Make(name string, r io.Reader, w *warc.Writer, kind Kind, fault func(warc.Fault)) (n int, err error) {
	in := warc.NewReader(r, warc.Limits{})
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if f, ok := errors.AsType[*warc.Fault](err); ok {
			fault(*f)
			continue
		}
		if err != nil {
			return n, err
		}
		c, m, body, err := cdxj.Describe(rec, name, true)
		var page *webgraph.Page
		if err == nil && m != nil && rec.Type == warc.Response && (c.MIME == "text/html" || c.MIME == "application/xhtml+xml") {
			if plain, err := warc.DecodePayload(m, body); err == nil {
				if p, err := webgraph.ParsePage(plain, m.Header.Get("Content-Type")); err == nil {
					page = &p
				}
			}
		}
		if f, ok := errors.AsType[*warc.Fault](in.Finish()); ok {
			fault(*f)
			continue
		}
		if err != nil || m == nil || rec.Type != warc.Response || c.At.IsZero() {
			continue
		}
		c.Length = rec.Length
		made, ok := kind(name, rec, m, c, page)
		if !ok {
			continue
		}
		if err := w.Write(made); err != nil {
			return n, err
		}
		n++
	}
}

// Info returns the warcinfo record of a derived file.
func Info(what, date string) *warc.Record {
	block := "software: odarchive\r\nformat: WARC File Format 1.1\r\ndescription: " + what + "\r\n"
	return record(warc.Warcinfo, "info "+what+date, "", date, warc.WarcFields, []byte(block))
}

// record returns a record. Its id is a hash of name, so that the same source always gives the same file.
func record(kind, name, uri, date, contentType string, block []byte) *warc.Record {
	sum := sha256.Sum256([]byte(name))
	rec := &warc.Record{Type: kind, Block: bytes.NewReader(block)}
	rec.Header.Add("WARC-Type", kind)
	rec.Header.Add("WARC-Record-ID", warc.FormatID([16]byte(sum[:16])))
	rec.Header.Add("WARC-Date", date)
	if uri != "" {
		rec.Header.Add("WARC-Target-URI", uri)
	}
	rec.Header.Add("Content-Type", contentType)
	return rec
}

// WET is the Kind that makes a conversion record with the text of a page.
func WET(_ string, rec *warc.Record, _ *warc.Message, c cdxj.Capture, page *webgraph.Page) (*warc.Record, bool) {
	if page == nil || c.Status/100 != 2 {
		return nil, false
	}
	text := page.Text
	if page.Title != "" {
		text = page.Title + "\n" + text
	}
	made := record(warc.Conversion, "wet "+rec.ID(), c.URL, warc.FormatDate(c.At), "text/plain", []byte(text))
	if id := rec.ID(); id != "" {
		made.Header.Add("WARC-Refers-To", id)
	}
	return made, true
}

// WAT is the Kind that makes a metadata record about a response, with the fields of Common Crawl's files.
func WAT(name string, rec *warc.Record, m *warc.Message, c cdxj.Capture, page *webgraph.Page) (*warc.Record, bool) {
	header := map[string]string{}
	for _, f := range rec.Header {
		header[f.Name] = f.Value
	}
	headers := map[string]string{}
	for _, f := range m.Header {
		headers[f.Name] = f.Value
	}
	version, rest, _ := strings.Cut(m.StartLine, " ")
	status, reason, _ := strings.Cut(rest, " ")
	type object = map[string]any
	response := object{
		"Response-Message": object{"Version": version, "Status": status, "Reason": reason},
		"Headers":          headers, "Headers-Length": strconv.Itoa(len(m.Head)),
		"Entity-Length": strconv.FormatInt(max(rec.ContentLength-int64(len(m.Head)), 0), 10), "Entity-Digest": c.Digest,
	}
	if page != nil {
		head := object{"Title": page.Title}
		if page.Base != "" {
			head["Base"] = page.Base
		}
		if len(page.Metas) > 0 {
			head["Metas"] = page.Metas
		}
		if len(page.Head) > 0 {
			head["Link"] = page.Head
		}
		response["HTML-Metadata"] = object{"Head": head, "Links": append([]webgraph.Link{}, page.Links...)}
	}
	block, err := json.Marshal(object{
		"Container": object{"Filename": name, "Compressed": strings.HasSuffix(name, ".gz"), "Offset": strconv.FormatInt(c.Offset, 10),
			"Gzip-Metadata": object{"Deflate-Length": strconv.FormatInt(c.Length, 10)}},
		"Envelope": object{
			"Format": "WARC", "WARC-Header-Length": strconv.Itoa(len(rec.Head)), "WARC-Header-Metadata": header,
			"Actual-Content-Length": strconv.FormatInt(rec.ContentLength, 10),
			"Payload-Metadata":      object{"Actual-Content-Type": rec.Header.Get("Content-Type"), "HTTP-Response-Metadata": response},
		},
	})
	if err != nil {
		return nil, false
	}
	made := record(warc.Metadata, "wat "+rec.ID()+strconv.FormatInt(c.Offset, 10), c.URL, warc.FormatDate(c.At), "application/json", block)
	if id := rec.ID(); id != "" {
		made.Header.Add("WARC-Refers-To", id)
	}
	return made, true
}
