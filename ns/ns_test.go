package ns

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"odarchive/vocab"

	"pgregory.net/rapid"
)

func TestParseReadsBackWhatMintMade(t *testing.T) {
	t.Parallel()
	m, err := New("https://archive.example.org/odarchive")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		id := VersionID(ResourceID(rapid.String().Draw(t, "key")), rapid.IntRange(0, 1e6).Draw(t, "n"))
		url := "http://" + rapid.StringMatching(`[a-z]{1,9}\.example(/[a-z?=&%/#]{0,20})?`).Draw(t, "url")
		path := rapid.StringMatching(`[a-zé %#?]{1,9}(/[a-z.%]{1,9}){0,2}`).Draw(t, "path")
		column := rapid.IntRange(1, 5000).Draw(t, "column")
		for iri, want := range map[string]Ref{
			m.Version(id):         {Kind: KindVersion, ID: id},
			m.Column(id, column):  {Kind: KindColumn, ID: id, Column: column},
			m.Member(id, path):    {Kind: KindMember, ID: id, Path: path},
			m.Activity(id):        {Kind: KindActivity, ID: id},
			m.Graph(url):          {Kind: KindGraph, URL: url},
			m.TimeMap(url):        {Kind: KindTimeMap, URL: url},
			m.TimeMapJSON(url):    {Kind: KindTimeMap, URL: url},
			m.TimeGate(url):       {Kind: KindTimeGate, URL: url},
			m.Agent():             {Kind: KindAgent},
			m.WARC("a b.warc.gz"): {Kind: KindWARC, URL: "a%20b.warc.gz"},
			m.Event(7):            {Kind: KindEvent, ID: "7"},
		} {
			if got, ok := m.Parse(iri); !ok || got != want {
				t.Fatalf("Parse(%q) = %+v, %v; want %+v", iri, got, ok, want)
			}
		}
	})
}

func TestIRIsBelowFormerBasesAreParsedAndMoved(t *testing.T) {
	t.Parallel()
	m := Mint{Base: "https://new.example/",
		Former: []string{"http://old.example/", "http://old.example/graph/", "https://new.example/archive/"}}
	const id = "0123456789abcdef01234567_0"
	for _, base := range append([]string{m.Base}, m.Former...) {
		before := Mint{Base: base}
		for _, iri := range []string{before.Version(id), before.Column(id, 2), before.Member(id, "a/b.csv"), before.Activity("x"),
			before.Agent()} {
			ref, ok := m.Parse(iri)
			if own, _ := before.Parse(iri); !ok || ref != own {
				t.Errorf("Parse(%q) = %+v, %v", iri, ref, ok)
			}
			want := "http://next.example/" + strings.TrimPrefix(iri, base)
			if got := m.Moved(iri, "http://next.example/"); got != want {
				t.Errorf("Moved(%q) = %q, want %q", iri, got, want)
			}
			if all := m.Aliases(iri); len(all) != 4 || !strings.HasPrefix(all[0], m.Base) || !slices.Contains(all, iri) {
				t.Errorf("Aliases(%q) = %q", iri, all)
			}
		}
	}
	if got := m.Moved("http://old.example/trees.csv", "http://next.example/"); got != "http://old.example/trees.csv" {
		t.Errorf("a stranger's address was moved to %s", got)
	}
}

func TestParseRefusesWhatWasNotMinted(t *testing.T) {
	t.Parallel()
	m := Mint{Base: "http://localhost:8080/"}
	for _, iri := range []string{
		"", "http://localhost:8080/", "http://localhost:8081/api/v1/get/file/id/0123456789abcdef01234567_0",
		"http://localhost:8080/api/v1/get/file/id/0123456789abcdef01234567",
		"http://localhost:8080/api/v1/get/file/id/0123456789abcdef01234567_-1",
		"http://localhost:8080/api/v1/get/file/id/0123456789ABCDEF01234567_0",
		"http://localhost:8080/api/v1/get/file/id/0123456789abcdef01234567_00",
		"http://localhost:8080/api/v1/get/file/id/0123456789abcdef01234567_0#0", "http://localhost:8080/timemap/link/",
	} {
		if ref, ok := m.Parse(iri); ok {
			t.Errorf("Parse(%q) = %+v, want a refusal", iri, ref)
		}
	}
}

func TestABaseThatCannotBeMintedFromIsRefusedByName(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "localhost:8080", "/archive/", "ftp://x/", "http://x/?q=1", "http://a:b@x/"} {
		if _, err := New(base); err == nil || !strings.Contains(err.Error(), base) {
			t.Errorf("New(%q) = %v, want an error that names it", base, err)
		}
	}
}

// The constants of vocab/arc.go and the terms of arc.ttl must be equal.
func TestTheVocabularyDocumentDefinesEveryTermAndNoOther(t *testing.T) {
	t.Parallel()
	var inDocument []string
	for _, m := range regexp.MustCompile(`(?m)^arc:(\w+) a `).FindAllStringSubmatch(Vocabulary, -1) {
		inDocument = append(inDocument, m[1])
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../vocab/arc.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var inCode []string
	ast.Inspect(file, func(n ast.Node) bool {
		if b, ok := n.(*ast.BasicLit); ok && !strings.Contains(b.Value, vocab.ArcNS) {
			inCode = append(inCode, strings.Trim(b.Value, `"`))
		}
		return true
	})
	slices.Sort(inDocument)
	slices.Sort(inCode)
	if !slices.Equal(inDocument, inCode) {
		t.Errorf("arc.ttl defines %v\nvocab/arc.go names%v", inDocument, inCode)
	}
}
