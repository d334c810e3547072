package discover

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"odarchive/crawler/harvest"

	"golang.org/x/net/html"
)

// homePage is what signs are searched in.
type homePage struct {
	url        string // after redirects
	header     http.Header
	cookies    []string
	generators []string
	links      []string // "rel type href"
	hrefs      []string // absolute addresses of links
	assets     []string
	text       string // of a page
	body       string // of an answer that is not a page
}

// maxFound is the maximum number of elements of a page that are read.
const maxFound = 2000

// page requests the portal's page. An error page has signs too.
func (r *search) page() (homePage, error) {
	r.asked++
	answer, err := r.head(harvest.Request{URL: r.address, Accept: "text/html, */*;q=0.5", Tries: 2})
	var status *harvest.StatusError
	if errors.As(err, &status) {
		answer, err = harvest.Answer{URL: status.URL, Header: http.Header{}, Body: status.Body}, nil
	}
	if err != nil {
		return homePage{}, err
	}
	return read(answer), nil
}

func read(answer harvest.Answer) homePage {
	p := homePage{url: answer.URL, header: answer.Header}
	for _, c := range (&http.Response{Header: answer.Header}).Cookies() {
		p.cookies = append(p.cookies, c.Name)
	}
	base, err := url.Parse(answer.URL)
	if err != nil {
		base = &url.URL{}
	}
	for _, line := range answer.Header.Values("Link") { // RFC 8288
		for _, m := range linkHeader.FindAllStringSubmatch(line, maxFound) {
			p.link(linkParameter(m[2], "rel"), linkParameter(m[2], "type"), m[1], base)
		}
	}
	if !harvest.LooksLikeHTML(answer.Body) && !bytes.Contains(answer.Body[:min(len(answer.Body), 2048)], []byte("<html")) {
		p.body = string(answer.Body)
		return p
	}
	p.text = string(answer.Body)
	z := html.NewTokenizer(bytes.NewReader(answer.Body))
	for found := 0; found < maxFound; {
		switch z.Next() {
		case html.ErrorToken:
			return p
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if p.element(t, base) {
				found++
			}
		}
	}
	return p
}

// element reads an element of a page. It returns false if the element has no signs.
func (p *homePage) element(t html.Token, base *url.URL) bool {
	switch t.Data {
	case "meta":
		if strings.EqualFold(attrOf(t, "name"), "generator") {
			p.generators = append(p.generators, strings.TrimSpace(attrOf(t, "content")))
		}
	case "link":
		p.link(attrOf(t, "rel"), attrOf(t, "type"), attrOf(t, "href"), base)
		p.assets = append(p.assets, attrOf(t, "href"))
	case "script", "img", "iframe":
		p.assets = append(p.assets, attrOf(t, "src"))
	default:
		return false
	}
	return true
}

func (p *homePage) link(rel, kind, href string, base *url.URL) {
	p.links = append(p.links, rel+" "+kind+" "+href)
	if u, err := base.Parse(href); err == nil {
		href = u.String()
	}
	p.hrefs = append(p.hrefs, href)
}

// linkHeader matches a link in a Link header, with its parameters.
var linkHeader = regexp.MustCompile(`<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s",;]*))*)`)

var linkParameters = regexp.MustCompile(`;\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s",;]*))`)

func linkParameter(all, name string) string {
	for _, m := range linkParameters.FindAllStringSubmatch(all, -1) {
		if strings.EqualFold(m[1], name) {
			return m[2] + m[3]
		}
	}
	return ""
}

func attrOf(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// has reports whether the page has a sign, and describes it in one sentence.
func (p homePage) has(s Sign) (string, bool) {
	header, isHeader := strings.CutPrefix(s.Where, "header:")
	switch {
	case isHeader:
		if v := p.header.Get(header); v != "" && s.match.MatchString(v) {
			return fmt.Sprintf("the header %s is %q", header, short(v)), true
		}
	case s.Where == "text" || s.Where == "body":
		text := p.text
		if s.Where == "body" {
			text = p.body
		}
		if hit := s.match.FindString(text); hit != "" {
			return fmt.Sprintf("the page contains %q", short(hit)), true
		}
	case s.Where == "address":
		if s.match.MatchString(p.url) {
			return fmt.Sprintf("its address is %s", p.url), true
		}
	case s.Where == "generator":
		return first("its generator is", p.generators, s)
	case s.Where == "cookie":
		return first("it sets the cookie", p.cookies, s)
	case s.Where == "asset":
		return first("it loads", p.assets, s)
	case s.Where == "link":
		return first("it links to", p.links, s)
	}
	return "", false
}

func first(what string, among []string, s Sign) (string, bool) {
	for _, a := range among {
		if s.match.MatchString(a) {
			return fmt.Sprintf("%s %q", what, short(a)), true
		}
	}
	return "", false
}

// href returns the address of the link that a sign matches.
func (p homePage) href(s Sign) string {
	for i, l := range p.links {
		if s.match.MatchString(l) {
			return p.hrefs[i]
		}
	}
	return ""
}
