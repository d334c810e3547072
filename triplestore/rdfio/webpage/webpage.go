// Package webpage finds RDF in HTML: JSON-LD in script elements, Microdata, and RDFa 1.1.
//
// A page is held whole, within rdfio.Limits.Document, and parsed as browsers do, so that broken markup is no error. What
// is found is told apart by its kind, because pages often say the same thing in two of them. Nothing outside of the page
// is asked for: contexts of JSON-LD come from Options.Context or not at all, profiles and vocabularies of RDFa are not
// expanded.
package webpage

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// Options of Read; Base is needed, the rest may be zero.
type Options struct {
	Base        string                           // the page's own absolute IRI
	ContentType string                           // as it was served; its charset counts before what the page says
	BlankPrefix string                           // before the label of every blank node, as in rdfio.Options
	Limits      rdfio.Limits                     // Document is the most bytes of a page
	Context     func(iri string) ([]byte, error) // gives contexts of JSON-LD, as in rdfio.Options
}

// Page is the RDF found in one page.
type Page struct {
	Base      string // the page's base, where it gave one
	JSONLD    []term.Quad
	Microdata []term.Quad
	RDFa      []term.Quad
	Faults    []error // script elements that hold no JSON-LD; the others are read all the same
}

// All is everything found, one kind after the other.
func (p *Page) All() []term.Quad {
	all := make([]term.Quad, 0, len(p.JSONLD)+len(p.Microdata)+len(p.RDFa))
	return append(append(append(all, p.JSONLD...), p.Microdata...), p.RDFa...)
}

const (
	defaultDocument = 64 << 20
	defaultDepth    = 1000
	maxTerms        = 256 << 20 // bytes of the terms made from one page; nested elements can repeat their text
)

// Read finds the RDF in a page. An error with rdfio.ErrLimit in its chain says that the page is too large or too deep.
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
	limited := &io.LimitedReader{R: r, N: o.Limits.Document + 1}
	text, err := charset.NewReader(limited, o.ContentType)
	if errors.Is(err, io.EOF) {
		return &Page{Base: o.Base}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("webpage: %w", err)
	}
	root, err := html.Parse(transform.NewReader(text, runes.ReplaceIllFormed()))
	if err != nil {
		return nil, fmt.Errorf("webpage: %w", err)
	}
	if limited.N == 0 {
		return nil, fmt.Errorf("webpage: %w: a page of more than %d bytes", rdfio.ErrLimit, o.Limits.Document)
	}
	d := &document{o: o, root: root, base: base, ids: map[string]*html.Node{}}
	if err := d.survey(root, 0); err != nil {
		return nil, err
	}
	page := &Page{Base: d.base.String()}
	d.scripts(page)
	if page.Microdata, err = d.microdata(); err != nil {
		return nil, err
	}
	if page.RDFa, err = d.rdfa(); err != nil {
		return nil, err
	}
	return page, nil
}

// document is a parsed page and what all kinds need to know about it.
type document struct {
	o    Options
	root *html.Node
	base iri.Base
	ids  map[string]*html.Node // elements by id

	json    []*html.Node // scripts of JSON-LD
	items   []*html.Node // top-level items of Microdata
	rdfaish bool         // some element has an attribute of RDFa

	based  bool
	blanks int
	made   int // bytes of terms made so far
	out    []term.Quad
}

// survey goes through the page once and notes what the kinds will need.
func (d *document) survey(n *html.Node, depth int) error {
	if depth > d.o.Limits.Depth {
		return fmt.Errorf("webpage: %w: a nesting of more than %d", rdfio.ErrLimit, d.o.Limits.Depth)
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

func (d *document) element(n *html.Node) {
	scope, prop := false, false
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			if d.ids[a.Val] == nil {
				d.ids[a.Val] = n
			}
		case "itemscope":
			scope = true
		case "itemprop":
			prop = true
		case "property", "typeof", "about", "rel", "rev", "vocab", "resource":
			d.rdfaish = true
		}
	}
	if scope && !prop {
		d.items = append(d.items, n)
	}
	switch n.Data {
	case "base":
		if href, ok := attr(n, "href"); ok && !d.based {
			d.based = true
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

// scripts reads each script of JSON-LD for itself: their blank nodes are not the same.
func (d *document) scripts(page *Page) {
	for i, n := range d.json {
		text := ""
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			text += c.Data
		}
		text = strings.TrimSpace(text)
		text = strings.TrimSuffix(strings.TrimPrefix(text, "<!--"), "-->") // hidden from browsers of the last century
		r := rdfio.NewReader(strings.NewReader(text), rdfio.JSONLD(), rdfio.Options{File: "script " + strconv.Itoa(i+1), Base: d.base.String(),
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

// emit adds a statement; one with a missing part is none.
func (d *document) emit(s, p, o term.Key) {
	if s != "" && p != "" && o != "" {
		d.out = append(d.out, term.Quad{S: s, P: p, O: o})
	}
}

// fresh is a blank node without a label; kind keeps those of Microdata and RDFa apart from labels.
func (d *document) fresh(kind string) term.Key {
	d.blanks++
	return term.Blank(d.o.BlankPrefix + kind + strconv.Itoa(d.blanks))
}

// resource resolves a reference; "" where it is no IRI.
func (d *document) resource(ref string) term.Key {
	ref = strings.TrimSpace(ref)
	if iri.CheckChars(ref) != nil {
		ref = escapeIRI(ref)
	}
	abs, err := d.base.Resolve(ref)
	if err != nil || iri.Check(abs) != nil {
		return ""
	}
	return d.key(term.IRI(abs))
}

// escapeIRI percent-encodes what browsers let pass in an address and IRIs do not.
func escapeIRI(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || strings.IndexByte("<>\"{}|^`\\", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// key counts a term that was made.
func (d *document) key(k term.Key) term.Key {
	d.made += len(k)
	return k
}

// tooMuch tells that the terms have grown out of proportion.
func (d *document) tooMuch() error {
	if d.made > maxTerms {
		return fmt.Errorf("webpage: %w: terms of more than %d bytes", rdfio.ErrLimit, maxTerms)
	}
	return nil
}

// literal makes a plain string with the language in scope; malformed languages are none.
func (d *document) literal(text, lang string) term.Key {
	if !wellFormedTag(lang) {
		lang = ""
	}
	return d.key(term.Lang(text, lang))
}

func wellFormedTag(tag string) bool {
	for i, sub := range strings.Split(tag, "-") {
		if len(sub) < 1 || len(sub) > 8 {
			return false
		}
		for _, c := range sub {
			if c > 'z' || !('a' <= c|0x20 && c|0x20 <= 'z' || i > 0 && '0' <= c && c <= '9') {
				return false
			}
		}
	}
	return true
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

// textOf is the text of an element and everything in it.
func (d *document) textOf(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.TextNode {
				b.WriteString(c.Data)
			} else {
				walk(c)
			}
		}
	}
	walk(n)
	return b.String()
}
