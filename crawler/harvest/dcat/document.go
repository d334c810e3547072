package dcat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/rdfio/webpage"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

const (
	maxDocument = 192 << 20
	maxContext  = 1 << 20
	accepted    = "text/turtle, application/n-triples;q=0.9, application/rdf+xml;q=0.9, application/ld+json;q=0.8, " +
		"application/trig;q=0.8, application/n-quads;q=0.8, text/html;q=0.1, */*;q=0.1"
)

// errNoAnswer marks the errors of hosts that cannot be reached. It has no text of its own.
var errNoAnswer = errors.New("")

// reader requests and reads documents.
type reader struct {
	http     harvest.Doer
	contexts map[string][]byte // of JSON-LD, by IRI; nil if unavailable
	missing  string            // last unavailable one
}

// document is a document that was read.
type document struct {
	url   string
	quads []term.Quad
	link  string // Link: rel="next"
	tag   string // version
	keep  bool   // the host says that it never changes
	fault error  // first statement that was skipped as unreadable
	ends  bool   // so was the last one: the document may be cut off
}

// get requests a document and reads it as far as possible. unless and tries are as in harvest.Request. The error wraps
// errNoAnswer if the host does not answer.
func (r *reader) get(ctx context.Context, address, unless string, tries int) (document, error) {
	answer, err := harvest.Ask(ctx, r.http, harvest.Request{URL: address, Accept: accepted, Max: maxDocument, Unless: unless, Tries: tries})
	var status *harvest.StatusError
	switch {
	case err == nil:
	case errors.As(err, &status) || errors.Is(err, harvest.ErrTooLong) || errors.Is(err, harvest.ErrNotModified):
		return document{}, err
	default:
		return document{}, fmt.Errorf("%w%w", errNoAnswer, err)
	}
	doc := document{url: answer.URL, link: nextLink(answer), tag: harvest.Tag(answer.Header),
		keep: strings.Contains(strings.Join(answer.Header.Values("Cache-Control"), ","), "immutable")}
	err = r.read(ctx, answer, &doc)
	return doc, err
}

// read reads the statements of an answer. Its error is one sentence.
func (r *reader) read(ctx context.Context, answer harvest.Answer, into *document) error {
	declared, body := answer.Header.Get("Content-Type"), answer.Body
	if harvest.LooksLikeHTML(body) && !strings.Contains(declared, "rdf+xml") {
		page, err := webpage.Read(bytes.NewReader(body), webpage.Options{Base: answer.URL, ContentType: "text/html; charset=utf-8"})
		if err == nil {
			into.quads = page.All()
		}
		if len(into.quads) > 0 {
			return nil
		}
		return fmt.Errorf("%s answered with a web page, expected a DCAT catalog in RDF", answer.URL)
	}
	if bytes.HasPrefix(bytes.TrimSpace(body[:min(len(body), 200)]), []byte("<?xml")) {
		body = asUTF8(body)
	}
	path := answer.URL
	if u, err := url.Parse(answer.URL); err == nil {
		path = u.Path
	}
	syntax, ok := rdfio.Detect(body[:min(len(body), 64<<10)], path, declared)
	if !ok {
		return fmt.Errorf("%s answered with %s that is not RDF%s", answer.URL, kindOf(declared), otherKind(body))
	}
	rd := rdfio.NewReader(bytes.NewReader(body), syntax, rdfio.Options{Base: answer.URL, RDF12: true, MendIRIs: true,
		Limits: rdfio.Limits{Document: maxDocument}, Context: func(iri string) ([]byte, error) { return r.context(ctx, iri) }})
	for {
		q, err := rd.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && rd.Skip():
			if into.ends = true; into.fault == nil { // the statements after a bad one are read
				into.fault = fmt.Errorf("%s: %w", answer.URL, err)
			}
			continue
		case err != nil && r.missing != "":
			return fmt.Errorf("%s is JSON-LD whose context %s is unavailable%s", answer.URL, r.missing, otherKind(body))
		case err != nil:
			return fmt.Errorf("%s is not valid %s: %w", answer.URL, syntax.Name, err)
		}
		into.quads, into.ends = append(into.quads, q), false
	}
}

