package captures

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/cdxj"
	"odarchive/crawler/exchange/warc"
)

// Content is the content of a capture.
type Content struct {
	Status   int // of the HTTP response; 0 without one
	Header   http.Header
	Exchange *catalog.Exchange // how the capture was fetched; nil if the file does not tell
	Sent     int64             // bytes of the body with its content codings; -1 if unknown
	Body     io.Reader         // without codings; its length is not bounded
}

// Open returns the content of a capture. file must stay open while the body is read.
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
	body, coded := warc.CodedPayload(m, body)
	if !m.Chunked() && !isOwn(rec) && (coded || m.Header.Get("Content-Encoding") == "") {
		content.Sent = max(rec.ContentLength, c.length) - int64(len(m.Head))
	}
	if content.Body, err = warc.DecodePayload(m, body); err != nil {
		return content, err
	}
	if c.head >= 0 {
		if m, _, rec, err := message(file, size, c.head); err == nil && m != nil {
			content.Header, content.Exchange = header(m, isOwn(rec)), c.exchange(rec, m)
		}
	}
	return content, nil
}

// message returns the record at an offset, the head of the HTTP message in it, or nil, and the rest of its block. The
// block is continued by the blocks of the records at segments.
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

// blocks reads the blocks of the records at some offsets, one after the other.
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

// isOwn reports whether a record was exported by this program.
func isOwn(rec *warc.Record) bool { return rec.Header.Get(fieldVersion) != "" }

// exchange returns the exchange of a capture from the record that has the HTTP head, if there is one.
func (c Capture) exchange(rec *warc.Record, m *warc.Message) *catalog.Exchange {
	return warc.ExchangeHeads(rec, m, isOwn(rec), cmp.Or(c.FinalURL, c.URL), c.hops)
}

// header returns the fields of a response as the crawler would have stored them. It removes the prefix X-Orig- from
// fields about codings and, if this program exported the record, from all fields.
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
