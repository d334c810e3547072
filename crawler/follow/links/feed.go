package links

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html/charset"

	"odarchive/triplestore/rdfio"
)

const (
	maxFeed      = 64 << 20 // bytes of a feed that are read
	maxFeedLinks = MaxLinks
)

// feed reads the entries of an RSS or Atom feed, or of a sitemap. RSS 1.0 is RDF as well.
func (r *reader) feed(name string, body io.Reader) {
	raw, err := io.ReadAll(io.LimitReader(body, maxFeed))
	if err != nil {
		r.fault(name, err)
		return
	}
	if head := raw[:min(len(raw), 2048)]; bytes.Contains(head, []byte("<rdf:RDF")) {
		r.rdf(name, rdfio.RDFXML(), bytes.NewReader(raw))
		return
	}
	d := xml.NewDecoder(bytes.NewReader(raw))
	d.Strict, d.CharsetReader, d.Entity = false, charset.NewReaderLabel, xml.HTMLEntity
	inside, text, n, root := "", strings.Builder{}, 0, ""
	for n < maxFeedLinks && r.ctx.Err() == nil {
		t, err := d.RawToken()
		if err != nil {
			if !errors.Is(err, io.EOF) && root != "" {
				r.fault(name, err)
			}
			return
		}
		switch t := t.(type) {
		case xml.StartElement:
			if root == "" {
				if root = t.Name.Local; root != "rss" && root != "feed" && root != "urlset" && root != "sitemapindex" && root != "entry" {
					return
				}
			}
			inside = t.Name.Local
			text.Reset()
			if ref := feedReference(t); ref != "" {
				n++
				r.add(Link{URL: resolve(ref, r.base), Kind: Entry})
			}
		case xml.CharData:
			if inside == "link" || inside == "loc" || inside == "guid" {
				if text.Len()+len(t) <= 64<<10 {
					text.Write(t)
				}
			}
		case xml.EndElement:
			ref := strings.TrimSpace(text.String())
			if t.Name.Local == inside && ref != "" && (inside != "guid" || fetchable(ref)) {
				n++
				r.add(Link{URL: resolve(ref, r.base), Kind: Entry})
			}
			inside = ""
			text.Reset()
		}
	}
}

// feedReference returns the address in the attributes of an element of a feed.
func feedReference(t xml.StartElement) string {
	want := map[string]string{"link": "href", "enclosure": "url", "content": "src"}[t.Name.Local]
	if want == "" {
		return ""
	}
	rel, ref := "", ""
	for _, a := range t.Attr {
		switch a.Name.Local {
		case want:
			ref = a.Value
		case "rel":
			rel = a.Value
		}
	}
	if rel == "self" || rel == "edit" || rel == "hub" {
		return ""
	}
	return ref
}
