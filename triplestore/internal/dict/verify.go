package dict

import (
	"context"
	"fmt"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Verify reads every term and every entry of the runs and compares them. It returns the tags of all terms with numbers
// below next, indexed by number; removed terms have none.
func (v *View) Verify(ctx context.Context, r Reader, next uint64) (tags []term.Tag, err error) {
	tags = make([]term.Tag, next)
	var terms, entries uint64
	see := func(n uint64, k term.Key) error {
		if tags[n] = tagOf(k); tags[n] == term.TagNone {
			return fmt.Errorf("%w: term %d is malformed: %.100q", segments.ErrDamaged, n, string(k))
		}
		return nil
	}
	used, err := v.findable(ctx, r)
	if err != nil {
		return nil, err
	}
	blocks := (v.flushed + BlockTerms - 1) / BlockTerms
	if v.flushed == 1 { // there are no blocks
		blocks = 0
	}
	for block := range blocks {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		limit := int(min(BlockTerms, v.flushed-block*BlockTerms))
		var t *termBlock
		ok, err := r.Read(kv.SpaceDict, termsKey(block), func(b []byte) error {
			var err error
			t, err = decodeBlock(b, block, limit)
			return err
		})
		if err == nil && !ok && used[block] == 0 {
			continue // swept entirely
		}
		if err == nil && (!ok || t.len() < limit) {
			err = fmt.Errorf("missing or too short")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: block %d of terms: %w", segments.ErrDamaged, block, err)
		}
		for i := range limit {
			n := block*BlockTerms + uint64(i)
			if n == 0 {
				continue
			}
			if !used.has(n) {
				if k, long := t.key(i); !v.swept && (long || k != "") {
					return nil, fmt.Errorf("%w: no run leads to term %d", segments.ErrDamaged, n)
				}
				continue
			}
			k, err := v.keyIn(r, t, n)
			if err != nil {
				return nil, err
			}
			if err := see(n, k); err != nil {
				return nil, err
			}
			terms += mixed(entry{hashOf(k), n})
		}
	}
	for _, run := range v.runs {
		c := &cursor{rd: r, run: run}
		var prev entry
		count := uint64(0)
		for {
			e, ok, err := c.peek()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			if count > 0 && compareEntries(prev, e) >= 0 {
				return nil, fmt.Errorf("%w: run %d is not in order", segments.ErrDamaged, run.id)
			}
			prev = e
			count++
			entries += mixed(e)
			c.next()
			if count%4096 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
		if count != run.entries {
			return nil, fmt.Errorf("%w: run %d has %d entries instead of %d", segments.ErrDamaged, run.id, count, run.entries)
		}
	}
	if terms != entries {
		return nil, fmt.Errorf("%w: the runs do not lead to every term", segments.ErrDamaged)
	}
	for i, k := range v.Recent.Range(v.flushed, next) {
		n := v.flushed + uint64(i)
		if err := see(n, k); err != nil {
			return nil, err
		}
		if id, ok := v.Recent.lookup(k); !ok || id.Payload() != n {
			return nil, fmt.Errorf("%w: term %d has two numbers", segments.ErrDamaged, n)
		}
	}
	return tags, nil
}

// mixed returns a hash of an entry; hashes are combined by addition.
func mixed(e entry) uint64 {
	h := (e.hash ^ e.number<<40 ^ e.number) * 0x9E3779B97F4A7C15
	return (h ^ h>>32 ^ e.number) * 0xD6E8FEB86659FD93
}