// otherKind names the harvester for documents that only look like DCAT.
func otherKind(body []byte) string {
	if bytes.Contains(body, []byte("project-open-data.cio.gov")) {
		return "; it is a data.json: harvest it as datajson"
	}
	for _, sign := range []string{"opengis.net/cat/csw", "MD_Metadata"} {
		if bytes.Contains(body[:min(len(body), 4<<10)], []byte(sign)) {
			return "; it is of a catalog of geographic data: harvest it as csw"
		}
	}
	return ""
}

// asUTF8 removes the encoding from an XML declaration, since the body has been converted to UTF-8.
func asUTF8(body []byte) []byte {
	start := bytes.Index(body, []byte("<?xml"))
	end := bytes.Index(body, []byte("?>"))
	if start < 0 || end < start || end > 400 {
		return body
	}
	return append([]byte(`<?xml version="1.0"`), body[end:]...)
}

// maxContexts bounds the contexts of JSON-LD that are remembered, each of at most maxContext bytes.
const maxContexts = 64

// context returns a context of JSON-LD. It requests each one once, unless a catalog has very many.
func (r *reader) context(ctx context.Context, iri string) ([]byte, error) {
	body, known := r.contexts[iri]
	if !known {
		if len(r.contexts) >= maxContexts {
			clear(r.contexts)
		}
		answer, err := harvest.Ask(ctx, r.http,
			harvest.Request{URL: iri, Accept: "application/ld+json, application/json;q=0.9", Max: maxContext, Tries: 2})
		if err == nil && !harvest.LooksLikeHTML(answer.Body) {
			body = answer.Body
		}
		r.contexts[iri] = body
	}
	if body == nil {
		r.missing = iri
		return nil, fmt.Errorf("the context %s is unavailable", iri)
	}
	return body, nil
}

func kindOf(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	if kind = strings.TrimSpace(kind); kind == "" {
		return "something without a media type"
	}
	return kind
}

// nextLink returns the next page in the Link header (RFC 8288), as used by LDP paging.
func nextLink(answer harvest.Answer) string {
	for _, header := range answer.Header.Values("Link") {
		for _, link := range strings.Split(header, ",") {
			target, params, ok := strings.Cut(strings.TrimSpace(link), ">")
			if !ok || !strings.HasPrefix(target, "<") {
				continue
			}
			for _, p := range strings.Split(params, ";") {
				name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
				if strings.EqualFold(name, "rel") && slices.Contains(strings.Fields(strings.ToLower(strings.Trim(value, `"`))), "next") {
					return resolve(answer.URL, target[1:])
				}
			}
		}
	}
	return ""
}

func resolve(base, reference string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ""
	}
	u, err := b.Parse(strings.TrimSpace(reference))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	u.Fragment = ""
	return u.String()
}

// next returns the address of the next page, "" for none: that of the document itself, or else that of the first page
// described.
func (d document) next() string {
	if d.link != "" {
		return d.link
	}
	var nexts []string
	own := ""
	for _, q := range d.quads {
		switch q.P.Value() {
		case vocab.HydraNext, vocab.HydraNextPage, vocab.LDPNextPage, vocab.RDFNS + "nextPage":
		default:
			continue
		}
		target := resolve(d.url, q.O.Value())
		if target == "" || target == d.url || q.O == term.IRI(vocab.RDFNS+"nil") || q.O.Kind() == term.KindBlank {
			continue
		}
		nexts = append(nexts, target)
		if resolve(d.url, q.S.Value()) == d.url {
			own = target
		}
	}
	if own != "" || len(nexts) == 0 {
		return own
	}
	return nexts[0]
}
