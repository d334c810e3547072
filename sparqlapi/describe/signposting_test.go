package describe

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"testing"
)

// The rules of the FAIR Signposting Profile (https://signposting.org/FAIR/, 2 October 2023), read anew: a reader of the
// field Link (RFC 8288) and of sets of links (RFC 9264) that shares nothing with what writes them.

// linkField is a value of the field Link, as far as signposting needs it.
var linkField = regexp.MustCompile(`^<([^<>"{}|\\^\x60\x00-\x20\x7f-\xff]+)>((?:; [a-z]+="[^"\x00-\x1f\x7f-\xff]*")*)$`)

var linkParameter = regexp.MustCompile(`; ([a-z]+)="([^"]*)"`)

// goal is the target of a link.
type goal struct{ href, mediaType string }

// targets reads the links of a header by relation type.
func targets(t *testing.T, values []string) map[string][]goal {
	t.Helper()
	all := map[string][]goal{}
	for _, value := range values {
		m := linkField.FindStringSubmatch(value)
		if m == nil {
			t.Errorf("not a link: %s", value)
			continue
		}
		if u, err := url.Parse(m[1]); err != nil || !u.IsAbs() {
			t.Errorf("not the absolute address of a target: %s", value)
		}
		to, rel := goal{href: m[1]}, ""
		for _, p := range linkParameter.FindAllStringSubmatch(m[2], -1) {
			switch p[1] {
			case "rel":
				rel = p[2]
			case "type":
				to.mediaType = p[2]
			}
		}
		if rel == "" {
			t.Errorf("no relation: %s", value)
		}
		all[rel] = append(all[rel], to)
	}
	return all
}

func relations(t *testing.T, values []string) (list []string) {
	for rel := range targets(t, values) {
		list = append(list, rel)
	}
	slices.Sort(list)
	return list
}

func headerOf(links []CitationLink) (values []string) {
	for _, l := range links {
		values = append(values, l.Header())
	}
	return values
}

// landing checks the links of a landing page.
func landing(t *testing.T, links map[string][]goal, files bool) {
	t.Helper()
	if len(links["cite-as"]) != 1 {
		t.Errorf("cite-as: %v", links["cite-as"])
	}
	about := slices.ContainsFunc(links["type"], func(l goal) bool { return l.href == "https://schema.org/AboutPage" })
	if len(links["type"]) != 2 || !about {
		t.Errorf("type: %v, want that of the page and that of the object", links["type"])
	}
	if len(links["describedby"]) == 0 || files != (len(links["item"]) > 0) || len(links["license"]) > 1 {
		t.Errorf("%v", links)
	}
	for _, rel := range []string{"describedby", "linkset"} {
		for _, l := range links[rel] {
			if l.mediaType == "" {
				t.Errorf("%s without a media type: %v", rel, l)
			}
		}
	}
}

func TestLinksKeepTheRulesOfSignposting(t *testing.T) {
	t.Parallel()
	c := collector()
	version, err := c.Version(t.Context(), id+"_2")
	if err != nil {
		t.Fatal(err)
	}
	file, err := c.Dataset(t.Context(), link)
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]Work{"version": version, "file": file} {
		t.Run(name, func(t *testing.T) {
			page := targets(t, headerOf(w.Links()))
			landing(t, page, w.Version >= 0)
			if len(page["linkset"]) != 1 {
				t.Errorf("sets of links: %v", page["linkset"])
			}
			back := targets(t, headerOf(w.describing())) // of each description
			if len(back["describes"]) != 1 || back["describes"][0].href != page["cite-as"][0].href || len(back["item"]) > 0 {
				t.Errorf("a description has %v", back)
			}
			text, err := w.linkset()
			if err != nil {
				t.Fatal(err)
			}
			var set struct {
				Linkset []map[string]json.RawMessage `json:"linkset"`
			}
			if err := json.Unmarshal(text, &set); err != nil {
				t.Fatal(err)
			}
			leadBack := map[string]string{}
			for i, context := range set.Linkset {
				var anchor string
				if err := json.Unmarshal(context["anchor"], &anchor); err != nil {
					t.Fatal(err)
				}
				links := map[string][]goal{}
				for rel, raw := range context {
					var list []struct{ Href, Type string }
					if rel == "anchor" {
						continue
					}
					if err := json.Unmarshal(raw, &list); err != nil {
						t.Fatalf("%s: %v", rel, err)
					}
					for _, l := range list {
						links[rel] = append(links[rel], goal{l.Href, l.Type})
					}
				}
				if i == 0 {
					landing(t, links, w.Version >= 0)
					for _, rel := range []string{"cite-as", "type", "describedby", "item", "license", "author"} {
						if !slices.Equal(links[rel], page[rel]) {
							t.Errorf("%s of the set %v, of the header %v", rel, links[rel], page[rel])
						}
					}
					continue
				}
				for rel, list := range links {
					leadBack[anchor] = fmt.Sprint(rel, " ", list[0].href)
				}
			}
			for rel, want := range map[string]string{"item": "collection", "describedby": "describes"} {
				for _, l := range page[rel] {
					if got := leadBack[l.href]; got != want+" "+w.IRI {
						t.Errorf("%s %s leads back by %q", rel, l.href, got)
					}
				}
			}
		})
	}
}
