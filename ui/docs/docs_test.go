package docs

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

func library(t *testing.T) *Library {
	t.Helper()
	l, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Links are followed as a code host does: to files of the repository, and to headings of those that are Markdown.
func TestEveryLinkLeadsToAFileOfTheRepository(t *testing.T) {
	t.Parallel()
	l := library(t)
	for _, p := range l.Pages() {
		doc, _ := parse(p)
		err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			var to string
			switch n := n.(type) {
			case *ast.Link:
				to = string(n.Destination)
			case *ast.Image:
				to = string(n.Destination)
				if len(n.Title) == 0 && plain(n, []byte(p.Source)) == "" {
					t.Errorf("%s: the picture %s has no text for those who do not see it", p.File, to)
				}
			case *ast.RawHTML, *ast.HTMLBlock:
				t.Errorf("%s: raw HTML is left out", p.File)
			}
			if !entering || to == "" {
				return ast.WalkContinue, nil
			}
			file, fragment, ok := p.target(to)
			switch other := l.byFile[file]; {
			case !ok:
				if !strings.HasPrefix(to, "https://") && !strings.HasPrefix(to, "http://localhost:8080/") {
					t.Errorf("%s: %s is neither a file nor an address with https", p.File, to)
				}
			case other != nil && fragment != "":
				if !slices.ContainsFunc(other.Sections, func(s Section) bool { return s.ID == fragment }) {
					t.Errorf("%s: %s has no heading #%s", p.File, file, fragment)
				}
			default:
				if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(file))); err != nil {
					t.Errorf("%s: %s: %v", p.File, to, err)
				}
			}
			return ast.WalkContinue, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryPageIsInTheTableOfContents(t *testing.T) {
	t.Parallel()
	for _, p := range library(t).Pages()[1:] {
		if strings.HasPrefix(p.File, folder) && p.Group == "" {
			t.Errorf("neither README.md nor the page above it links to %s", p.File)
		}
		if len(p.Sections) == 0 || p.Sections[0].Level != 1 {
			t.Errorf("%s does not begin with a title", p.File)
		}
	}
}

func TestPicturesAreSmallAndUsed(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, p := range library(t).Pages() {
		all.WriteString(p.Source)
	}
	entries, err := files.ReadDir("pictures")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Size() > 60<<10 {
			t.Errorf("%s: more than 60 KB, or %v", e.Name(), err)
		}
		if !strings.Contains(all.String(), "pictures/"+e.Name()) {
			t.Errorf("no page shows %s", e.Name())
		}
	}
}

func TestLinksAreRelativeToTheServedPage(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"", "tutorial", "tutorial"}, {"tutorial", "", "./"}, {"howto/backup", "", "../"}, {"howto/backup", "howto/upgrade", "upgrade"},
		{"howto/backup", "reference/commands/serve", "../reference/commands/serve"},
		{"reference/commands/serve", "reference/settings/all", "../settings/all"},
		{"source/crawler/exchange/warc/README", "howto/backup", "../../../../howto/backup"},
		{"reference/commands/serve", "reference/commands", "../commands"},
		{"reference/commands", "reference/commands/serve", "commands/serve"},
	} {
		if got := relative(c[0], c[1]); got != c[2] {
			t.Errorf("from %q to %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestSearchFindsSectionsThatHaveEveryWord(t *testing.T) {
	t.Parallel()
	l := library(t)
	for query, want := range map[string]string{"disk full": "howto/disk-full", "trust-proxy": "howto/proxy",
		"Restore a BACKUP": "howto/backup", "bif:contains": "coming-from/virtuoso"} {
		hits := l.Search(query)
		if !slices.ContainsFunc(hits[:min(len(hits), 5)], func(h Hit) bool { return h.Page.Path == want }) {
			t.Errorf("%q does not find %s", query, want)
		}
	}
	for _, query := range []string{"", "   ", "xyzzyquux", strings.Repeat("é", 500)} {
		if hits := l.Search(query); len(hits) != 0 {
			t.Errorf("%.20q finds %d", query, len(hits))
		}
	}
	if hits := l.Search("the"); len(hits) > maxHits {
		t.Errorf("%d hits", len(hits))
	}
}

func TestATopicIsAPathOrItsLastPart(t *testing.T) {
	t.Parallel()
	l := library(t)
	for word, want := range map[string]string{"tutorial": "tutorial", "howto/backup.md": "howto/backup", "Disk-Full": "howto/disk-full",
		"serve": "reference/commands/serve"} {
		if p := l.Topic(word); p == nil || p.Path != want {
			t.Errorf("%s: %v", word, p)
		}
	}
	for _, word := range []string{"FORMAT", "nothing", "../x"} {
		if p := l.Topic(word); p != nil {
			t.Errorf("%s is %s", word, p.Path)
		}
	}
}

func TestPagesAreReadInTheOrderOfTheTableOfContents(t *testing.T) {
	t.Parallel()
	l := library(t)
	p, n := l.Page(""), 0
	for ; p != nil && n < 1000; n++ {
		before, after := l.Around(p)
		if before == nil && p.Path != "" {
			t.Errorf("nothing is before %s", p.Path)
		}
		p = after
	}
	if want := len(l.Pages()); n >= want || n < want/2 {
		t.Errorf("%d pages in order, of %d", n, want)
	}
	if before, after := l.Around(l.Page("source/crawler/exchange/warc/README")); before != nil || after != nil {
		t.Error("a document beside the code is before or after another")
	}
}

// FuzzSearch looks for queries that make the search fail or answer with text that is not UTF-8.
func FuzzSearch(f *testing.F) {
	l, err := New()
	if err != nil {
		f.Fatal(err)
	}
	f.Add("disk full")
	f.Add("İ\xff é")
	f.Fuzz(func(t *testing.T, query string) {
		for _, h := range l.Search(query) {
			if strings.ToValidUTF8(h.Excerpt, "?") != h.Excerpt || path.IsAbs(h.Page.Path) {
				t.Errorf("%q: %q", query, h.Excerpt)
			}
		}
	})
}

// The page of outcomes has a row for each word that the shapes of the archive's triples allow.
func TestThePageOfOutcomesHasEveryWord(t *testing.T) {
	t.Parallel()
	shapes, err := os.ReadFile("../../ns/shapes.ttl")
	if err != nil {
		t.Fatal(err)
	}
	page := library(t).Page("reference/outcomes").Source
	for _, property := range []string{"arc:outcome", "arc:errorClass"} {
		_, rest, ok := strings.Cut(string(shapes), "sh:path "+property+" ;")
		_, rest, inside := strings.Cut(rest, "sh:in (")
		list, _, closed := strings.Cut(rest, ")")
		if !ok || !inside || !closed {
			t.Fatalf("the shapes say nothing of %s", property)
		}
		for _, word := range strings.Fields(list) {
			if !strings.Contains(page, "\n| `"+strings.Trim(word, `"`)+"` |") {
				t.Errorf("reference/outcomes.md lacks %s", word)
			}
		}
	}
}
