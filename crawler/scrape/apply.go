package scrape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab/rdf"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// Result is what a page gives.
type Result struct {
	Matched bool        // rules exist for the page
	Quads   []term.Quad // in the default graph, each once
	Links   []string    // absolute http and https addresses to follow, each once
	More    bool        // a limit was reached
}

// Bounds of a page and of what it gives.
const (
	MaxPage   = 32 << 20 // bytes
	maxNodes  = 500_000
	maxThings = 10_000
	maxQuads  = 100_000
	maxLinks  = 20_000
	maxText   = 64 << 10 // bytes of a value
	maxURL    = 4 << 10
	maxDepth  = 200        // nesting of elements
	maxWork   = 20_000_000 // elements that are compared with a selector, or read for their text
)

// ErrTooLarge means that a page has more bytes or elements than are read, or gives more than is kept.
var ErrTooLarge = errors.New("the page is too large")

// ApplyTo reads a page in the encoding that it or its Content-Type declares, and applies the rules to it.
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

// Apply applies to a page the first rules that match its address. The address must be absolute. Apply does not change the
// page, and may be called concurrently. If ctx ends, the error is its cause.
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
		s := &scraping{ctx: ctx, page: p, address: base.String(), base: baseOf(doc, base), groups: groups, seen: map[term.Quad]bool{}, linked: map[string]bool{}}
		s.result.Matched = true
		s.run(doc)
		if ctx.Err() != nil {
			return Result{Matched: true}, fmt.Errorf("scrape %s: %w", address, context.Cause(ctx))
		}
		return s.result, nil
	}
	return Result{}, nil
}

// count returns the number of nodes, or a number above limit.
func count(n *html.Node, limit int) (nodes int) {
	for range n.Descendants() {
		if nodes++; nodes > limit {
			break
		}
	}
	return nodes
}

// deeper reports whether elements are nested more than limit deep.
func deeper(n *html.Node, limit int) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if limit == 0 || deeper(c, limit-1) {
			return true
		}
	}
	return false
}

// baseOf returns the address that relative ones are relative to.
func baseOf(doc *html.Node, page *url.URL) *url.URL {
	if b := cascadia.Query(doc, baseElement); b != nil {
		if u, err := page.Parse(strings.TrimSpace(attribute(b, "href"))); err == nil {
			return u
		}
	}
	return page
}

var baseElement = cascadia.MustCompile("base[href]")

// scraping is the state of one Apply.
type scraping struct {
	ctx     context.Context // of the call
	work    int             // see maxWork
	page    *Page
	address string
	base    *url.URL
	groups  []string // of the expression that matched the address
	result  Result
	seen    map[term.Quad]bool
	linked  map[string]bool
}

// works counts work. It returns false if that must end, because it is too much or because ctx has ended.
func (s *scraping) works() bool {
	if s.work++; s.work > maxWork || s.work&255 == 0 && s.ctx.Err() != nil {
		s.work, s.result.More = maxWork, true
		return false
	}
	return true
}

// all returns the elements below n that a selector selects, at most limit.
func (s *scraping) all(n *html.Node, m cascadia.Matcher, limit int) (found []*html.Node) {
	for e := range n.Descendants() {
		if len(found) >= limit || !s.works() {
			break
		}
		if m.Match(e) {
			found = append(found, e)
		}
	}
	return found
}

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

