package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"odarchive/crawler/catalog"
)

// said writes a query down for a comparison.
func (q query) said() string {
	var b strings.Builder
	one := func(c clause) string {
		s := strings.Join(c.words, "+")
		if c.phrase {
			s = `"` + s + `"`
		}
		if c.fields != nil {
			s = fmt.Sprintf("%c:%s", c.fields[0], s)
		}
		return s
	}
	for _, alternatives := range q.must {
		var list []string
		for _, c := range alternatives {
			list = append(list, one(c))
		}
		fmt.Fprintf(&b, "%s ", strings.Join(list, "|"))
	}
	for _, c := range q.not {
		fmt.Fprintf(&b, "-%s ", one(c))
	}
	for _, f := range q.filters {
		fmt.Fprintf(&b, "{%s %s %v %v} ", f.key, f.value, f.whole, f.not)
	}
	return strings.TrimSpace(b.String())
}

func TestTheLanguageOfSearches(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "",
		"Wien Bäume":                          "wien baume",
		`"Stadt Wien" linz`:                   `"stadt+wien" linz`,
		`"eins eins"`:                         `"eins+eins"`,
		"wien OR graz linz":                   "wien|graz linz",
		"wien OR graz OR linz":                "wien|graz|linz",
		"OR wien OR":                          "wien",
		"wien AND graz":                       "wien graz",
		"wien or graz":                        "wien or graz",
		"-wien graz -\"stadt linz\"":          `graz -wien -"stadt+linz"`,
		"wien NOT graz":                       "wien -graz",
		"co2-ausstoß":                         "co2 ausstoss",
		"-co2-ausstoß":                        "-co2+ausstoss",
		"a – b - c":                           "a b c",
		"title:wien publisher:\"Stadt Linz\"": `T:wien P:"stadt+linz"`,
		"type:csv -type:pdf":                  "{type csv false false} {type pdf false true}",
		`publisher="Stadt Wien"`:              "{publisher Stadt Wien true false}",
		"since:2026-10 size:>1MB rows:1..9":   "{since 2026-10 false false} {size >1MB false false} {rows 1..9 false false}",
		"http://a.example/b.csv":              "a example b csv",
		"Titel:Wien 12:30 foo:bar":            "T:wien 12 30 foo bar",
		`"open wien`:                          "open wien",
		`type: csv`:                           "type csv",
		`title:"" x`:                          "x",
		"\x00\u202ewien\u202c \ufffd":         "wien",
		".*(a|b)+[c]{2}$ \\d":                 "a b c 2 d",
		"空気 質":                                "空気 質",
		`portal=http://p.example/?a=1`:        "{portal http://p.example/?a=1 true false}",
		"!wien +graz":                         "graz -wien",
	} {
		q, err := parseQuery(text)
		if got := q.said(); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		strings.Repeat("a", 100<<10): "2000 characters",
		strings.Repeat("a OR ", 300): "at most 32",
		"since:yesterday":            "not a date",
		"size:big":                   "not a range",
		"rows:>1e99":                 "not a range",
		"gone:perhaps":               "gone:yes",
	} {
		_, err := parseQuery(text)
		var bad *catalog.QuestionError
		if !errors.As(err, &bad) || !errors.Is(err, catalog.ErrQuestion) || !strings.Contains(bad.Why, want) || len(bad.Why) > 300 {
			t.Errorf("%.30q: %v", text, err)
		}
	}
}

