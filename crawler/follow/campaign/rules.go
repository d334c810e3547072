package campaign

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/net/html"

	"odarchive/crawler/follow/links"
	"odarchive/crawler/follow/scrape"
	"odarchive/triplestore/term"
)

// pageRules returns a function that applies the rules of all campaigns to a page: each campaign follows the links that
// its own rules find, and the page's graph gets the statements by the rules of those that keep graphs. It is nil if
// there are no rules. final is the URL that answered.
func (v *Visit) pageRules(final string) func(context.Context, *html.Node) ([]term.Quad, error) {
	if !slices.ContainsFunc(v.in, func(m membership) bool { return m.rules != nil }) {
		return nil
	}
	for i := range v.in {
		v.in[i].ruled = nil
	}
	return func(ctx context.Context, root *html.Node) (quads []term.Quad, err error) {
		for i := range v.in {
			m := &v.in[i]
			if m.rules == nil {
				continue
			}
			found, failure := m.rules.Apply(ctx, root, final)
			if failure == nil && found.More {
				failure = scrape.ErrTooLarge
			}
			err = errors.Join(err, failure)
			m.addRuled(final, found)
			if m.c.Document.Graphs {
				quads = append(quads, found.Quads...)
			}
		}
		return quads, err
	}
}

// addRuled adds the links of what rules found: those that they select, and those that their statements make.
func (m *membership) addRuled(final string, found scrape.Result) {
	for _, to := range found.Links {
		if to != final {
			m.ruled = append(m.ruled, links.Link{URL: to, Kind: links.Rule})
		}
	}
	said, _ := links.Of(final, found.Quads, links.Options{Vocabularies: m.c.Document.Vocabularies})
	m.ruled = append(m.ruled, said...)
}

// withRuled returns the links of a document and those of the campaign's rules, each target once. Of the kinds that a
// target has, it is given one that the campaign follows, if there is any.
func (m *membership) withRuled(all []links.Link) []links.Link {
	if len(m.ruled) == 0 {
		return all
	}
	all = slices.Clone(all)
	at := make(map[string]int, len(all))
	for i, l := range all {
		at[l.URL] = i
	}
	for _, l := range m.ruled {
		i, known := at[l.URL]
		switch {
		case !known && len(all) < 2*links.MaxLinks:
			at[l.URL] = len(all)
			all = append(all, l)
		case known && !m.c.Document.follows(all[i].Kind):
			all[i].Kind = l.Kind
		}
	}
	return all
}
