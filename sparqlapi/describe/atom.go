package describe

import (
	"bytes"
	"encoding/xml"
	"time"

	"odarchive/crawler/catalog"
)

// The elements of RFC 4287 that feeds use.
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  atomAuthor  `xml:"author"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomAuthor struct {
	Name string `xml:"name"`
	URI  string `xml:"uri"`
}

type atomLink struct {
	Rel   string `xml:"rel,attr"`
	Type  string `xml:"type,attr,omitempty"`
	Href  string `xml:"href,attr"`
	Title string `xml:"title,attr,omitempty"`
}

type atomEntry struct {
	ID         string         `xml:"id"`
	Title      string         `xml:"title"`
	Updated    string         `xml:"updated"`
	Links      []atomLink     `xml:"link"`
	Categories []atomCategory `xml:"category"`
	Summary    string         `xml:"summary"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

// writeAtom writes a feed as Atom.
func (a *FeedsAPI) writeAtom(out *bytes.Buffer, f feed) error {
	doc := atomFeed{
		ID: f.id, Title: f.title, Updated: updated(f), Author: atomAuthor{"ODArchive", a.Mint.Base},
		Links: []atomLink{
			{Rel: "self", Type: "application/atom+xml", Href: f.self},
			{Rel: "alternate", Type: "text/html", Href: f.home},
			{Rel: "first", Type: "application/atom+xml", Href: f.id},
		},
	}
	if f.next != "" {
		doc.Links = append(doc.Links, atomLink{Rel: "next", Type: "application/atom+xml", Href: f.next})
	}
	if a.Hub != "" {
		doc.Links = append(doc.Links, atomLink{Rel: "hub", Href: a.Hub})
	}
	for i, e := range f.List {
		doc.Entries = append(doc.Entries, a.atomEntry(e, f.items[i]))
	}
	out.WriteString(xml.Header)
	enc := xml.NewEncoder(out)
	enc.Indent("", " ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	out.WriteByte('\n')
	return nil
}

func (a *FeedsAPI) atomEntry(e catalog.Event, one item) atomEntry {
	entry := atomEntry{
		ID: one.id, Title: one.title, Updated: one.time, Summary: one.summary,
		Links: []atomLink{{Rel: "alternate", Type: "text/html", Href: one.page}, {Rel: "related", Type: "application/json", Href: one.id}},
	}
	if one.via != "" {
		entry.Links = append(entry.Links, atomLink{Rel: "via", Href: one.via})
	}
	if e.Previous != "" {
		entry.Links = append(entry.Links,
			atomLink{Rel: "related", Type: "text/html", Title: "What changed",
				Href: a.Mint.Base + "diff?from=" + e.Previous + "&to=" + e.Version})
	}
	for _, kind := range e.Kinds {
		entry.Categories = append(entry.Categories, atomCategory{kind})
	}
	return entry
}

// updated returns the time of the newest event, or the beginning of 1970 if there are no events.
func updated(f feed) string {
	newest := time.Unix(0, 0)
	for _, e := range f.List {
		if e.At.After(newest) {
			newest = e.At
		}
	}
	return stamp(newest)
}
