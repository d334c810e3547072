package triplestore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"odarchive/triplestore/term"
	"odarchive/triplestore/text"
	"odarchive/vocab"
)

// DefaultTextPredicates returns the predicates whose objects are searched by word unless Options name others.
func DefaultTextPredicates() []string {
	return []string{vocab.DCTTitle, vocab.DCTDescription, vocab.DCATKeyword, vocab.CSVWName, vocab.RDFSLabel, vocab.SKOSPrefLabel}
}

// literals is the index of the words of literals.
type literals struct {
	follower
	words *text.Index
}

func newLiterals(s *Store) *literals {
	l := &literals{words: text.NewIndex(s.db, !s.db.ReadOnly())}
	l.follower.init(s, "the index of words", wordIndex{l.words, s})
	l.predicates = l.chosen()
	return l
}

// chosen returns the predicates of the options, else those of the stored index, else the default ones.
func (l *literals) chosen() []term.Key {
	iris := l.s.opts.TextPredicates
	if len(iris) == 0 {
		if mark, ok, err := text.Mark(l.s.db); err == nil && ok {
			if _, predicates, ok := parseMark(mark); ok {
				return predicates
			}
		}
		iris = DefaultTextPredicates()
	}
	var out []term.Key
	for _, p := range iris {
		out = append(out, term.IRI(p))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// wordIndex is the index as a follower sees it.
type wordIndex struct {
	*text.Index
	s *Store
}

func (x wordIndex) storedMark() ([]byte, bool, error) { return text.Mark(x.s.db) }

func (x wordIndex) takes(id term.ID) bool {
	return id.Tag() == term.TagLiteral || id.Tag() == term.TagString
}

func (x wordIndex) add(ids []term.ID, keys []term.Key) (added int, full bool) {
	var list []text.Doc
	for i, k := range keys {
		if t, tag, ok := text.Parts(k); ok {
			list = append(list, text.Doc{ID: ids[i], Text: t, Tag: tag})
		}
	}
	return len(list), x.Add(list)
}

func (x wordIndex) check(ids []term.ID, keys []term.Key) error {
	for i, k := range keys {
		if _, _, ok := text.Parts(k); ok {
			return fmt.Errorf("%w: the index of words lacks literal %#x", ErrDamaged, uint64(ids[i]))
		}
	}
	return nil
}

// SearchText returns the literals that a query finds, with everything that was committed up to the snapshot. It calls
// charge, if that is not nil, before it takes memory, and ends with its error.
func (sn *Snapshot) SearchText(ctx context.Context, q *text.Query, charge func(bytes int) error) ([]text.Hit, error) {
	l := sn.store.literals
	var hits []text.Hit
	err := l.search(ctx, sn.Position(), func() (err error) {
		hits, err = l.words.Find(ctx, q, charge)
		return err
	})
	if err != nil || q.Lang() == "" {
		return hits, err
	}
	// Keys of literals that are newer than the snapshot are unknown to it. They are no objects of its quads either.
	next := sn.state.terms
	hits = slices.DeleteFunc(hits, func(h text.Hit) bool { return !h.ID.Inline() && h.ID.Payload() >= next })
	slices.SortFunc(hits, func(a, b text.Hit) int { return cmp.Compare(a.ID, b.ID) })
	out := hits[:0]
	for part := range slices.Chunk(hits, objectsAtOnce) {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		ids, keys := make([]term.ID, len(part)), make([]term.Key, len(part))
		for i, h := range part {
			ids[i] = h.ID
		}
		if err := sn.Keys(ids, keys); err != nil {
			return nil, err
		}
		for i, h := range part {
			if _, tag, ok := text.Parts(keys[i]); ok && q.InLanguage(tag) {
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// CountText estimates how many literals a query finds, as far as they are indexed.
func (sn *Snapshot) CountText(q *text.Query) float64 {
	n, err := sn.store.literals.words.Count(context.Background(), q)
	if err != nil {
		return 0
	}
	return n
}

// TextPredicates returns the predicates whose objects SearchText finds.
func (sn *Snapshot) TextPredicates() []term.Key { return sn.store.literals.predicates }
