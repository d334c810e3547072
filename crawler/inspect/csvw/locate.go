package csvw

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Source is what a conversion starts from.
type Source struct {
	URL      string // of a CSV file, or of a metadata document
	Document bool   // URL is a metadata document
	Metadata string // URL of metadata given by the user, "" if none
	Link     string // Link header of the CSV file
	Type     string // Content-Type of the CSV file
	Load     Load
}

// Locate finds the metadata for a source: given by the user, linked, or at the usual places (Model 5). Without
// metadata, the file's header describes it.
func Locate(s Source) (*Group, error) {
	if s.Document {
		return s.document(s.URL)
	}
	if s.Metadata != "" {
		g, err := s.document(s.Metadata)
		if err != nil {
			return nil, err
		}
		if !g.describes(s.URL) {
			g.Warnings = append(g.Warnings, "the metadata given does not describe "+s.URL)
		}
		return g, nil
	}
	var warnings []string
	candidates := s.wellKnown()
	if l := linked(s.Link); l != "" {
		candidates = append([]string{resolve(s.URL, l)}, candidates...)
	}
	for _, at := range candidates {
		doc, err := s.Load(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: %v", at, err))
			continue
		}
		g, err := Parse(doc, at, s.Load)
		if err != nil {
			return nil, err
		}
		if !g.describes(s.URL) {
			warnings = append(warnings, fmt.Sprintf("%s does not describe %s", at, s.URL))
			continue
		}
		g.Warnings = append(warnings, g.Warnings...)
		return g, nil
	}
	t := &Table{URL: s.URL, Schema: &Schema{}}
	if strings.Contains(strings.ReplaceAll(s.Type, " ", ""), "header=absent") {
		t.Dialect = defaultDialect()
		t.Dialect.HeaderRowCount = 0
	}
	return &Group{Tables: []*Table{t}, Warnings: warnings}, nil
}

func (s Source) document(at string) (*Group, error) {
	doc, err := s.Load(at)
	if err != nil {
		return nil, fmt.Errorf("csvw: load %s: %w", at, err)
	}
	return Parse(doc, at, s.Load)
}

func (g *Group) describes(url string) bool {
	return slices.ContainsFunc(g.Tables, func(t *Table) bool { return t.URL == url })
}

// wellKnown returns where metadata may be, by the site's list or the default one.
func (s Source) wellKnown() []string {
	list := "{+url}-metadata.json\ncsv-metadata.json"
	if doc, err := s.Load(resolve(s.URL, "/.well-known/csvm")); err == nil && len(doc) < 1<<16 {
		list = string(doc)
	}
	var out []string
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); line != "" && len(out) < 20 {
			u := expandTemplate(line, func(string) ([]string, bool) { return []string{s.URL}, true })
			out = append(out, resolve(s.URL, u))
		}
	}
	return out
}

// linked returns the target of a Link header with the relation describedby and a type of metadata.
func linked(header string) string {
	for link := range strings.SplitSeq(header, ",") {
		target, params, ok := strings.Cut(strings.TrimSpace(link), ">")
		if !ok || !strings.HasPrefix(target, "<") || !strings.Contains(params, "describedby") {
			continue
		}
		for _, t := range []string{"application/csvm+json", "application/ld+json", "application/json"} {
			if strings.Contains(params, t) {
				return target[1:]
			}
		}
	}
	return ""
}
