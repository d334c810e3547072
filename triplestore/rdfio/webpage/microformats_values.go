package webpage

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// value returns the value of a property by its kind, or "" if it is empty.
func (f *formats) value(n *html.Node, kind string) term.Key {
	switch kind {
	case "u":
		for _, name := range linkAttrs[n.Data] {
			if ref, ok := attr(n, name); ok {
				return f.link(ref)
			}
		}
	case "dt":
		if parts := f.valueClass(n, true); len(parts) > 0 {
			return f.moment(joinMoment(parts))
		}
		if s, ok := attr(n, "datetime"); ok && (n.Data == "time" || n.Data == "ins" || n.Data == "del") {
			return f.moment(s)
		}
	case "e":
		return f.text(f.plain(n), n)
	}
	s, found := "", false
	if kind != "dt" {
		if parts := f.valueClass(n, false); len(parts) > 0 {
			s, found = strings.Join(parts, ""), true
		}
	}
	if !found {
		if name := valueAttrs[n.Data]; name != "" && (kind == "p" || name != "alt") {
			s, found = attr(n, name)
		}
	}
	if !found {
		s = f.plain(n)
	}
	switch kind {
	case "u":
		if s = strings.TrimSpace(s); iri.IsAbsolute(s) {
			return f.link(s)
		}
		return f.text(s, nil)
	case "dt":
		return f.moment(s)
	}
	return f.text(s, n)
}

// linkAttrs are the attributes of elements that hold the value of a u- property, in order.
var linkAttrs = map[string][]string{
	"a": {"href"}, "area": {"href"}, "link": {"href"}, "img": {"src"}, "audio": {"src"}, "source": {"src"}, "iframe": {"src"},
	"video": {"src", "poster"}, "object": {"data"},
}

// valueAttrs are the attributes of elements that hold the value of other properties.
var valueAttrs = map[string]string{"abbr": "title", "link": "title", "data": "value", "input": "value", "img": "alt", "area": "alt"}

// linkSchemes are those of links. Others, as javascript and data, name nothing that other statements are about.
var linkSchemes = []string{"http", "https", "mailto", "tel"}

// link returns the resource of a reference, or a string if it has a scheme that is none of links.
func (f *formats) link(ref string) term.Key {
	ref = strings.TrimSpace(ref)
	if iri.IsAbsolute(ref) {
		scheme, _, _ := strings.Cut(ref, ":")
		if !slices.Contains(linkSchemes, strings.ToLower(scheme)) {
			return f.text(ref, nil)
		}
	}
	return f.resource(ref)
}

// text returns a string in the language of n, which may be nil, or "" if it is empty.
func (f *formats) text(s string, n *html.Node) term.Key {
	if s = strings.TrimSpace(s); s == "" {
		return ""
	}
	return f.literal(s, languageOf(n))
}

// plain returns the text of an element, with images by their alternative text, without scripts and styles.
func (f *formats) plain(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			f.made++ // elements without text, nested, cost time as text does
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case c.Type != html.ElementNode || c.Data == "script" || c.Data == "style" || c.Data == "template":
			case c.Data == "img":
				alt, _ := attr(c, "alt")
				b.WriteString(alt)
			default:
				walk(c)
			}
		}
	}
	walk(n)
	f.made += b.Len() // also of spaces
	return strings.TrimSpace(b.String())
}

// valueClass returns the values of the elements with the class value or value-title in n, but not in other properties
// or items (https://microformats.org/wiki/value-class-pattern). moments says that datetime counts.
func (f *formats) valueClass(n *html.Node, moments bool) []string {
	var parts []string
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			f.made++
			if c.Type != html.ElementNode {
				continue
			}
			class, _ := attr(c, "class")
			f.made += len(class)
			words := strings.Fields(class)
			if slices.Contains(words, "value-title") {
				title, _ := attr(c, "title")
				parts = append(parts, title)
				continue
			}
			if slices.Contains(words, "value") {
				s, ok := "", false
				if moments && (c.Data == "time" || c.Data == "ins" || c.Data == "del") {
					s, ok = attr(c, "datetime")
				}
				if name := valueAttrs[c.Data]; !ok && name != "" {
					s, ok = attr(c, name)
				}
				if !ok {
					s = f.plain(c)
				}
				parts = append(parts, s)
				continue
			}
			if roots, properties := classesOf(c); len(roots) == 0 && len(properties) == 0 {
				walk(c)
			}
		}
	}
	walk(n)
	return parts
}

var (
	dateForm   = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	clockForm  = regexp.MustCompile(`^(\d{1,2})(:\d\d)?(:\d\d)?\s?(?:([aApP])\.?[mM]\.?)?(Z|[+-]\d\d:?\d\d)?$`)
	zoneForm   = regexp.MustCompile(`^(Z|[+-]\d\d:?\d\d)$`)
	momentForm = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(\.\d+)?\s?(Z|[+-]\d\d(?::?\d\d)?)?$`)
)

// joinMoment returns the moment that the parts of a value say: a date, a time of day and a zone, each the first found.
func joinMoment(parts []string) string {
	date, clock, zone := "", "", ""
	for _, part := range parts {
		part = strings.TrimSpace(part)
		m := clockForm.FindStringSubmatch(part)
		switch {
		case dateForm.MatchString(part):
			date = first(date, part)
		case zoneForm.MatchString(part):
			zone = first(zone, part)
		case m != nil && (m[2] != "" || m[4] != ""):
			hour, _ := strconv.Atoi(m[1]) // two digits at most
			if m[4] != "" && hour <= 12 {
				hour %= 12
				if strings.EqualFold(m[4], "p") {
					hour += 12
				}
			}
			digits := strconv.Itoa(hour)
			if hour < 10 {
				digits = "0" + digits
			}
			clock, zone = first(clock, digits+first(m[2], ":00")+m[3]), first(zone, m[5])
		default:
			return strings.Join(parts, "")
		}
	}
	switch {
	case date != "" && clock != "":
		return date + "T" + clock + zone
	case date != "":
		return date
	}
	return clock + zone
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// moment returns the value of a dt- property: of a datatype if it is a valid one in the forms that authors use, a
// string without a language otherwise.
func (f *formats) moment(s string) term.Key {
	s = strings.TrimSpace(s)
	if m := momentForm.FindStringSubmatch(s); m != nil {
		lexical, zone := m[1]+"T"+m[2]+first(m[3], ":00"), m[5]
		if len(zone) == len("+02") {
			zone += ":00"
		} else if len(zone) == len("+0200") {
			zone = zone[:3] + ":" + zone[3:]
		}
		if _, err := time.Parse("2006-01-02T15:04:05", lexical); err == nil && (len(zone) < 2 || zone[1:] <= "14:00" && zone[4:] < "60") {
			return f.key(term.Typed(lexical+m[4]+zone, vocab.XSDDateTime))
		}
		return f.text(s, nil)
	}
	if len(s) >= 10 && dateForm.MatchString(s[:10]) {
		if _, err := time.Parse(time.DateOnly, s); err == nil {
			return f.key(term.Typed(s, vocab.XSDDate))
		}
		return f.text(s, nil)
	}
	if s == "" {
		return ""
	}
	return f.timeValue(s, "") // years, months and durations
}
