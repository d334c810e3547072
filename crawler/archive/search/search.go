package archive

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/archive/wordindex"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

const (
	maxFacet     = 50 // values of one facet that an answer lists
	maxAsked     = 12 // words of a question that are looked up
	maxFound     = 500
	defaultFound = 25
	maxNames     = 4 // column names told of one resource
)

// Search finds resources. Words come from the index in the database, what narrows, sorts and counts from the facts in
// memory; records are read of the resources on the page alone.
func (a *Archive) Search(ctx context.Context, s catalog.Search) (catalog.Found, error) {
	if err := a.Load(ctx); err != nil {
		return catalog.Found{}, fmt.Errorf("archive: search: %w", err)
	}
	if s.Limit <= 0 {
		s.Limit = defaultFound
	}
	s.Limit = min(s.Limit, maxFound)
	q, err := a.question(ctx, s)
	if err != nil {
		return catalog.Found{}, fmt.Errorf("archive: search: %w", err)
	}
	found, docs := a.facts.answer(q)
	if err := ctx.Err(); err != nil {
		return catalog.Found{}, err
	}
	return found, a.fill(ctx, &found, docs, q.words)
}

// question is a search with its words looked up.
type question struct {
	catalog.Search
	words  []asked
	none   bool          // a text without a word finds nothing
	only   wordindex.Set // resources of the dataset; nil where any will do
	named  uint32        // the document whose address the text is
	isName bool
	mark   place
	isNext bool // mark is the last of the page before
}

// asked is one word of a question and the documents that have it.
type asked struct {
	word    string
	hits    []hit
	all     wordindex.Set
	portals map[string]bool // whose title or address has the word
}

type hit struct {
	docs  wordindex.Set
	score int
}

// What a word in a place is worth, found whole and as a beginning.
var worth = []struct {
	field            wordindex.Field
	exact, beginning int
}{{fieldTitle, 8, 5}, {fieldAddress, 3, 2}, {fieldColumn, 2, 1}}

const (
	worthPortal = 2
	worthName   = 1000 // the text is the address of the resource
)

func (a *Archive) question(ctx context.Context, s catalog.Search) (question, error) {
	q := question{Search: s}
	q.mark, q.isNext = parsePlace(s.After)
	err := a.db.View(func(txn *kv.Txn) error {
		t := tables{txn: txn}
		text := strings.TrimSpace(s.Text)
		if text != "" {
			q.named, q.isName = t.docOfURL(text)
		}
		words := wordindex.Words(readable(text), maxAsked, false)
		q.none = len(words) == 0 && text != ""
		portals, err := t.portalWords(ctx, len(words) > 0)
		if err != nil {
			return err
		}
		for _, w := range words {
			one, err := t.ask(ctx, w, portals)
			if err != nil {
				return err
			}
			q.words = append(q.words, one)
		}
		if s.Dataset == "" {
			return nil
		}
		q.only = wordindex.Set{}
		prefix := key(tableByDataset, s.Dataset, "")
		return t.scan(ctx, prefix, nil, func(k, _ []byte) (bool, error) {
			id, ok := behind(k, prefix)
			if doc, known := t.docOfURL(id); ok && known {
				q.only.Put(doc)
			}
			return true, nil
		})
	})
	return q, err
}

// portalWords are the words of the titles and addresses of portals.
func (t tables) portalWords(ctx context.Context, asked bool) (map[string][]string, error) {
	portals := map[string][]string{}
	if !asked {
		return portals, nil
	}
	err := t.counts(ctx, countPortal, func(iri string, n tally) error {
		portals[iri] = wordindex.Words(n.Title+"\n"+readable(iri), maxWords, true)
		return nil
	})
	return portals, err
}

func (t tables) ask(ctx context.Context, word string, portals map[string][]string) (asked, error) {
	one := asked{word: word, portals: map[string]bool{}}
	for _, w := range worth {
		exact, beginning, _, err := wordindex.Find(ctx, t.txn, w.field, word)
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

// fill reads the records of a page, the titles of portals, and the names of columns in which a word was found.
func (a *Archive) fill(ctx context.Context, found *catalog.Found, docs []uint32, words []asked) error {
	found.Resources = make([]catalog.Resource, 0, len(docs))
	return a.view(func(t tables) error {
		for i, p := range found.Portals {
			n, err := t.counted(countPortal, p.Key)
			if err != nil {
				return err
			}
			found.Portals[i].Label = n.Title
		}
		for _, doc := range docs {
			raw, ok, err := t.txn.Get(kv.SpaceSearch, rowKey(doc))
			if err != nil {
				return err
			}
			row, sound := decodeRow(raw)
			if !ok || !sound {
				return fmt.Errorf("archive: search index: row %d is damaged", doc)
			}
			r, known, err := t.resource(row.ID)
			if err != nil || !known {
				return orNotFound(err, "resource", row.ID)
			}
			found.Resources = append(found.Resources, r.Resource)
			names, err := t.columnsFound(r.Resource, doc, words)
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

// columnsFound names the columns that hold a word of the question.
func (t tables) columnsFound(r catalog.Resource, doc uint32, words []asked) (list []string, err error) {
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
	in, err := t.inside(latestID(r))
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

func latestID(r catalog.Resource) string { return ns.VersionID(r.ID, r.Versions-1) }
