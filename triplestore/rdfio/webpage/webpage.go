// Package webpage finds RDF in HTML: JSON-LD in script elements, Microdata, RDFa 1.1, and Microformats 2.
//
// A page is held whole, within rdfio.Limits.Document, and parsed as browsers do, so malformed markup is no error. The
// statements of each kind are kept apart, since pages often make the same statements in two of them. Nothing outside
// the page is fetched: contexts of JSON-LD come from Options.Context, and vocabularies of RDFa are not expanded.
//
// No standard says how Microformats are RDF. Here an item is a blank node, for its url need not be its own. Its classes
// are types in http://microformats.org/profile/, where the classic ones have their profiles (profile/h-entry). Its
// properties are in the namespace of the first of them (profile/h-entry#published), and so is what relates it to items
// in it that are no property's value (profile/h-feed#children). Values of u- are resources if they are links, those of
// dt- dates and times if they are valid, others strings in the language of their element; of e- only the text is kept.
// Only the roots of known vocabularies count, since h-full or h-4 are heights in style sheets. Classic Microformats
// (vcard, hentry) are not read.
package webpage

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// Options configure Read. Base is required, the rest may be zero.
type Options struct {
	Base        string                           // absolute IRI of the page
	ContentType string                           // as served; its charset overrides that of the page
	BlankPrefix string                           // of the labels of blank nodes, as in rdfio.Options
	Limits      rdfio.Limits                     // Document bounds the bytes of the page
	Context     func(iri string) ([]byte, error) // returns contexts of JSON-LD, as in rdfio.Options
}

// Page is the RDF found in one page.
type Page struct {
	Base         string     // that of <base>, or Options.Base
	Root         *html.Node // the parsed page; nil if it is empty
	JSONLD       []term.Quad
	Microdata    []term.Quad
	RDFa         []term.Quad
	Microformats []term.Quad
	Faults       []error // one for each script element with invalid JSON-LD
}

// All returns the statements of all kinds.
func (p *Page) All() []term.Quad {
	all := make([]term.Quad, 0, len(p.JSONLD)+len(p.Microdata)+len(p.RDFa)+len(p.Microformats))
	return append(append(append(append(all, p.JSONLD...), p.Microdata...), p.RDFa...), p.Microformats...)
}

const (
	defaultDocument = 64 << 20
	defaultDepth    = 1000
	maxTerms        = 256 << 20 // bytes of all terms; nested elements can repeat their text
)

// Read finds the RDF in a page. The error wraps rdfio.ErrLimit if the page is too large or too deep.
func Read(r io.Reader, o Options) (*Page, error) {
	if o.Limits.Document <= 0 {
		o.Limits.Document = defaultDocument
	}
	if o.Limits.Depth <= 0 {
		o.Limits.Depth = defaultDepth
	}
	base, err := iri.NewBase(o.Base)
	if err != nil || o.Base == "" {
		return nil, fmt.Errorf("webpage: base %q: not an absolute IRI", o.Base)
	}
	raw, err := io.ReadAll(io.LimitReader(r, o.Limits.Document+1))
	if err != nil {
		return nil, fmt.Errorf("webpage: %w", err)
	}
	if int64(len(raw)) > o.Limits.Document {
		return nil, fmt.Errorf("webpage: %w: a page of more than %d bytes", rdfio.ErrLimit, o.Limits.Document)
	}
	if len(raw) == 0 {
		return &Page{Base: o.Base}, nil
	}
	text := encodingOf(raw, o.ContentType).NewDecoder().Reader(bytes.NewReader(raw))
	root, err := html.Parse(transform.NewReader(text, runes.ReplaceIllFormed()))
	if err != nil {
		return nil, fmt.Errorf("webpage: %w", err)
	}
	d := &document{o: o, root: root, base: base, ids: map[string]*html.Node{}}
	if err := d.survey(root, 0); err != nil {
		return nil, err
	}
	page := &Page{Base: d.base.String(), Root: root}
	d.scripts(page)
	if page.Microdata, err = d.microdata(); err != nil {
		return nil, err
	}
	if page.RDFa, err = d.rdfa(); err != nil {
		return nil, err
	}
	if page.Microformats, err = d.microformats(); err != nil {
		return nil, err
	}
	return page, nil
}

// document is a parsed page, with the elements that matter.
type document struct {
	o    Options
	root *html.Node
	base iri.Base
	ids  map[string]*html.Node // elements by id

	json       []*html.Node // JSON-LD scripts
	items      []*html.Node // top-level items of Microdata
	hasRDFa    bool         // some element has an attribute of RDFa
	hasFormats bool         // some element is an item of Microformats

	hasBase bool // a <base> was found
	blanks  int
	made    int // bytes of terms so far
	out     []term.Quad
}

