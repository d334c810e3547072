package dict

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/triplestore/term"
)

func TestAFilterFindsWhatWasAddedAndLittleElse(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	hash := func() uint64 { return rnd.Uint64() >> (64 - hashBits) }
	f := &filter{groups: make([][8]uint64, 1<<16*filterBits/512), capacity: 1 << 16}
	added := make([]uint64, f.capacity)
	for i := range added {
		added[i] = hash()
		f.add(added[i])
	}
	for _, h := range added {
		if !f.may(h) {
			t.Fatalf("%x is not found", h)
		}
	}
	others := 0
	const asked = 100_000
	for range asked {
		if f.may(hash()) {
			others++
		}
	}
	if others > asked/50 {
		t.Errorf("%d of %d other hashes are found", others, asked)
	}
	if f.crowded() {
		t.Error("it is crowded although it has room")
	}
	if f.add(hash()); !f.crowded() {
		t.Error("it is not crowded although it has no room")
	}
}

func TestAFilterHasRoomForMoreThanItBeginsWith(t *testing.T) {
	t.Parallel()
	for _, hashes := range []uint64{0, 1, filterSmall, 20 << 20, filterLargest, 10 * filterLargest} {
		f := newFilter(hashes)
		if n := uint64(len(f.groups)) * 64; n > 64<<20 || f.capacity < filterSmall || hashes < filterLargest/2 && f.capacity < 2*hashes {
			t.Errorf("for %d hashes it has %d bytes and room for %d", hashes, n, f.capacity)
		}
		f.hashes.Store(2 * filterLargest)
		if f.capacity == filterLargest && f.crowded() {
			t.Errorf("for %d hashes, the largest filter asks for a larger one", hashes)
		}
	}
}

// Chunk by chunk, a Builder finds the terms of earlier chunks and of earlier builders, and no others.
func TestABuilderFindsTheTermsOfEarlierChunks(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	db := inMemory(t)
	all := someTerms(rnd, 8000)
	known := map[term.Key]term.ID{}
	var nextID atomic.Uint64
	v := New(NewCache(1 << 20))
	for range 3 {
		snap := db.Snapshot()
		b, err := v.Builder(db, snap, func() uint64 { return nextID.Add(1) })
		snap.Close()
		if err != nil {
			t.Fatal(err)
		}
		for range 14 {
			chunk := make([]term.Key, 0, 600)
			for range 600 {
				chunk = append(chunk, all[rnd.IntN(len(all))])
			}
			slices.Sort(chunk)
			chunk = slices.Compact(chunk)
			ids := make([]term.ID, len(chunk))
			snap := db.Snapshot()
			err := b.LookupAll(t.Context(), snap, chunk, ids)
			snap.Close()
			if err != nil {
				t.Fatal(err)
			}
			var fresh []term.Key
			for i, k := range chunk {
				if ids[i] != known[k] {
					t.Fatalf("%.100q has id %x, want %x", k, ids[i], known[k])
				}
				if ids[i] == 0 {
					fresh = append(fresh, k)
				}
			}
			first, err := b.Append(t.Context(), fresh)
			if err != nil {
				t.Fatal(err)
			}
			for i, k := range fresh {
				known[k] = MakeID(k, first+uint64(i))
			}
			if err := b.EndRun(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := len(b.v.runs); n > 2*runsAtOnce {
				t.Fatalf("%d runs", n)
			}
		}
		built, err := b.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		v = built.View
		var after uint64 // entries of the runs after one
		for i := len(v.runs) - 1; i >= 0; i-- {
			if after > 0 && v.runs[i].entries < gatherShare*after {
				t.Errorf("run %d of %d has %d entries, those after it have %d", i, len(v.runs), v.runs[i].entries, after)
			}
			after += v.runs[i].entries
		}
		snap = db.Snapshot()
		for k, want := range known {
			if id, ok, err := v.Lookup(snap, k); err != nil || id != want || !ok {
				t.Fatalf("%.100q has id %x, want %x: %v", k, id, want, err)
			}
		}
		snap.Close()
	}
}

// A view with a filter finds what one without it finds, also while a Builder adds to the filter.
func TestAFilterHidesNoTermFromReadersOfAnyView(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	db := inMemory(t)
	all := slices.Compact(slices.Sorted(slices.Values(someTerms(rand.New(rand.NewPCG(seed, 2)), 6000))))
	var nextID atomic.Uint64
	v := New(NewCache(1 << 20))
	done := 0
	for step := range 6 {
		snap := db.Snapshot()
		b, err := v.Builder(db, snap, func() uint64 { return nextID.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		if step == 1 {
			if err := b.v.refilter(t.Context(), snap); err != nil {
				t.Fatal(err)
			}
		}
		before, known := b.View(), done
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for i, k := range all {
					if _, ok, err := before.Lookup(snap, k); err != nil || i < known && !ok || i >= known && ok {
						t.Errorf("step %d: %.100q, number %d of %d: found %t: %v", step, k, i, known, ok, err)
						return
					}
				}
			})
		}
		part := all[done:min(len(all), done+1000)]
		if _, err := b.Append(t.Context(), slices.Clone(part)); err != nil {
			t.Fatal(err)
		}
		built, err := b.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		readers.Wait()
		snap.Close()
		v, done = built.View.WithRecent(NewRecent(built.View.Flushed())), done+len(part)
		if filtered := v.maybe != nil; filtered != (step > 0) {
			t.Fatalf("step %d: the view has a filter: %t", step, filtered)
		}
	}
}
