// Package search finds resources: by words, facets and datasets (Search), and by the keys of capture indexes
// (Captures).
//
// The index is derived from the records and changes in the same transactions (Update); Build rebuilds it if it is
// missing. Words are looked up in the database (package wordindex). What narrows, sorts and counts results is in memory
// (facts), so a search reads records only for the page that it returns.
package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/tallies"
	"odarchive/crawler/archive/wordindex"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

const (
	maxFacet    = 50 // values of one facet that an answer lists
	maxAsked    = 12 // words of a question that are looked up
	maxPage     = 500
	defaultPage = 25
	maxNames    = 4 // column names that an answer lists for one resource
)

// Index is the search index of one database. It is safe for concurrent use.
type Index struct {
	db     *kv.DB
	facts  facts
	newest wordindex.Newest // used by the one transaction that writes
}

// New returns the search index of a database.
func New(db *kv.DB) *Index { return &Index{db: db} }

// Search finds resources.
func (x *Index) Search(ctx context.Context, s catalog.Search) (catalog.Found, error) {
	if err := x.Load(ctx); err != nil {
		return catalog.Found{}, fmt.Errorf("archive: search: %w", err)
	}
	if s.Limit <= 0 {
		s.Limit = defaultPage
	}
	s.Limit = min(s.Limit, maxPage)
	q, err := x.question(ctx, s)
	if err != nil {
		return catalog.Found{}, fmt.Errorf("archive: search: %w", err)
	}
	found, docs := x.facts.answer(q)
	if err := ctx.Err(); err != nil {
		return catalog.Found{}, err
	}
	return found, x.readPage(ctx, &found, docs, q.words)
}

// question is a search with its words looked up.
type question struct {
	catalog.Search
	words  []asked
	none   bool          // the text has no word: nothing matches
	only   wordindex.Set // the resources of the dataset; nil: any
	named  uint32        // the document whose address the text is, if isName
	isName bool
	mark   place // the last of the page before, if isNext
	isNext bool
}

// asked is one word of a question and where it was found.
type asked struct {
	word    string
	hits    []hit
	all     wordindex.Set
	portals map[string]bool // portals whose title or address has the word
}

type hit struct {
	docs  wordindex.Set
	score int
}

// worth is what a word in a field scores, found as a whole word and as the beginning of one.
var worth = []struct {
	field            wordindex.Field
	exact, beginning int
}{{fieldTitle, 8, 5}, {fieldAddress, 3, 2}, {fieldColumn, 2, 1}, {fieldDocument, 2, 1}}

const (
	worthPortal = 2
	worthName   = 1000 // the text is the address of the resource
)

// question looks up the words of a search.
func (x *Index) question(ctx context.Context, s catalog.Search) (question, error) {
	q := question{Search: s}
	q.mark, q.isNext = parsePlace(s.After)
	err := records.View(x.db, func(t records.Txn) error {
		text := strings.TrimSpace(s.Text)
		if text != "" {
			q.named, q.isName = documentOfURL(t, text)
		}
		words := wordindex.Words(unescaped(text), maxAsked, false)
		q.none = len(words) == 0 && text != ""
		portals, err := portalWords(ctx, t, len(words) > 0)
		if err != nil {
			return err
		}
		for _, w := range words {
			one, err := ask(ctx, t, w, portals)
			if err != nil {
				return err
			}
			q.words = append(q.words, one)
		}
		if s.Dataset == "" {
			return nil
		}
		q.only = wordindex.Set{}
		return t.OfDataset(ctx, s.Dataset, func(id string) (bool, error) {
			doc, known, err := documentOf(t, id)
			if known {
				q.only.Put(doc)
			}
			return true, err
		})
	})
	return q, err
}

// portalWords returns the words in the titles and addresses of portals, by IRI, if there is anything to ask.
func portalWords(ctx context.Context, t records.Txn, asked bool) (map[string][]string, error) {
	portals := map[string][]string{}
	if !asked {
		return portals, nil
	}
	err := tallies.Each(ctx, t.Txn, tallies.ByPortal, func(iri string, n tallies.Tally) error {
		portals[iri] = wordindex.Words(n.Title+"\n"+unescaped(iri), maxWords, true)
		return nil
	})
	return portals, err
}

// ask looks up one word.
func ask(ctx context.Context, t records.Txn, word string, portals map[string][]string) (asked, error) {
	one := asked{word: word, portals: map[string]bool{}}
	for _, w := range worth {
		exact, beginning, err := wordindex.Find(ctx, t.Txn, w.field, word)
		if err != nil {
			return one, err
		}
		one.hits = append(one.hits, hit{exact, w.exact}, hit{beginning, w.beginning})
		one.all.Union(exact)
		one.all.Union(beginning)
	}
	for iri, words := range portals {
		if slices.ContainsFunc(words, func(w string) bool { return wordindex.Meets(w, word) }) {
			one.portals[iri] = true
		}
	}
	return one, nil
}

// readPage reads the records of a page, the titles of portals, and the names of the columns in which a word was found.
func (x *Index) readPage(ctx context.Context, found *catalog.Found, docs []uint32, words []asked) error {
	found.Resources = make([]catalog.Resource, 0, len(docs))
	return records.View(x.db, func(t records.Txn) error {
		for i, p := range found.Portals {
			n, err := tallies.Get(t.Txn, tallies.ByPortal, p.Key)
			if err != nil {
				return err
			}
			found.Portals[i].Label = n.Title
		}
		for _, doc := range docs {
			raw, ok, err := t.Get(kv.SpaceSearch, rowKey(doc))
			if err != nil {
				return err
			}
			row, sound := decodeRow(raw)
			if !ok || !sound {
				return fmt.Errorf("archive: search index: row %d is damaged", doc)
			}
			r, known, err := t.Resource(row.ID)
			if err != nil || !known {
				return records.OrNotFound(err, "resource", row.ID)
			}
			found.Resources = append(found.Resources, r.Resource)
			names, err := columnsFound(t, r, doc, words)
			if err != nil {
				return err
			}
			if len(names) > 0 {
				if found.Columns == nil {
					found.Columns = map[string][]string{}
				}
				found.Columns[r.ID] = names
			}
		}
		return ctx.Err()
	})
}

// columnsFound returns the names of the columns that contain a word of the question.
func columnsFound(t records.Txn, r records.Resource, doc uint32, words []asked) (list []string, err error) {
	var inColumns []string
	for _, w := range words {
		for i, h := range w.hits {
			if worth[i/2].field == fieldColumn && h.docs.Has(doc) {
				inColumns = append(inColumns, w.word)
				break
			}
		}
	}
	if len(inColumns) == 0 || r.Versions == 0 {
		return nil, nil
	}
	in, err := LatestInside(t, r)
	if err != nil {
		return nil, err
	}
	for name := range columnNames(in) {
		if len(list) < maxNames && !slices.Contains(list, name) && slices.ContainsFunc(inColumns, func(w string) bool { return wordindex.Begins(name, w) }) {
			list = append(list, name)
		}
	}
	return list, nil
}
