package webgraph

import (
	"bytes"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// Page has the description, the links and the text of a web page.
type Page struct {
	Title string
	Base  string // href of <base>, as written
	Metas []Meta
	Head  []Link // <link> elements
	Links []Link // all other references, in order
	Text  string // visible text, a line for each block
}

// Meta is a <meta> element.
type Meta struct {
	Name    string `json:"name,omitempty"`
	Content string `json:"content"`
}

// Link is a reference. Path is the element and its attribute, as in WAT files: "A@/href".
type Link struct {
	Path string `json:"path"`
	URL  string `json:"url"`
	Text string `json:"text,omitempty"`
	Rel  string `json:"rel,omitempty"`
}

// Bounds of what is kept of one page.
const (
	maxPage  = 16 << 20 // bytes that are read
	maxLinks = 50_000
	maxWords = 512     // bytes of a title or the text of a link
	maxText  = 8 << 20 // bytes
)

// references has the attributes with addresses, by element.
var references = map[atom.Atom]string{
	atom.A: "href", atom.Area: "href", atom.Img: "src", atom.Script: "src", atom.Iframe: "src", atom.Frame: "src", atom.Embed: "src",
	atom.Source: "src", atom.Video: "src", atom.Audio: "src", atom.Form: "action", atom.Object: "data", atom.Link: "href",
}

// blocks has the elements that begin and end a line of text.
var blocks = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Br: true, atom.Li: true, atom.Tr: true, atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true,
	atom.H5: true, atom.H6: true,
	atom.Section: true, atom.Article: true, atom.Header: true, atom.Footer: true, atom.Ul: true, atom.Ol: true, atom.Table: true,
	atom.Blockquote: true, atom.Pre: true, atom.Title: true, atom.Option: true, atom.Dd: true, atom.Dt: true,
}

// ParsePage parses a web page, of which it reads at most 16 MiB. contentType is the page's Content-Type field.
func ParsePage(body io.Reader, contentType string) (Page, error) {
	raw, err := io.ReadAll(io.LimitReader(body, maxPage))
	if err != nil && len(raw) == 0 {
		return Page{}, err
	}
	encoding, _, _ := charset.DetermineEncoding(raw[:min(len(raw), 1024)], contentType)
	p := &parser{}
	p.parse(html.NewTokenizer(encoding.NewDecoder().Reader(bytes.NewReader(raw))))
	p.endLine()
	p.Title, p.Text = p.title.String(), p.text.String()
	return p.Page, nil
}

type parser struct {
	Page
	title, text strings.Builder
	line        []string // words of the current line
	hidden      atom.Atom
	inTitle     bool
	link        int // 1 + position in Links of the <a> that is open
}

func (p *parser) parse(z *html.Tokenizer) {
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			p.addText(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			p.start(z.Token())
		case html.EndTagToken:
			name, _ := z.TagName()
			p.end(atom.Lookup(name))
		}
	}
}

func (p *parser) start(t html.Token) {
	attribute := map[string]string{}
	for _, a := range t.Attr {
		if _, twice := attribute[a.Key]; !twice {
			attribute[a.Key] = a.Val
		}
	}
	switch t.DataAtom {
	case atom.Base:
		if p.Base == "" {
			p.Base = attribute["href"]
		}
	case atom.Meta:
		if name := attribute["name"] + attribute["property"] + attribute["http-equiv"]; name != "" && len(p.Metas) < maxLinks {
			p.Metas = append(p.Metas, Meta{cut(name), cut(attribute["content"])})
		}
	case atom.Title:
		p.inTitle = p.title.Len() == 0
	case atom.Script, atom.Style, atom.Noscript, atom.Template:
		if t.Type == html.StartTagToken {
			p.hidden = t.DataAtom
		}
	}
	if blocks[t.DataAtom] {
		p.endLine()
	}
	name := references[t.DataAtom]
	address, ok := attribute[name]
	if name == "" || !ok || len(p.Links)+len(p.Head) >= maxLinks {
		return
	}
	link := Link{Path: strings.ToUpper(t.Data) + "@/" + name, URL: strings.TrimSpace(address), Rel: attribute["rel"]}
	if t.DataAtom == atom.Link {
		p.Head = append(p.Head, link)
		return
	}
	p.Links = append(p.Links, link)
	if t.DataAtom == atom.A {
		p.link = len(p.Links)
	}
}

func (p *parser) end(name atom.Atom) {
	switch name {
	case p.hidden:
		p.hidden = 0
	case atom.Title:
		p.inTitle = false
	case atom.A:
		p.link = 0
	}
	if blocks[name] {
		p.endLine()
	}
}

func (p *parser) addText(s string) {
	if p.hidden != 0 {
		return
	}
	words := strings.Fields(s)
	if p.inTitle {
		if p.title.Len() < maxWords {
			p.title.WriteString(cut(strings.Join(words, " ")))
		}
		return
	}
	if p.link > 0 && len(words) > 0 {
		l := &p.Links[p.link-1]
		l.Text = cut(strings.TrimSpace(l.Text + " " + strings.Join(words, " ")))
	}
	p.line = append(p.line, words...)
}

func (p *parser) endLine() {
	if len(p.line) > 0 && p.text.Len() < maxText {
		p.text.WriteString(strings.Join(p.line, " "))
		p.text.WriteByte('\n')
	}
	p.line = p.line[:0]
}

// cut bounds a text.
func cut(s string) string {
	if len(s) > maxWords {
		s = s[:maxWords]
	}
	return strings.ToValidUTF8(s, "")
}

// Targets returns the absolute addresses of the links that a person can click at, without fragments and duplicates.
func Targets(page, base string, links []Link) []string {
	from, err := url.Parse(page)
	if err != nil {
		return nil
	}
	if b, err := from.Parse(strings.TrimSpace(base)); err == nil && base != "" {
		from = b
	}
	var targets []string
	seen := map[string]bool{}
	for _, l := range links {
		if l.Path != "A@/href" && l.Path != "AREA@/href" {
			continue
		}
		to, err := from.Parse(strings.Map(dropBreaks, strings.TrimSpace(l.URL)))
		if err != nil || (to.Scheme != "http" && to.Scheme != "https") || to.Host == "" {
			continue
		}
		to.Fragment, to.RawFragment = "", ""
		if s := oneWord(to.String()); !seen[s] {
			seen[s] = true
			targets = append(targets, s)
		}
	}
	return targets
}

// dropBreaks removes the characters that browsers remove from addresses.
func dropBreaks(r rune) rune {
	if r == '\n' || r == '\r' || r == '\t' {
		return -1
	}
	return r
}

// oneWord percent-encodes white space.
func oneWord(s string) string {
	return strings.NewReplacer(" ", "%20", "\t", "%09", "\n", "%0A", "\r", "%0D").Replace(s)
}
