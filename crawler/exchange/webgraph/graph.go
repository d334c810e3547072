// Reads the links between web pages from WARC files with pages and from WAT files, such as those of
// Common Crawl.

package webgraph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"

	"odarchive/crawler/exchange/cdxj"
	"odarchive/crawler/exchange/warc"
)

// Level is the kind of the nodes of a graph.
type Level string

// The levels: pages, names of hosts, and registered domains, by the public suffix list.
const (
	URL    Level = "url"
	Host   Level = "host"
	Domain Level = "domain"
)

// ParseLevel returns the level of a name.
func ParseLevel(name string) (Level, error) {
	switch l := Level(name); l {
	case URL, Host, Domain:
		return l, nil
	}
	return "", fmt.Errorf("%q: expected url, host or domain", name)
}

// node returns the node of an address, "" if it has none.
func (l Level) node(address string) string {
	if l == URL {
		return oneWord(address)
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if l == Host || strings.Contains(host, ":") {
		return oneWord(host)
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil { // a suffix itself, or an address
		return oneWord(host)
	}
	return domain
}

// maxEnvelope bounds a record of a WAT file, in bytes.
const maxEnvelope = 64 << 20

// Edges reads a file and calls emit with the links of each page, from the page to the target, in the order of the file.
// It leaves out links of a host or domain to itself, and repeated links of one page between the same nodes. It calls
// fault for each fault of the file and skips damaged records. An error means that the file could not be read, or comes
// from emit.
func Edges(r io.Reader, level Level, emit func(from, to string) error, fault func(warc.Fault)) error {
	in := warc.NewReader(r, warc.Limits{})
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if f, ok := errors.AsType[*warc.Fault](err); ok {
			fault(*f)
			continue
		}
		if err != nil {
			return err
		}
		page, targets := links(rec)
		if f, ok := errors.AsType[*warc.Fault](in.Finish()); ok {
			fault(*f)
			continue
		}
		from := level.node(page)
		seen := map[string]bool{}
		for _, target := range targets {
			to := level.node(target)
			if from == "" || to == "" || seen[to] || level != URL && from == to {
				continue
			}
			seen[to] = true
			if err := emit(from, to); err != nil {
				return err
			}
		}
	}
}

// links returns the address of the page that a record has or describes, and the targets of its links. It returns
// nothing for other records and for pages that cannot be decoded.
func links(rec *warc.Record) (page string, targets []string) {
	switch rec.Type {
	case warc.Response, warc.Resource:
		c, m, body, err := cdxj.Describe(rec, "", true)
		if err != nil || !isHTML(c.MIME) || m != nil && c.Status/100 != 2 {
			return "", nil
		}
		contentType := rec.Header.Get("Content-Type")
		if m != nil {
			contentType = m.Header.Get("Content-Type")
			if body, err = warc.DecodePayload(m, body); err != nil {
				return "", nil
			}
		}
		p, err := ParsePage(body, contentType)
		if err != nil {
			return "", nil
		}
		return c.URL, Targets(c.URL, p.Base, p.Links)
	case warc.Metadata:
		if t, _, _ := strings.Cut(rec.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(t), "application/json") {
			return "", nil
		}
		return envelopeLinks(rec)
	}
	return "", nil
}

func isHTML(mediaType string) bool {
	return mediaType == "text/html" || mediaType == "application/xhtml+xml"
}

// envelope is the part of a WAT record that has the links.
type envelope struct {
	Envelope struct {
		Header struct {
			URI string `json:"WARC-Target-URI"`
		} `json:"WARC-Header-Metadata"`
		Payload struct {
			HTTP struct {
				HTML struct {
					Head struct {
						Base string
					}
					Links []Link
				} `json:"HTML-Metadata"`
			} `json:"HTTP-Response-Metadata"`
		} `json:"Payload-Metadata"`
	}
}

func envelopeLinks(rec *warc.Record) (page string, targets []string) {
	raw, err := io.ReadAll(io.LimitReader(rec.Block, maxEnvelope))
	if err != nil || !bytes.Contains(raw, []byte(`"Envelope"`)) {
		return "", nil
	}
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return "", nil
	}
	page = e.Envelope.Header.URI
	if page == "" {
		page = rec.URI()
	}
	return page, Targets(page, e.Envelope.Payload.HTTP.HTML.Head.Base, e.Envelope.Payload.HTTP.HTML.Links)
}
