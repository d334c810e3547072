package scrape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// Result has the statements and links of a page.
type Result struct {
	Matched bool        // the rules have a Page for the address
	Quads   []term.Quad // in the default graph, without duplicates
	Links   []string    // absolute http and https addresses to follow, without duplicates
	More    bool        // a limit was reached, so Quads or Links are not complete
}

// Limits of a page and of its Result.
const (
	MaxPage   = 32 << 20 // bytes of a page
	maxNodes  = 500_000  // nodes of a page
	maxDepth  = 200      // nesting of elements
	maxThings = 10_000
	maxQuads  = 100_000
	maxLinks  = 20_000
	maxText   = 64 << 10   // bytes of a value
	maxURL    = 4 << 10    // bytes of an address
	maxWork   = 20_000_000 // nodes that are compared with a selector or read for their text
)

// ErrTooLarge is wrapped by errors about a page with more bytes, nodes or nested elements than the limits allow.
var ErrTooLarge = errors.New("the page is too large")

// ApplyTo parses a page and applies the rules to it, like Apply. The encoding is the one that the page or its
// Content-Type declares.
func (r *Rules) ApplyTo(ctx context.Context, page io.Reader, contentType, address string) (Result, error) {
	limited := &io.LimitedReader{R: page, N: MaxPage + 1}
	decoded, err := charset.NewReader(limited, contentType)
	if errors.Is(err, io.EOF) {
		return Result{}, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("scrape %s: %w", address, err)
	}
	doc, err := html.Parse(decoded)
	if err == nil && limited.N <= 0 {
		err = ErrTooLarge
	}
	if err != nil {
		return Result{}, fmt.Errorf("scrape %s: %w", address, err)
	}
	return r.Apply(ctx, doc, address)
}

// Apply applies the first Page whose expression matches the address, which must be absolute. Apply does not change doc
// and may be called concurrently. If ctx ends, the error wraps its cause.
func (r *Rules) Apply(ctx context.Context, doc *html.Node, address string) (Result, error) {
	base, err := url.Parse(address)
	if err != nil || !base.IsAbs() {
		return Result{}, fmt.Errorf("scrape: %q is not an absolute address", address)
	}
	base.Fragment = ""
	for _, p := range r.Page {
		groups := p.url.FindStringSubmatch(address)
		if groups == nil {
			continue
		}
		if count(doc, maxNodes) > maxNodes || deeper(doc, maxDepth) {
			return Result{Matched: true}, fmt.Errorf("scrape %s: %w", address, ErrTooLarge)
		}
		s := &scraping{ctx: ctx, page: p, address: base.String(), base: baseOf(doc, base), groups: groups, seen: map[term.Quad]bool{},
			linked: map[string]bool{}}
		s.result.Matched = true
		s.run(doc)
		if ctx.Err() != nil {
			return Result{Matched: true}, fmt.Errorf("scrape %s: %w", address, context.Cause(ctx))
		}
		return s.result, nil
	}
	return Result{}, nil
}

// count returns the number of nodes below n. It stops counting above limit.
func count(n *html.Node, limit int) (nodes int) {
	for range n.Descendants() {
		if nodes++; nodes > limit {
			break
		}
	}
	return nodes
}

// deeper reports whether the nodes below n are nested more than limit deep.
func deeper(n *html.Node, limit int) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if limit == 0 || deeper(c, limit-1) {
			return true
		}
	}
	return false
}

// scraping is the state of one Apply.
type scraping struct {
	ctx     context.Context // of the call
	work    int             // nodes visited so far, at most maxWork
	page    *Page
	address string   // of the page
	base    *url.URL // that relative addresses are resolved against
	groups  []string // of Page.URL in the address

	result Result
	seen   map[term.Quad]bool // quads in result
	linked map[string]bool    // links in result
}

// visit counts a node that is visited. It returns false if no further node may be visited, because of maxWork or
// because ctx has ended.
func (s *scraping) visit() bool {
	if s.work++; s.work > maxWork || s.work&255 == 0 && s.ctx.Err() != nil {
		s.work, s.result.More = maxWork, true
		return false
	}
	return true
}

// all returns the elements below n that m matches, at most limit.
func (s *scraping) all(n *html.Node, m cascadia.Matcher, limit int) (found []*html.Node) {
	for e := range n.Descendants() {
		if len(found) >= limit || !s.visit() {
			break
		}
		if m.Match(e) {
			found = append(found, e)
		}
	}
	return found
}

// run fills the result.
func (s *scraping) run(doc *html.Node) {
	things := []*html.Node{doc}
	if s.page.each != nil {
		things = s.all(doc, s.page.each, maxThings+1)
	}
	for i, thing := range things {
		if i == maxThings {
			s.result.More = true
			break
		}
		s.thing(thing, i+1)
	}
	for _, follow := range s.page.follow {
		for _, n := range s.all(doc, follow, maxNodes) {
			s.follow(n)
		}
	}
}

// thing adds the statements about one thing, whose element is n. number counts the things of a page from 1.
func (s *scraping) thing(n *html.Node, number int) {
	iri, err := s.iriOf(n, number)
	if err != nil {
		return
	}
	subject := term.IRI(iri)
	for _, class := range s.page.types {
		s.add(term.Quad{S: subject, P: term.IRI(vocab.RDFType), O: class})
	}
	for _, v := range s.page.Value {
		elements := []*html.Node{n}
		if v.selector != nil {
			elements = s.all(n, v.selector, maxQuads)
		}
		for _, e := range elements {
			if len(s.result.Quads) >= maxQuads {
				s.result.More = true
				return
			}
			if o, ok := s.value(v, e); ok {
				s.add(term.Quad{S: subject, P: v.predicate, O: o})
			}
		}
	}
}

// iriOf returns the IRI of a thing: the target of its link if the rules name one, otherwise the subject.
func (s *scraping) iriOf(n *html.Node, number int) (string, error) {
	if s.page.link == nil {
		return s.page.subject(s.address, s.groups, number)
	}
	if s.page.link.Match(n) {
		return s.resolve(linkOf(n))
	}
	links := s.all(n, s.page.link, 1)
	if len(links) == 0 {
		return "", errNoAddress
	}
	return s.resolve(linkOf(links[0]))
}

// add adds a quad to the result, unless the result has it.
func (s *scraping) add(q term.Quad) {
	if !s.seen[q] {
		s.seen[q] = true
		s.result.Quads = append(s.result.Quads, q)
	}
}

// follow adds the address of the element n, if it is a link, and the addresses of all links inside it.
func (s *scraping) follow(n *html.Node) {
	for _, e := range append([]*html.Node{n}, s.all(n, anyLink, maxLinks)...) {
		iri, err := s.resolve(linkOf(e))
		if err != nil || !strings.HasPrefix(iri, "http://") && !strings.HasPrefix(iri, "https://") {
			continue
		}
		iri, _, _ = strings.Cut(iri, "#")
		if s.linked[iri] {
			continue
		}
		if len(s.result.Links) >= maxLinks {
			s.result.More = true
			return
		}
		s.linked[iri] = true
		s.result.Links = append(s.result.Links, iri)
	}
}