// thing adds what the rules say of one thing. number counts from 1.
func (s *scraping) thing(n *html.Node, number int) {
	iri, err := s.page.subject(s.address, s.groups, number)
	if s.page.link != nil {
		targets := []*html.Node{n}
		if !s.page.link.Match(n) {
			targets = s.all(n, s.page.link, 1)
		}
		if len(targets) == 0 {
			return
		}
		iri, err = s.resolve(linkOf(targets[0]))
	}
	if err != nil {
		return
	}
	subject := term.IRI(iri)
	for _, class := range s.page.types {
		s.add(term.Quad{S: subject, P: term.IRI(rdf.Type), O: class})
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

func (s *scraping) add(q term.Quad) {
	if !s.seen[q] {
		s.seen[q] = true
		s.result.Quads = append(s.result.Quads, q)
	}
}

// value returns the value of an element. ok is false if it has none.
func (s *scraping) value(v *Value, e *html.Node) (o term.Key, ok bool) {
	text := ""
	isIRI := v.IRI
	switch {
	case v.Attr != "":
		text = attribute(e, v.Attr)
	case v.Auto && linkOf(e) != "":
		text, isIRI = linkOf(e), true
	case v.IRI:
		if text = linkOf(e); text == "" { // a text is an address only if it looks like one
			if u, err := url.Parse(s.textOf(e)); err == nil && u.IsAbs() && u.Host != "" {
				text = u.String()
			}
		}
	default:
		text = s.textOf(e)
	}
	if text, ok = v.part(text); !ok {
		return "", false
	}
	if len(text) > maxText {
		text, s.result.More = strings.ToValidUTF8(text[:maxText], ""), true
	}
	text = strings.Map(printable, strings.ToValidUTF8(text, "\uFFFD"))
	switch {
	case strings.TrimSpace(text) == "":
		return "", false
	case isIRI:
		iri, err := s.resolve(text)
		return term.IRI(iri), err == nil
	case v.datatype != "":
		return term.Typed(strings.TrimSpace(text), v.datatype), true
	case v.Lang != "":
		return term.Lang(text, v.Lang), true
	}
	return term.String(text), true
}

// part returns the part of a text that the value's expression selects. ok is false if it does not match.
func (v *Value) part(text string) (string, bool) {
	if v.match == nil {
		return text, true
	}
	at := v.match.FindStringSubmatchIndex(text)
	switch {
	case at == nil:
		return "", false
	case v.Replace != "":
		return string(v.match.ExpandString(nil, v.Replace, text, at)), true
	case len(at) > 2 && at[2] >= 0:
		return text[at[2]:at[3]], true
	}
	return text[at[0]:at[1]], true
}

// follow adds the target of a link. Of an element that is none, it adds those of the links inside.
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

var anyLink = cascadia.MustCompile("a[href], area[href]")

var errNoAddress = errors.New("not an address")

// resolve returns an absolute IRI for an address on the page.
func (s *scraping) resolve(address string) (string, error) {
	address = strings.TrimSpace(address)
	if address == "" || len(address) > maxURL {
		return "", errNoAddress
	}
	u, err := s.base.Parse(address)
	if err != nil || !u.IsAbs() || u.Scheme == "javascript" || u.Scheme == "data" {
		return "", errNoAddress
	}
	iri := u.String() // escapes what an IRI must not have, except in the query
	if strings.ContainsAny(iri, " <>\"{}|\\^`") {
		iri = forbidden.Replace(iri)
	}
	return iri, nil
}

var forbidden = strings.NewReplacer(" ", "%20", "<", "%3C", ">", "%3E", `"`, "%22", "{", "%7B", "}", "%7D", "|", "%7C", `\`, "%5C", "^", "%5E", "`", "%60")

// subject expands the template of a thing's IRI: {url} is the page's address, {n} the number of the thing, {1} to {9} the groups of
// the expression that matched the address.
func (p *Page) subject(address string, groups []string, number int) (string, error) {
	var b strings.Builder
	rest := p.Subject
	for {
		text, after, found := strings.Cut(rest, "{")
		b.WriteString(text)
		if !found {
			break
		}
		name, next, closed := strings.Cut(after, "}")
		n, err := strconv.Atoi(name)
		switch {
		case !closed:
			return "", fmt.Errorf("subject = %q: a brace is not closed", p.Subject)
		case name == "url":
			b.WriteString(address)
		case name == "n":
			b.WriteString(strconv.Itoa(number))
		case err == nil && n >= 1 && n <= p.url.NumSubexp():
			if n < len(groups) {
				b.WriteString(url.PathEscape(groups[n]))
			}
		default:
			return "", fmt.Errorf("subject = %q: {%s} is none of {url}, {n}, and the groups of url, {1} to {%d}", p.Subject, name, p.url.NumSubexp())
		}
		rest = next
	}
	u, err := url.Parse(b.String())
	if err != nil || !u.IsAbs() {
		return "", fmt.Errorf("subject = %q does not become an absolute IRI", p.Subject)
	}
	return forbidden.Replace(b.String()), nil
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if strings.EqualFold(a.Key, name) && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// linkOf returns the address that an element links to or shows, "" for none.
func linkOf(n *html.Node) string {
	for _, name := range []string{"href", "src"} {
		if v := strings.TrimSpace(attribute(n, name)); v != "" {
			return v
		}
	}
	return ""
}

// textOf returns the text of an element with single spaces. Scripts and styles have none.
func (s *scraping) textOf(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch {
		case b.Len() > 2*maxText || !s.works():
			return
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
			return
		case n.Type == html.ElementNode && (n.Data == "script" || n.Data == "style" || n.Data == "template"):
			return
		case n.Type == html.ElementNode && (n.Data == "br" || n.Data == "p" || n.Data == "div" || n.Data == "li" || n.Data == "td"):
			b.WriteByte(' ')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

// printable drops control characters.
func printable(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' || r == 0x7f {
		return -1
	}
	return r
}