// survey walks the page and records the elements that matter.
func (d *document) survey(n *html.Node, depth int) error {
	if depth > d.o.Limits.Depth {
		return d.tooDeep()
	}
	if n.Type == html.ElementNode {
		d.element(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if err := d.survey(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// element records an element for survey.
func (d *document) element(n *html.Node) {
	scope, prop := false, false
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			if d.ids[a.Val] == nil {
				d.ids[a.Val] = n
			}
		case "class":
			d.hasFormats = d.hasFormats || isRoot(n)
		case "itemscope":
			scope = true
		case "itemprop":
			prop = true
		case "property", "typeof", "about", "rel", "rev", "vocab", "resource":
			d.hasRDFa = true
		}
	}
	if scope && !prop {
		d.items = append(d.items, n)
	}
	switch n.Data {
	case "base":
		if href, ok := attr(n, "href"); ok && !d.hasBase {
			d.hasBase = true
			if s, err := d.base.Resolve(strings.TrimSpace(href)); err == nil {
				s, _, _ = strings.Cut(s, "#")
				if b, err := iri.NewBase(s); err == nil {
					d.base = b
				}
			}
		}
	case "script":
		if kind, _ := attr(n, "type"); strings.EqualFold(mediaType(kind), "application/ld+json") {
			d.json = append(d.json, n)
		}
	}
}

func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.TrimSpace(s)
}

// scripts reads the JSON-LD scripts. Each is a document of its own, with its own blank nodes.
func (d *document) scripts(page *Page) {
	for i, n := range d.json {
		text := ""
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			text += c.Data
		}
		text = strings.TrimSpace(text)
		text = strings.TrimSuffix(strings.TrimPrefix(text, "<!--"), "-->") // once hid scripts from old browsers
		r := rdfio.NewReader(strings.NewReader(text), rdfio.JSONLD(),
			rdfio.Options{File: "script " + strconv.Itoa(i+1), Base: d.base.String(),
				BlankPrefix: d.o.BlankPrefix + "j" + strconv.Itoa(i+1) + ".", Limits: d.o.Limits, Context: d.o.Context})
		for q, err := range r.All() {
			if err != nil {
				page.Faults = append(page.Faults, err)
				break
			}
			page.JSONLD = append(page.JSONLD, q)
		}
	}
}

// emit adds a statement, unless one of its terms is missing.
func (d *document) emit(s, p, o term.Key) {
	if s != "" && p != "" && o != "" {
		d.out = append(d.out, term.Quad{S: s, P: p, O: o})
	}
}

// fresh returns a new blank node. kind keeps those of Microdata, RDFa and Microformats apart from labelled ones.
func (d *document) fresh(kind string) term.Key {
	d.blanks++
	return term.Blank(d.o.BlankPrefix + kind + strconv.Itoa(d.blanks))
}

// resource resolves a reference. It returns "" if the result is not a valid IRI.
func (d *document) resource(ref string) term.Key {
	ref = strings.TrimSpace(ref)
	if iri.CheckChars(ref) != nil {
		ref = iri.Escape(ref)
	}
	abs, err := d.base.Resolve(ref)
	if err != nil || iri.Check(abs) != nil {
		return ""
	}
	return d.key(term.IRI(abs))
}

// key counts the bytes of k and returns it.
func (d *document) key(k term.Key) term.Key {
	d.made += len(k)
	return k
}

// checkSize returns an error if the terms have become too large.
func (d *document) checkSize() error {
	if d.made > maxTerms {
		return fmt.Errorf("webpage: %w: terms of more than %d bytes", rdfio.ErrLimit, maxTerms)
	}
	return nil
}

// literal returns a string with a language, or without one if lang is malformed.
func (d *document) literal(text, lang string) term.Key {
	if !wellFormedTag(lang) {
		lang = ""
	}
	return d.key(term.Lang(text, lang))
}

// wellFormedTag reports whether tag is a language tag as in RFC 4646.
func wellFormedTag(tag string) bool {
	return tag != "" && terminals.LangTag(tag) == len(tag) &&
		!slices.ContainsFunc(strings.Split(tag, "-"), func(sub string) bool { return len(sub) > 8 })
}

// attr returns the value of an attribute, and whether n has it.
func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

// textOf returns the text of an element and its descendants.
func (d *document) textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
