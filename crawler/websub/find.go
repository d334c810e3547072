package websub

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// linkValue matches one value of a Link header (RFC 8288), and linkParameter one of its parameters.
var (
	linkValue     = regexp.MustCompile(`<([^<>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:"[^"]*"|[^\s",;]*))?)*)`)
	linkParameter = regexp.MustCompile(`;\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s",;]*))`)
)

const (
	maxHeader = 16 << 10 // bytes of a Link header
	maxLinks  = 100
	maxHead   = 64 << 10 // bytes of a document in which hubs are looked for
)

// named are the addresses that a document names, as it spells them.
type named struct{ hub, self string }

func (n *named) take(rels, address string) {
	if address = strings.TrimSpace(address); address == "" {
		return
	}
	for _, rel := range strings.Fields(strings.ToLower(rels)) {
		switch {
		case rel == "hub" && n.hub == "":
			n.hub = address
		case rel == "self" && n.self == "":
			n.self = address
		}
	}
}

func (n named) whole() bool { return n.hub != "" && n.self != "" }

// Find returns the hub and the topic that a response names: in Link headers, else in link elements at the beginning of a feed
// or page. head is the beginning of the body; nil if it is neither. base is the URL of the response. ok is false if the
// response does not name both.
func Find(h http.Header, head []byte, base string) (hub, topic string, ok bool) {
	n := inHeader(h)
	if !n.whole() && len(head) > 0 {
		n = inDocument(head[:min(len(head), maxHead)])
	}
	if !n.whole() {
		return "", "", false
	}
	hub, topic = resolve(base, n.hub), resolve(base, n.self)
	if hub == "" || topic == "" {
		return "", "", false
	}
	return hub, topic, true
}

func inHeader(h http.Header) (n named) {
	links := 0
	for _, line := range h.Values("Link") {
		for _, m := range linkValue.FindAllStringSubmatch(line[:min(len(line), maxHeader)], maxLinks) {
			if links++; links > maxLinks {
				return n
			}
			rel, elsewhere := "", false
			for _, p := range linkParameter.FindAllStringSubmatch(m[2], 20) {
				switch strings.ToLower(p[1]) {
				case "rel":
					if rel == "" { // RFC 8288: the first counts
						rel = p[2] + p[3]
					}
				case "anchor":
					elsewhere = true
				}
			}
			if !elsewhere {
				n.take(rel, m[1])
			}
		}
	}
	return n
}

// inDocument reads the link elements before the first entry of a feed, or in the head of a page: what is below was perhaps
// written by others.
func inDocument(head []byte) (n named) {
	z := html.NewTokenizer(bytes.NewReader(head))
	z.SetMaxBuf(maxHead)
	for range 4 * maxLinks {
		switch z.Next() {
		case html.ErrorToken:
			return n
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "head" {
				return n
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			_, local, prefixed := strings.Cut(string(name), ":")
			if !prefixed {
				local = string(name)
			}
			switch local {
			case "body", "entry", "item":
				return n
			case "link":
			default:
				continue
			}
			rel, href := "", ""
			for more {
				var k, v []byte
				k, v, more = z.TagAttr()
				switch string(k) {
				case "rel":
					rel = string(v)
				case "href":
					href = string(v)
				}
			}
			if n.take(rel, href); n.whole() {
				return n
			}
		}
	}
	return n
}

// resolve returns an absolute http or https address without credentials, as it is spelled if it is absolute already, because a
// hub compares topics byte by byte. It returns "" if there is none.
func resolve(base, ref string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ""
	}
	u, err := b.Parse(ref)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || len(u.String()) > maxAddress || len(ref) > maxAddress {
		return ""
	}
	if own, err := url.Parse(ref); err == nil && own.IsAbs() && u.Fragment == "" {
		return ref
	}
	u.Fragment = ""
	return u.String()
}