func TestASearchIsOneText(t *testing.T) {
	t.Parallel()
	s := catalog.Search{Text: " wien -graz", Type: "text/csv", Portal: "http://p.example/", Licence: "CC-BY", Publisher: `Stadt "Wien"`,
		Since:  time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC),
		Before: time.Date(2026, 10, 2, 3, 4, 5, 0, time.UTC), Size: catalog.Range{Least: 5}, Rows: catalog.Range{Least: 1, Most: 9}}
	text := Text(s)
	if want := `wien -graz type=text/csv portal=http://p.example/ licence=CC-BY publisher="Stadt  Wien " since:2026-10-01 ` +
		`before:2026-10-02T03:04:05Z size:5.. rows:1..9`; text != want {
		t.Errorf("text %s\nwant %s", text, want)
	}
	q, err := parseQuery(text)
	if err != nil || len(q.filters) != 8 || len(q.must) != 1 || len(q.not) != 1 {
		t.Errorf("read again: %s, %v", q.said(), err)
	}
}

func TestMisspeltWordsAndCompounds(t *testing.T) {
	t.Parallel()
	vocabulary := []string{"arbeitslosenquote", "baum", "baume", "baumkataster", "bevolkerung", "department", "hauser", "haus", "kataster",
		"luft", "luftgute", "park", "parkplatz", "stadt", "stadtluft", "wien"}
	vocabulary = append([]string{}, vocabulary...)
	for word, want := range map[string]string{"bevolkerugn": "bevolkerung", "arbeitslosenqoute": "arbeitslosenquote", "wein": "wien",
		"parc": "park", "wie": "", "zzzzzz": "", "luftgutte": "luftgute"} {
		if got := strings.Join(correctionsOf(vocabulary, word), " "); got != want {
			t.Errorf("%s may mean %q, want %q", word, got, want)
		}
	}
	sorted := append([]string{}, vocabulary...)
	slices.Sort(sorted)
	for word, want := range map[string]string{"luft": "stadtluft", "kataster": "baumkataster", "platz": "parkplatz", "part": "",
		"gute": "luftgute"} {
		if got := strings.Join(compoundsOf(sorted, word), " "); got != want {
			t.Errorf("%s is in %q, want %q", word, got, want)
		}
	}
	for word, want := range map[string]string{"Bäume": "baum", "Häuser": "haus", "Baum": "baume"} {
		folded := map[string]string{"Bäume": "baume", "Häuser": "hauser", "Baum": "baum"}[word]
		if got := strings.Join(formsOf(sorted, folded, stems(word)), " "); got != want {
			t.Errorf("forms of %s: %q, want %q", word, got, want)
		}
	}
	if a, b, ok := partsOf(sorted, "parkluft"); !ok || a != "park" || b != "luft" {
		t.Errorf("parts: %s %s %v", a, b, ok)
	}
	if got := strings.Join(spellings("Bäume", "baume"), " ") + strings.Join(spellings("baeume", "baeume"), " "); got != "baeumebaume" {
		t.Errorf("spellings %q", got)
	}
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{`a OR "b c" -d title:e since:30d size:>1MB`, "\x00\u202e \"", "-\"", "type:", `publisher="`, "NOT NOT a",
		strings.Repeat("OR ", 50), "rows:..", "since:9999999999999y", "size:>-1", "+", "-", "+\"", "NOT +"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := parseQuery(text)
		if err != nil {
			if !errors.Is(err, catalog.ErrQuestion) || !utf8.ValidString(err.Error()) {
				t.Fatal(err)
			}
			return
		}
		n := len(q.not) + len(q.filters)
		for _, alternatives := range q.must {
			if len(alternatives) == 0 {
				t.Fatal("a part without alternatives")
			}
			n += len(alternatives)
		}
		if n > maxParts*maxParts {
			t.Fatalf("%d parts", n)
		}
		for _, s := range []string{Text(catalog.Search{Text: text}), Text(catalog.Search{Publisher: text, Portal: text})} {
			if !strings.ContainsRune(text, '"') && !strings.Contains(text, "NOT") && len(s) < maxText {
				if _, err := parseQuery(s); err != nil {
					t.Fatalf("%q: %v", s, err)
				}
			}
		}
		for _, p := range Pieces(text, []string{"a", "bc"}) {
			if p.Text == "" {
				t.Fatal("an empty piece")
			}
		}
		around(text, []string{"a"})
	})
}
