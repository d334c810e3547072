package scrape

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"odarchive/triplestore/rdfio/iri"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// baseOf returns the address that relative addresses on the page are resolved against.
func baseOf(doc *html.Node, page *url.URL) *url.URL {
	if b := cascadia.Query(doc, baseElement); b != nil {
		if u, err := page.Parse(strings.TrimSpace(attribute(b, "href"))); err == nil {
			return u
		}
	}
	return page
}

var baseElement = cascadia.MustCompile("base[href]")

var anyLink = cascadia.MustCompile("a[href], area[href]")

var errNoAddress = errors.New("not an address")

// resolve returns the absolute IRI of an address on the page. Addresses of the schemes javascript and data are errors.
func (s *scraping) resolve(address string) (string, error) {
	address = strings.TrimSpace(address)
	if address == "" || len(address) > maxURL {
		return "", errNoAddress
	}
	u, err := s.base.Parse(address)
	if err != nil || !u.IsAbs() || u.Scheme == "javascript" || u.Scheme == "data" {
		return "", errNoAddress
	}
	return iri.Escape(u.String()), nil // String escapes everything but the query
}

// subject expands the template of a thing's IRI: {url} is replaced by the page's address, {n} by the number of the
// thing, and {1}, {2} and so on by the groups of Page.URL in the address.
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
			return "", fmt.Errorf("subject = %q: {%s} is none of {url}, {n}, and the groups of url, {1} to {%d}", p.Subject, name,
				p.url.NumSubexp())
		}
		rest = next
	}
	u, err := url.Parse(b.String())
	if err != nil || !u.IsAbs() {
		return "", fmt.Errorf("subject = %q does not become an absolute IRI", p.Subject)
	}
	return iri.Escape(b.String()), nil
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if strings.EqualFold(a.Key, name) && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// linkOf returns the value of an element's href or src attribute, "" if it has neither.
func linkOf(n *html.Node) string {
	for _, name := range []string{"href", "src"} {
		if v := strings.TrimSpace(attribute(n, name)); v != "" {
			return v
		}
	}
	return ""
}
