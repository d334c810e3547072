package index

import (
	"encoding/binary"
	"testing"

	"odarchive/triplestore/term"
)

// cached returns how many of the blocks with the given keys are in the cache.
func (w *world) cached(keys [][]byte) (n int) {
	for _, k := range keys {
		if k[0] != 'b' {
			continue
		}
		if _, ok := w.cache.blocks.Get(binary.BigEndian.Uint64(k[1:])); ok {
			n++
		}
	}
	return n
}

func TestAMergeLeavesNothingInTheCache(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quads := func(near uint64) (out []term.IDQuad) {
		for range 40_000 {
			out = append(out, w.quad(near, 100_000))
		}
		return out
	}
	w.merge(add, quads(0))
	w.merge(add, quads(200_000)[:2000]) // a smaller tier
	if len(w.base.tiers) < 2 {
		t.Fatalf("%d tiers, want several", len(w.base.tiers))
	}
	old := w.base.keys()
	if w.cached(old) == 0 {
		t.Fatal("the comparisons above cached nothing")
	}
	w.cache.Forget(old)
	if n := w.cached(old); n > 0 {
		t.Errorf("%d forgotten blocks are in the cache", n)
	}
	snap := w.db.Snapshot()
	defer snap.Close()
	m := &Merger{DB: w.db, Reader: snap, Cache: w.cache, NextID: &w.nextID}
	out, err := m.Fold(t.Context(), w.base)
	if err != nil {
		t.Fatal(err)
	}
	if n := w.cached(old) + w.cached(out.Fresh); n > 0 {
		t.Errorf("%d blocks are in the cache after a merge that only read them once", n)
	}
}
