package docs

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	rendered "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown reads CommonMark with tables. Each page has its own, since the renderer counts the tables of one page.
func markdown(p *Page) goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(rendered.WithXHTML(), renderer.WithNodeRenderers(util.Prioritized(&boxes{page: p}, 100))),
	)
}

func parse(p *Page) (ast.Node, []byte) {
	source := []byte(p.Source)
	return markdown(p).Parser().Parse(text.NewReader(source),
		parser.WithContext(parser.NewContext(parser.WithIDs(&slugs{seen: map[string]int{}})))), source
}

// slugs forms the ids of headings as code hosts do: small letters, digits, '-' and '_', with '-' for a space; "-1" and
// so on where an id repeats.
type slugs struct{ seen map[string]int }

func (s *slugs) Generate(heading []byte, _ ast.NodeKind) []byte {
	id := slug(string(heading))
	n := s.seen[id]
	s.seen[id]++
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return []byte(id)
}

func (s *slugs) Put([]byte) {}

func slug(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// outlined is a link in the outline of a page: the heading of level 2 above it, and the file that it leads to.
type outlined struct{ group, file string }

func outline(p *Page) []outlined {
	doc, source := parse(p)
	var links []outlined
	group := ""
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Heading:
			if entering && n.Level == 2 {
				group = plain(n, source)
			}
		case *ast.Link:
			if file, _, ok := p.target(string(n.Destination)); entering && ok {
				links = append(links, outlined{group, file})
			}
		}
		return ast.WalkContinue, nil
	})
	return links
}

// target returns the file of the repository that a link of a page leads to. ok is false for addresses of other kinds.
func (p *Page) target(link string) (file, fragment string, ok bool) {
	link, fragment, _ = strings.Cut(link, "#")
	if strings.Contains(link, ":") || strings.HasPrefix(link, "/") {
		return "", "", false
	}
	if link == "" {
		return p.File, fragment, true
	}
	return path.Join(path.Dir(p.File), link), fragment, true
}

// render fills the fields that come from the text of a page.
func (l *Library) render(p *Page) error {
	doc, source := parse(p)
	if err := l.link(p, doc); err != nil {
		return err
	}
	p.read(doc, source)
	if p.Title == "" {
		return fmt.Errorf("the page has no title")
	}
	var out bytes.Buffer
	if err := markdown(p).Renderer().Render(&out, source, doc); err != nil {
		return err
	}
	p.HTML = template.HTML(out.String()) // of our own pages; the renderer escapes text and leaves raw HTML out
	return nil
}

// link changes the destinations of links and pictures to addresses relative to the served page.
func (l *Library) link(p *Page, doc ast.Node) error {
	var unknown []*ast.Link
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			file, fragment, ok := p.target(string(n.Destination))
			switch to := l.byFile[file]; {
			case !ok:
				n.SetAttributeString("rel", "noreferrer nofollow")
			case to == nil:
				unknown = append(unknown, n)
			default:
				address := relative(p.Path, to.Path)
				if to == p {
					address = ""
				}
				if fragment != "" {
					address += "#" + fragment
				}
				n.Destination = []byte(address)
			}
		case *ast.AutoLink:
			n.SetAttributeString("rel", "noreferrer nofollow")
		case *ast.Image:
			file, _, ok := p.target(string(n.Destination))
			name, ours := strings.CutPrefix(file, folder+"/pictures/")
			if _, err := Picture(name); !ok || !ours || err != nil {
				return ast.WalkStop, fmt.Errorf("there is no picture %s", n.Destination)
			}
			n.Destination = []byte(relative(p.Path, "pictures/"+name))
			n.SetAttributeString("loading", "lazy")
		}
		return ast.WalkContinue, nil
	})
	for _, n := range unknown { // not during the walk, which would lose its place
		parent := n.Parent()
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			n.RemoveChild(n, c)
			parent.InsertBefore(parent, n, c)
		}
		parent.RemoveChild(parent, n)
	}
	return err
}

// relative returns the address of one path below /docs/ as seen from another.
func relative(from, to string) string {
	here := strings.Split(from, "/")
	there := strings.Split(to, "/")
	for len(here) > 1 && len(there) > 1 && here[0] == there[0] {
		here, there = here[1:], there[1:]
	}
	address := strings.Repeat("../", len(here)-1) + strings.Join(there, "/")
	if address == "" {
		return "./"
	}
	return address
}

// read fills Title, About and Sections.
func (p *Page) read(doc ast.Node, source []byte) {
	var body strings.Builder
	finish := func() {
		if n := len(p.Sections); n > 0 {
			s := &p.Sections[n-1]
			s.text = strings.Join(strings.Fields(body.String()), " ")
			s.lower = strings.ToLower(s.text)
		}
		body.Reset()
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, isHeading := n.(*ast.Heading)
		if !isHeading {
			if _, ok := n.(*ast.Paragraph); ok && p.About == "" {
				p.About = strings.Join(strings.Fields(plain(n, source)), " ")
			}
			body.WriteString(plain(n, source))
			body.WriteByte(' ')
			continue
		}
		finish()
		title := plain(h, source)
		if p.Title == "" {
			p.Title = title
		}
		id, _ := h.AttributeString("id")
		raw, _ := id.([]byte)
		p.Sections = append(p.Sections, Section{ID: string(raw), Title: title, Level: h.Level})
	}
	finish()
}

// plain returns the text of a node without markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			if n.Type() == ast.TypeBlock || n.Kind() == tables.KindTableCell {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.URL(source))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.Write(n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// boxes renders tables and code in boxes that scroll by themselves, and can be reached with the keyboard.
type boxes struct {
	page   *Page
	tables int
}

func (b *boxes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(tables.KindTable, b.table)
	r.Register(ast.KindFencedCodeBlock, b.code)
}

func (b *boxes) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, err := w.WriteString("</table></div>\n")
		return ast.WalkContinue, err
	}
	b.tables++
	_, err := fmt.Fprintf(w, `<div class="scroll" tabindex="0" role="region" aria-label="Table %d of %s"><table class="data">`, b.tables,
		html.EscapeString(b.page.Title))
	return ast.WalkContinue, err
}

func (b *boxes) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	class := "code"
	if string(n.(*ast.FencedCodeBlock).Language(source)) == "text" {
		class = "code output"
	}
	_, err := fmt.Fprintf(w, "<pre class=\"%s\" tabindex=\"0\"><code>%s</code></pre>\n", class,
		html.EscapeString(string(n.Lines().Value(source))))
	return ast.WalkContinue, err
}

// Code is a block of code on a page. The first word after its fence is Language, the second Use.
type Code struct{ Language, Use, Text string }

// Code returns the blocks of code of a page, in order.
func (p *Page) Code() []Code {
	doc, source := parse(p)
	var list []Code
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if f, ok := n.(*ast.FencedCodeBlock); ok && entering {
			c := Code{Text: string(f.Lines().Value(source))}
			if f.Info != nil {
				c.Language, c.Use, _ = strings.Cut(string(f.Info.Segment.Value(source)), " ")
			}
			list = append(list, c)
		}
		return ast.WalkContinue, nil
	})
	return list
}
