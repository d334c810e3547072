// Package search finds resources: by words, filters and datasets (Search), and by the keys of capture indexes
// (Captures).
//
// The index is derived from the records and from what portals say. Titles, addresses and names of columns change in the
// transactions that change them (Update); descriptions and contents follow behind them (IndexTexts). Build rebuilds the
// index if it is missing. Words are looked up in the database (package wordindex). What narrows, sorts and counts
// results is in memory (facts), so a search reads records only for the page that it returns, and for phrases.
package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

const (
	maxFacet    = 50 // values of one facet that an answer lists
	maxPage     = 500
	defaultPage = 25
	maxNames    = 4 // column names that an answer lists for one resource
)

// Index is the search index of one database. It is safe for concurrent use.
type Index struct {
	db     *kv.DB
	facts  facts
	newest Newest // used by the one transaction that writes

	indexing  sync.Mutex // of one IndexTexts at a time; guards the next two
	settled   bool       // nothing was marked
	settledAt uint64     // when the database had so many write sets

	newMu sync.Mutex
	new   map[uint64]contents // of versions that IndexTexts has not seen, by the value of their mark

	changes    atomic.Uint64 // commits that changed words
	vocabulary vocabulary
	pack       *zstd.Encoder
	unpack     *zstd.Decoder
}

// New returns the search index of a database.
func New(db *kv.DB) *Index {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(64<<10),
		zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // of the options alone
	}
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxTexts))
	if err != nil {
		panic(err)
	}
	return &Index{db: db, facts: facts{loading: make(chan struct{}, 1)}, pack: pack, unpack: unpack}
}

// Search finds resources. Errors about the text of the search are of type *catalog.QuestionError.
func (x *Index) Search(ctx context.Context, s catalog.Search) (catalog.Found, error) {
	if s.Limit <= 0 {
		s.Limit = defaultPage
	}
	s.Limit = min(s.Limit, maxPage)
	q, found, docs, err := x.ask(ctx, s)
	if err != nil {
		return catalog.Found{}, err
	}
	scores := make([]float64, len(docs))
	ids := make([]uint32, len(docs))
	for i, p := range docs {
		ids[i], scores[i] = p.doc, float64(p.score)/scoreUnit
	}
	return found, x.readPage(ctx, &found, ids, scores, q)
}

// scoreUnit is what a score is multiplied by to be a whole number.
const scoreUnit = 1000

// ask looks up a search and goes through the facts. If a search with words finds nothing, it finds what has most of
// them instead, unless the search is strict.
func (x *Index) ask(ctx context.Context, s catalog.Search) (q question, found catalog.Found, docs []place, err error) {
	if err := x.Load(ctx); err != nil {
		return q, found, nil, fmt.Errorf("archive: search: %w", err)
	}
	if q, err = x.question(ctx, s); err != nil {
		var bad *catalog.QuestionError
		if !errors.As(err, &bad) {
			err = fmt.Errorf("archive: search: %w", err)
		}
		return q, found, nil, err
	}
	found, docs = x.facts.answer(q)
	if found.Total == 0 && !s.Strict && len(q.parts) > 1 {
		most := enoughOf(q.parts)
		for q.enough = most; q.enough > 0 && q.enough >= (most+1)/2 && found.Total == 0 && ctx.Err() == nil; q.enough-- {
			found, docs = x.facts.answer(q)
			found.Partly = found.Total > 0
		}
	}
	found.Corrected, found.Bounded = q.corrected, q.bounded
	if found.Partly {
		found.Missing = q.missing()
	}
	return q, found, docs, ctx.Err()
}

// enoughOf returns how many parts of a question a resource may at most have if none has all, 0 if phrases or fields,
// which people write on purpose, are among them. Half of them suffice.
func enoughOf(parts []part) int {
	n := 0
	for _, p := range parts {
		if p.strict {
			return 0
		}
		if !p.all.Empty() || len(p.portals) > 0 {
			n++
		}
	}
	return min(n, len(parts)-1)
}

// Hit is a resource that a search finds.
type Hit struct {
	URL   string
	Score float64 // at least 0; the best has the highest
}

