package describe

import (
	"fmt"
	"net/url"
	"strings"

	"odarchive/crawler/catalog"
)

// CitationLink is a typed link of a work, as signposting has it (https://signposting.org/FAIR/).
type CitationLink struct {
	Rel, Href, Type, Profile string
}

// Header returns the link as a value of the field Link (RFC 8288).
func (l CitationLink) Header() string {
	s := "<" + reference(l.Href) + `>; rel="` + l.Rel + `"`
	if l.Type != "" {
		s += `; type="` + quoted(l.Type) + `"`
	}
	if l.Profile != "" {
		s += `; profile="` + l.Profile + `"`
	}
	return s
}

// reference percent-encodes what would end a reference or a header.
func reference(iri string) string {
	var b strings.Builder
	for i := range len(iri) {
		if c := iri[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("<>\"\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// quoted returns what may stand between quotation marks.
func quoted(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, s)
}

// formatted returns the address of the work in a format.
func (w Work) formatted(name string) string {
	if strings.Contains(w.IRI, "?") {
		return w.IRI + "&format=" + url.QueryEscape(name)
	}
	return w.IRI + "?format=" + url.QueryEscape(name)
}

// Links returns the links of the work: how to cite it, what it consists of, who made it, under which licence, and what
// describes it.
func (w Work) Links() (links []CitationLink) {
	add := func(rel, href, mediaType string) {
		links = append(links, CitationLink{Rel: rel, Href: href, Type: mediaType})
	}
	add("cite-as", w.IRI, "")
	add("type", "https://schema.org/AboutPage", "") // of the page that has the links
	add("type", "https://schema.org/Dataset", "")
	if w.Version >= 0 {
		add("item", w.IRI+"?download=1", w.Type)
		add("collection", w.page(), "text/html")
	}
	if strings.Contains(w.Licence, "://") {
		add("license", w.Licence, "")
	}
	for _, author := range w.AuthorIRIs[:min(len(w.AuthorIRIs), maxAuthors)] {
		add("author", author, "")
	}
	describedBy := w.IRI
	if w.Version < 0 { // the triples are about the original
		add("describedby", w.describe("ttl"), "text/turtle")
		add("describedby", w.describe("jsonld"), "application/ld+json")
	} else {
		add("describedby", describedBy+"?format=ttl", "text/turtle")
		add("describedby", describedBy+"?format=jsonld", "application/ld+json")
	}
	for _, f := range formats() {
		if f.mediaType != "text/plain" && f.mediaType != "text/x-bibliography" {
			add("describedby", w.formatted(f.name), f.mediaType)
		}
	}
	add("linkset", w.formatted(linksetFormat), linksetType)
	return links
}

// maxAuthors bounds the authors in a header.
const maxAuthors = 10

// Signposts returns the links of a version's bytes that its record is enough for. The set of links has the others.
func (c *Collector) Signposts(v catalog.Version) (links []CitationLink) {
	w := Work{IRI: c.Mint.Version(v.ID), URL: v.URL, Version: v.N, Type: v.Type}
	for _, l := range w.Links() {
		switch l.Rel {
		case "cite-as", "collection", "linkset": // a description in Turtle is among the links of Memento
			links = append(links, l)
		}
	}
	return links
}

// base returns the base of the archive's IRIs.
func (w Work) base() string {
	for _, path := range []string{"api/v1/get/file/id/", "dataset?url="} {
		if i := strings.Index(w.IRI, path); i >= 0 {
			return w.IRI[:i]
		}
	}
	return "/"
}

// page returns the address of the page about the file.
func (w Work) page() string { return w.base() + "dataset?url=" + url.QueryEscape(w.URL) }

func (w Work) describe(format string) string {
	return w.base() + "describe?iri=" + url.QueryEscape(w.URL) + "&format=" + format
}

// describing returns the links of a description of the work: the page of what it describes, and where its other links
// are.
func (w Work) describing() (links []CitationLink) {
	links = append(links, CitationLink{Rel: "describes", Href: w.IRI, Type: "text/html"})
	for _, l := range w.Links() {
		switch l.Rel {
		case "cite-as", "license", "linkset":
			links = append(links, l)
		}
	}
	return links
}

// linkRef is a target in a set of links, and linkContext the links of one resource by their relation types.
type linkRef struct {
	Href    string `json:"href"`
	Type    string `json:"type,omitempty"`
	Profile string `json:"profile,omitempty"`
}

type linkContext map[string]any

// linkset returns the links as JSON (RFC 9264): those of the page about the work, and for each of its files and
// descriptions the link that leads back.
func (w Work) linkset() ([]byte, error) {
	page := linkContext{"anchor": reference(w.IRI)}
	byRel := map[string][]linkRef{}
	var back []linkContext
	landing := []linkRef{{Href: reference(w.IRI), Type: "text/html"}}
	for _, l := range w.Links() {
		if l.Rel == linksetFormat {
			continue
		}
		byRel[l.Rel] = append(byRel[l.Rel], linkRef{reference(l.Href), l.Type, l.Profile})
		switch l.Rel {
		case "item":
			back = append(back, linkContext{"anchor": reference(l.Href), "collection": landing})
		case "describedby":
			back = append(back, linkContext{"anchor": reference(l.Href), "describes": landing})
		}
	}
	for rel, refs := range byRel {
		page[rel] = refs
	}
	if w.URL != "" {
		page["original"] = []linkRef{{Href: reference(w.URL)}}
	}
	return indented(map[string]any{"linkset": append([]linkContext{page}, back...)})
}
