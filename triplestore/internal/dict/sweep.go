package dict

import (
	"context"
	"fmt"
	"math/bits"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Numbers is a set of term numbers, one bit each, with one word for each block of terms.
type Numbers []uint64

// NewNumbers returns an empty set for numbers below next.
func NewNumbers(next uint64) Numbers { return make(Numbers, (next+BlockTerms-1)/BlockTerms) }

// AddQuad adds the numbers of a quad's terms and returns how many the set did not have. It ignores inline ids and
// numbers that the set has no room for.
func (s Numbers) AddQuad(q term.IDQuad) (added int) {
	for _, id := range [4]term.ID{q.S, q.P, q.O, q.G} {
		if id.Kind() == term.KindNone || id.Inline() {
			continue
		}
		if n := id.Payload(); n/BlockTerms < uint64(len(s)) && !s.has(n) {
			s.set(n)
			added++
		}
	}
	return added
}

func (s Numbers) set(n uint64)      { s[n/BlockTerms] |= 1 << (n % BlockTerms) }
func (s Numbers) has(n uint64) bool { return s[n/BlockTerms]>>(n%BlockTerms)&1 != 0 }

// Unused returns the number of terms in blocks that Sweep would remove. It ignores the last, incomplete block.
func (v *View) Unused(used Numbers) (n uint64) {
	for block := range v.complete() {
		n += uint64(BlockTerms - bits.OnesCount64(used[block]))
	}
	return n - min(n, v.holes+1) // number 0 has no term
}

// Terms returns how many terms with numbers below next can be found.
func (v *View) Terms(next uint64) uint64 { return next - 1 - v.holes }

// complete returns the number of complete blocks.
func (v *View) complete() uint64 { return v.flushed / BlockTerms }

// Sweep makes the terms of complete blocks that are not in used unfindable: it replaces all runs by one without them.
// Nothing may use their numbers, now or later. Their text remains until Hollow.
func (v *View) Sweep(ctx context.Context, db *kv.DB, r Reader, used Numbers, nextID func() uint64) (*Built, error) {
	built := &Built{}
	var sources []*cursor
	for _, run := range v.runs {
		sources = append(sources, &cursor{rd: r, run: run})
		built.Obsolete = append(built.Obsolete, run.keys()...)
	}
	all, err := mergeCursors(ctx, sources...)
	if err != nil {
		return built, err
	}
	kept := uint64(0)
	spared := v.complete() * BlockTerms
	batch := db.Batch()
	merged, keys, err := writeRun(batch, nextID(), func() (entry, bool, error) {
		for {
			e, ok, err := all.next()
			if err != nil || !ok {
				return e, ok, err
			}
			if e.number >= spared || used.has(e.number) {
				kept++
				return e, true, nil
			}
		}
	})
	built.Fresh = keys
	if err == nil {
		err = batch.Flush()
	}
	if err != nil {
		return built, err
	}
	w := *v
	w.runs = nil
	if kept > 0 {
		w.runs = []*run{merged}
	}
	w.holes = v.flushed - 1 - kept
	w.swept = true
	w.hot = newHot(hotTerms)
	built.View, built.Root = &w, w.encodeRoot()
	return built, nil
}

// Swept reports whether removed terms still have text, so that Hollow is due.
func (v *View) Swept() bool { return v.swept }

// Hollow deletes the text of removed terms. It may be interrupted at any time and called again. There must be no
// Builder meanwhile. The view it returns has no such text left.
func (v *View) Hollow(ctx context.Context, db *kv.DB, r Reader) (*View, []byte, error) {
	used, err := v.findable(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	batch := db.Batch()
	for block := range v.complete() {
		if block%1024 == 0 && ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if used[block] == ^uint64(0) {
			continue
		}
		if err := v.hollowBlock(batch, r, block, used[block]); err != nil {
			return nil, nil, err
		}
	}
	if err := batch.Flush(); err != nil {
		return nil, nil, err
	}
	w := *v
	w.swept = false
	return &w, w.encodeRoot(), nil
}

// findable returns the numbers that runs lead to, and number 0.
func (v *View) findable(ctx context.Context, r Reader) (Numbers, error) {
	used := NewNumbers(v.flushed)
	used.set(0)
	for _, run := range v.runs {
		c := &cursor{rd: r, run: run}
		for n := 0; ; n++ {
			if n%4096 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			e, ok, err := c.peek()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			if e.number >= v.flushed || used.has(e.number) {
				return nil, fmt.Errorf("%w: run %d leads to number %d, which is not below %d or occurs twice", segments.ErrDamaged, run.id,
					e.number, v.flushed)
			}
			used.set(e.number)
			c.next()
		}
	}
	return used, nil
}

// hollowBlock rewrites a block without the unused terms, or deletes it.
func (v *View) hollowBlock(batch *kv.Batch, r Reader, block, used uint64) error {
	var t *termBlock
	ok, err := r.Read(kv.SpaceDict, termsKey(block), func(b []byte) (err error) {
		t, err = decodeBlock(b, block, BlockTerms)
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: block %d of terms: %w", segments.ErrDamaged, block, err)
	}
	if !ok && used == 0 {
		return nil // deleted earlier
	}
	if !ok || t.len() < BlockTerms {
		return fmt.Errorf("%w: block %d of terms is missing or too short", segments.ErrDamaged, block)
	}
	changed := false
	keys := make([]term.Key, BlockTerms)
	for i := range keys {
		n := block*BlockTerms + uint64(i)
		k, long := t.key(i)
		if used>>i&1 == 0 {
			changed = changed || long || k != ""
			if long {
				if err := batch.Delete(kv.SpaceDict, longKey(n)); err != nil {
					return err
				}
			}
			continue
		}
		if keys[i], err = v.keyIn(r, t, n); err != nil {
			return err
		}
	}
	switch {
	case used == 0:
		return batch.Delete(kv.SpaceDict, termsKey(block))
	case changed:
		return batch.Set(kv.SpaceDict, termsKey(block), encodeBlock(block, keys))
	}
	return nil
}