// Hits returns the resources that a search finds in its order, at most limit, from the first; total is the number of
// all. It finds what Search finds, on all of its pages.
func (x *Index) Hits(ctx context.Context, s catalog.Search, limit int) (hits []Hit, total int, err error) {
	s.Limit, s.Facets = limit, false
	_, found, docs, err := x.ask(ctx, s)
	if err != nil {
		return nil, 0, err
	}
	err = records.View(x.db, func(t records.Txn) error {
		for _, p := range docs {
			if err := ctx.Err(); err != nil {
				return err
			}
			r, err := recordOf(t, p.doc)
			if err != nil {
				return err
			}
			hits = append(hits, Hit{r.URL, float64(p.score) / scoreUnit})
		}
		return nil
	})
	return hits, found.Total, err
}

// question is a search with its words looked up.
type question struct {
	catalog.Search
	parts     []part
	not       Set
	filters   []filter
	none      bool   // the text has nothing to look for
	only      Set    // the resources of datasets; nil: any
	enough    int    // parts that a resource must have; 0: all
	named     uint32 // the document whose address the text is, if isName
	isName    bool
	mark      place // the last of the page before, if isNext
	isNext    bool
	now       time.Time
	corrected []catalog.Correction
	bounded   bool // a phrase was looked for in some documents only
	total     int  // documents

	portalWords map[string][]string // words of the titles and addresses of portals, by IRI
}

// question reads the text of a search and looks up its words.
func (x *Index) question(ctx context.Context, s catalog.Search) (question, error) {
	q := question{Search: s, now: time.Now()}
	q.mark, q.isNext = parsePlace(s.After)
	text := strings.TrimSpace(s.Text)
	parsed, err := parseQuery(text)
	if err != nil {
		return q, err
	}
	q.filters = append(parsed.filters, filtersOf(s)...)
	q.none = text != "" && len(parsed.must)+len(parsed.not)+len(parsed.filters) == 0
	err = records.View(x.db, func(t records.Txn) error {
		if text != "" {
			q.named, q.isName = documentOfURL(t, text)
		}
		l, err := x.newLookup(ctx, t, text != "")
		if err != nil {
			return err
		}
		q.total, q.portalWords = l.total, l.portals
		for _, alternatives := range withoutFillers(parsed.must) {
			p, err := l.part(alternatives)
			if err != nil {
				return err
			}
			q.parts = append(q.parts, p)
		}
		for _, c := range parsed.not {
			p, err := l.exclude(c)
			if err != nil {
				return err
			}
			q.not.Union(p)
		}
		q.corrected, q.bounded = l.corrected, l.bounded
		for _, f := range q.filters {
			if f.key == "dataset" {
				if err := q.ofDataset(ctx, t, f); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return q, err
}

// ofDataset narrows a question to the resources of a dataset.
func (q *question) ofDataset(ctx context.Context, t records.Txn, f filter) error {
	docs := Set{}
	err := t.OfDataset(ctx, f.value, func(id string) (bool, error) {
		doc, known, err := documentOf(t, id)
		if known {
			docs.Put(doc)
		}
		return true, err
	})
	switch {
	case f.not:
		q.not.Union(docs)
	case q.only == nil:
		q.only = docs
	default:
		q.only.Intersect(docs)
	}
	return err
}

// missing returns the words that no resource has.
func (q question) missing() (list []string) {
	for _, p := range q.parts {
		if p.all.Empty() && len(p.portals) == 0 {
			list = append(list, p.shown)
		}
	}
	return list
}

// fillers are words that say nothing about what is looked for, in the languages of most portals. They are left out if
// other words are there.
var fillers = words(
	"der die das den dem des ein eine einer eines einem und oder in im am an auf aus bei mit nach von vom zu zum zur für fur über uber " +
		"je pro alle the a an of in on at by for from to and with all per le la les des du de et en un une nach wie viele wo ist sind " +
		"gibt es about how many where is are there")

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// withoutFillers returns the parts of a question without its fillers, unless it has nothing else.
func withoutFillers(must [][]clause) [][]clause {
	var kept [][]clause
	for _, alternatives := range must {
		if c := alternatives[0]; len(alternatives) > 1 || c.phrase || c.fields != nil || len(c.words) > 1 || !fillers[c.words[0]] {
			kept = append(kept, alternatives)
		}
	}
	if len(kept) == 0 {
		return must
	}
	return kept
}
