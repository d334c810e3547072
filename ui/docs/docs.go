// Package docs is the documentation of the program: Markdown pages that read well on a code host, served at /docs and
// printed by `odarchive docs`.
//
// README.md is the table of contents. Its headings are the groups and its links the pages, in their order; the links of
// a listed page to pages in the folder of its name follow it (reference/commands.md and reference/commands/). Documents
// that stand beside the code, such as formats on disk, are pages below source/.
//
// Links between pages are relative paths of files, so that they work on a code host. In HTML they lead to the served
// pages; a link to a file that the program does not contain becomes plain text. Raw HTML is left out.
package docs

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"

	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/triplestore"
)

//go:embed *.md */*.md */*/*.md pictures
var files embed.FS

// folder is the path of this package in the repository. Paths of files are relative to the repository.
const folder = "ui/docs"

// Page is a document. Fields must not be changed.
type Page struct {
	Path     string // below /docs/: "" for the table of contents, "howto/backup"
	File     string // in the repository: "ui/docs/howto/backup.md"
	Group    string // heading in the table of contents; "" for that itself and documents beside the code
	Parent   string // Path of the page whose folder this one is in; "" for none
	Title    string
	About    string // first paragraph, as text
	Source   string // Markdown
	HTML     template.HTML
	Sections []Section
}

// Section is a part of a page below one heading. The first one is below the title.
type Section struct {
	ID    string // of the heading, as code hosts form it
	Title string
	Level int
	text  string // without markup
	lower string // text in lower case, for the search
}

// Group is a heading of the table of contents with its pages.
type Group struct {
	Name  string
	Pages []*Page // children follow their parents
}

// Library is all documentation. Its methods may be called concurrently.
type Library struct {
	Groups []Group
	pages  map[string]*Page // by Path
	byFile map[string]*Page
	order  []*Page // as in the table of contents; documents beside the code are last
}

// New reads every page. It fails only in a broken build.
func New() (*Library, error) {
	l := &Library{pages: map[string]*Page{}, byFile: map[string]*Page{}}
	for _, tree := range []struct {
		at    string
		files fs.FS
	}{{folder, files}, {"crawler", crawler.Documents()}, {"triplestore", triplestore.Documents()}} {
		if err := l.add(tree.at, tree.files); err != nil {
			return nil, fmt.Errorf("docs: %w", err)
		}
	}
	if err := l.arrange(); err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	for _, p := range l.order {
		if err := l.render(p); err != nil {
			return nil, fmt.Errorf("docs: %s: %w", p.File, err)
		}
	}
	return l, nil
}

// add adds the Markdown files of a tree that is at a path of the repository.
func (l *Library) add(at string, tree fs.FS) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		raw, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		p := &Page{File: path.Join(at, name), Source: string(raw)}
		p.Path = strings.TrimSuffix(name, ".md")
		switch {
		case at != folder:
			p.Path = "source/" + at + "/" + p.Path
		case p.Path == "README":
			p.Path = ""
		}
		l.pages[p.Path], l.byFile[p.File] = p, p
		return nil
	})
}

// arrange finds out the order of the pages from the links of the table of contents.
func (l *Library) arrange() error {
	contents, ok := l.pages[""]
	if !ok {
		return fmt.Errorf("there is no README.md")
	}
	l.order = []*Page{contents}
	for _, link := range outline(contents) {
		p := l.byFile[link.file]
		if p == nil || p == contents || p.Group != "" || !strings.HasPrefix(p.File, folder) {
			continue
		}
		if n := len(l.Groups); n == 0 || l.Groups[n-1].Name != link.group {
			l.Groups = append(l.Groups, Group{Name: link.group})
		}
		group := &l.Groups[len(l.Groups)-1]
		put := func(p *Page, parent string) {
			p.Group, p.Parent = link.group, parent
			group.Pages, l.order = append(group.Pages, p), append(l.order, p)
		}
		put(p, "")
		for _, child := range outline(p) {
			c := l.byFile[child.file]
			if c != nil && c.Group == "" && path.Dir(c.Path) == p.Path {
				put(c, p.Path)
			}
		}
	}
	var rest []*Page
	for _, p := range l.pages {
		if p.Group == "" && p != contents {
			rest = append(rest, p)
		}
	}
	slices.SortFunc(rest, func(a, b *Page) int { return strings.Compare(a.Path, b.Path) })
	l.order = append(l.order, rest...)
	return nil
}

// Pages returns all pages in the order of the table of contents, which is the first. Documents beside the code are
// last.
func (l *Library) Pages() []*Page { return slices.Clone(l.order) }

// Page returns the page at a path below /docs/, or nil.
func (l *Library) Page(at string) *Page { return l.pages[at] }

// Around returns the pages before and after a page; nil before the first and after the last.
func (l *Library) Around(p *Page) (before, after *Page) {
	i := slices.Index(l.order, p)
	if i < 0 || p.Group == "" && p.Path != "" {
		return nil, nil
	}
	if i > 0 {
		before = l.order[i-1]
	}
	if i+1 < len(l.order) && l.order[i+1].Group != "" {
		after = l.order[i+1]
	}
	return before, after
}

// Topic returns the page that a person means by a word: a path, or the last part of one. Nil if no page, or more than
// one, is meant.
func (l *Library) Topic(word string) *Page {
	word = strings.Trim(strings.TrimSuffix(strings.ToLower(word), ".md"), "/")
	var found []*Page
	for _, p := range l.order {
		switch {
		case strings.EqualFold(p.Path, word):
			return p
		case strings.EqualFold(path.Base(p.Path), word):
			found = append(found, p)
		}
	}
	if len(found) == 0 || len(found) > 1 && found[0].Group == "" {
		return nil
	}
	return found[0]
}

// Hint asks whether a topic was meant that exists, for a word of which there is none; "" if no topic is much like it.
func (l *Library) Hint(word string) string {
	var names []string
	for _, p := range l.order {
		if p.Group != "" {
			names = append(names, p.Path, path.Base(p.Path))
		}
	}
	return catalog.Hint(word, names)
}

// Picture returns the bytes of a file in pictures.
func Picture(name string) ([]byte, error) { return files.ReadFile("pictures/" + name) }
