package text

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Index finds literals by their words. Find may be called concurrently, also with everything else; Add, Flush and Reset
// are called by one goroutine at a time.
type Index struct {
	db     *kv.DB
	values *segments.Values

	mu     sync.RWMutex // guards what follows
	segs   []*segment   // large and old ones first
	frozen *growing     // being stored; nil otherwise
	grow   *growing
	next   uint64 // number of the next segment

	a Analyser // of Add
}

const (
	cacheBytes = 32 << 20
	flushBytes = 48 << 20 // size of the segment in memory that Add reports as full
	fanout     = 3        // a segment is merged with the one before it unless that has this many times its documents
)

// NewIndex returns an empty index. If keep is set, Flush stores segments in db.
func NewIndex(db *kv.DB, keep bool) *Index {
	values := segments.Open(db, kv.SpaceText, "text index", "wpd", keep, cacheBytes)
	return &Index{db: db, values: values, grow: newGrowing(), next: 1}
}

// Has reports whether a literal is indexed.
func (x *Index) Has(id term.ID) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.has(id)
}

func (x *Index) has(id term.ID) bool {
	return x.grow.known[id] || x.frozen != nil && x.frozen.known[id] ||
		slices.ContainsFunc(x.segs, func(s *segment) bool { return s.has(id) })
}

// Add indexes literals that are not indexed yet. full reports that it is time for Flush.
func (x *Index) Add(list []Doc) (full bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, d := range list {
		if !x.has(d.ID) {
			x.grow.add(&x.a, d)
		}
	}
	return x.grow.bytes >= flushBytes
}

// Docs returns the number of indexed literals.
func (x *Index) Docs() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := 0
	for _, s := range x.sources() {
		n += len(s.documents().ids)
	}
	return n
}

// Growing returns how many of them are in memory only.
func (x *Index) Growing() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.grow.docs.ids)
}

// sources returns all segments. The caller holds mu.
func (x *Index) sources() []source {
	var out []source
	for _, s := range x.segs {
		out = append(out, s)
	}
	if x.frozen != nil {
		out = append(out, x.frozen)
	}
	return append(out, x.grow)
}

// Find returns the literals that a query finds, in no particular order. It calls charge, if that is not nil, before it
// takes memory, and ends with its error.
func (x *Index) Find(ctx context.Context, q *Query, charge func(bytes int) error) ([]Hit, error) {
	var out []Hit
	err := x.search(ctx, q, func(s *searcher) (err error) {
		if charge != nil {
			s.charge = charge
		}
		out, err = s.find()
		return err
	})
	return out, err
}

// Count returns about how many literals a query finds; it is never too low by more than what NOT excludes.
func (x *Index) Count(ctx context.Context, q *Query) (n float64, err error) {
	err = x.search(ctx, q, func(s *searcher) error {
		for _, src := range s.sources {
			c, err := s.count(src, q.root)
			if err != nil {
				return err
			}
			n += c
		}
		return nil
	})
	return n, err
}

// search calls f with a searcher over the present segments. The segment in memory does not change meanwhile.
func (x *Index) search(ctx context.Context, q *Query, f func(*searcher) error) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := &searcher{ctx: ctx, q: q, sources: x.sources(), charge: func(int) error { return nil }}
	snap := x.db.Snapshot() // after the list of segments was read, so that it has all of them
	defer snap.Close()
	s.read = x.values.Reader(snap)
	for lang := range stemmers {
		s.langs = append(s.langs, lang)
	}
	slices.Sort(s.langs)
	if len(x.grow.words) == 0 && x.frozen == nil { // only the languages that stored segments have
		s.langs = nil
		for _, seg := range x.segs {
			s.langs = append(s.langs, seg.langs...)
		}
		slices.Sort(s.langs)
		s.langs = slices.Compact(s.langs)
	}
	if err := f(s); err != nil {
		return fmt.Errorf("text index: %w", err)
	}
	return nil
}

// count estimates the number of hits of a node from the numbers of documents of its words.
func (s *searcher) count(src source, n node) (float64, error) {
	docs := float64(len(src.documents().ids))
	switch n := n.(type) {
	case leaf:
		least := docs
		for i, w := range n.words {
			lists, err := s.lists(src, w, n.prefix && i == len(n.words)-1)
			if err != nil {
				return 0, err
			}
			sum := 0.0
			for _, l := range lists {
				sum += float64(l.docs)
			}
			least = min(least, sum)
		}
		return least, nil
	case all:
		least, sum := docs, 0.0
		for _, m := range n.must {
			c, err := s.count(src, m)
			if err != nil {
				return 0, err
			}
			least = min(least, c)
		}
		if len(n.must) > 0 {
			return least, nil
		}
		for _, m := range n.some {
			c, err := s.count(src, m)
			if err != nil {
				return 0, err
			}
			sum += c
		}
		return min(sum, docs), nil
	}
	return 0, nil
}
