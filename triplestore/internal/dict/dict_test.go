package dict

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

func inMemory(t testing.TB) *kv.DB {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// someTerms returns distinct terms of all kinds: IRIs with common prefixes, hashes, texts, long terms, triple terms.
func someTerms(rnd *rand.Rand, n int) (keys []term.Key) {
	seen := map[term.Key]bool{}
	for len(keys) < n {
		var k term.Key
		switch rnd.IntN(8) {
		case 0:
			k = term.IRI(fmt.Sprintf("https://e/get/%016x%08x_%d", rnd.Uint64(), rnd.Uint32(), rnd.IntN(9)))
		case 1:
			k = term.Lang(fmt.Sprintf("text number %d", rnd.IntN(1e6)), "de")
		case 2:
			k = term.Blank(fmt.Sprintf("b%d", rnd.IntN(1e6)))
		case 3:
			k = term.Typed(fmt.Sprintf("%d.50", rnd.IntN(1e6)), "http://www.w3.org/2001/XMLSchema#decimal")
		case 4:
			k = term.String(strings.Repeat("long ", rnd.IntN(20)) + fmt.Sprintf("%x", rnd.Uint64()))
			if rnd.IntN(20) == 0 {
				k += term.Key(strings.Repeat("x", longTerm+rnd.IntN(5000)))
			}
		case 5:
			k = term.Triple("<s", "<p", term.String(fmt.Sprint(rnd.Uint64())))
		default:
			k = term.IRI(fmt.Sprintf("http://e/%d", rnd.IntN(1e6)))
		}
		if _, inline := term.Inline(k); !inline && !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

func TestEveryTermIsFoundAndComesBack(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	db := inMemory(t)
	all := someTerms(rnd, 6000)
	var ids []term.ID
	var nextID atomic.Uint64
	v := New(NewCache(1 << 20))
	for done := 0; done < len(all); {
		part := all[done:min(len(all), done+1+rnd.IntN(900))]
		done += len(part)
		snap := db.Snapshot()
		// Some are added by commits and recent terms, others directly to blocks.
		if rnd.IntN(2) == 0 {
			a := v.Add(snap)
			for _, k := range part {
				if _, err := a.ID(k); err != nil {
					t.Fatal(err)
				}
			}
			first, keys, final := a.Finish()
			for _, k := range part {
				id, _, _ := a.Lookup(k)
				if !a.New(id) {
					t.Fatalf("%q is not new", string(k))
				}
				ids = append(ids, final(id))
			}
			if err := v.Recent.Append(first, keys); err != nil {
				t.Fatal(err)
			}
			if rnd.IntN(2) == 0 {
				v = flush(t, db, snap, v, &nextID, nil)
			}
		} else {
			fresh := slices.Clone(part)
			slices.Sort(fresh)
			first := v.Next()
			v = flush(t, db, snap, v, &nextID, fresh)
			for _, k := range part {
				i, _ := slices.BinarySearch(fresh, k)
				ids = append(ids, MakeID(k, first+uint64(i)))
			}
		}
		snap.Close()
	}
	snap := db.Snapshot()
	defer snap.Close()
	views := []*View{v}
	if v.Recent.Next() == v.Flushed() { // a reopened view has no recent terms
		views = append(views, reopen(t, snap, v))
	}
	for _, v := range views {
		keys := make([]term.Key, len(ids))
		if err := v.Keys(snap, ids, keys); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(keys, all) {
			t.Fatal("ids became other terms")
		}
		bulk := make([]term.ID, len(all))
		b := &Builder{v: v, known: newHot(10)}
		for range 3 { // first without a filter, then with one and with terms that are known from before
			clear(bulk)
			if err := b.LookupAll(t.Context(), snap, all, bulk); err != nil {
				t.Fatal(err)
			}
		}
		for i, k := range all {
			id, ok, err := v.Lookup(snap, k)
			if err != nil || !ok || id != ids[i] || bulk[i] != ids[i] {
				t.Fatalf("%.50q: %x %v %v, in bulk %x, want %x", string(k), id, ok, err, bulk[i], ids[i])
			}
		}
		for _, k := range []term.Key{"", "<absent", "\"an absent literal"} {
			if id, ok, err := v.Lookup(snap, k); ok || err != nil {
				t.Errorf("%q: %x %v", string(k), id, err)
			}
		}
		for _, id := range []term.ID{0, term.Make(term.TagIRI, 0), term.Make(term.TagIRI, 1<<40),
			term.Make(term.TagTriple, ids[0].Payload()), term.DefaultGraph} {
			if err := v.Keys(snap, []term.ID{id}, make([]term.Key, 1)); !errors.Is(err, errUnknownID) && ids[0].Tag() != term.TagTriple {
				t.Errorf("%x: %v", uint64(id), err)
			}
		}
	}
	if len(v.runs) > 8 {
		t.Errorf("%d runs", len(v.runs))
	}
	if _, err := v.Verify(t.Context(), snap, v.Next()); err != nil {
		t.Error(err)
	}
}

func flush(t *testing.T, db *kv.DB, r Reader, v *View, nextID *atomic.Uint64, more []term.Key) *View {
	t.Helper()
	b, err := v.Builder(db, r, func() uint64 { return nextID.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range [][]term.Key{v.Recent.Range(v.Flushed(), v.Next()), more} {
		if _, err := b.Append(t.Context(), keys); err != nil {
			t.Fatal(err)
		}
	}
	built, err := b.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := db.DeleteKeys(kv.SpaceDict, built.Obsolete); err != nil {
		t.Fatal(err)
	}
	return built.View.WithRecent(NewRecent(built.View.Flushed()))
}

func reopen(t *testing.T, snap *kv.Snapshot, v *View) *View {
	t.Helper()
	w, err := OpenView(snap, NewCache(0), v.encodeRoot())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestAnAbandonedBuilderLeavesTheDictionaryAsItWas(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 1))
	db := inMemory(t)
	var nextID atomic.Uint64
	keys := someTerms(rnd, 300)
	snap := db.Snapshot()
	v := flush(t, db, snap, New(NewCache(1<<20)), &nextID, keys[:100])
	snap.Close()
	snap = db.Snapshot()
	b, err := v.Builder(db, snap, func() uint64 { return nextID.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Append(t.Context(), keys[100:200]); err != nil {
		t.Fatal(err)
	}
	if err := b.EndRun(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.Abandon(); err != nil {
		t.Fatal(err)
	}
	snap.Close()
	// This read caches a block whose stored form still has the abandoned terms at its end.
	snap = db.Snapshot()
	got := make([]term.Key, 1)
	if err := v.Keys(snap, []term.ID{MakeID(keys[99], 100)}, got); err != nil || got[0] != keys[99] {
		t.Fatalf("%q, %v", got, err)
	}
	v = flush(t, db, snap, v, &nextID, keys[200:])
	snap.Close()
	snap = db.Snapshot()
	defer snap.Close()
	for i, k := range slices.Concat(keys[:100], keys[200:]) {
		id, ok, err := v.Lookup(snap, k)
		if err != nil || !ok || id != MakeID(k, uint64(i)+1) {
			t.Fatalf("term %d: %x %v %v", i, id, ok, err)
		}
	}
	if _, ok, _ := v.Lookup(snap, keys[150]); ok {
		t.Error("an abandoned term is found")
	}
	if _, err := v.Verify(t.Context(), snap, v.Next()); err != nil {
		t.Error(err)
	}
}

func TestBlocksOfTermsComeBackAndFlippedBitsAreNoticed(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(2, 2))
	for round := range 200 {
		keys := someTerms(rnd, 1+rnd.IntN(BlockTerms))
		if round%2 == 0 {
			slices.Sort(keys)
		}
		b := encodeBlock(7, keys)
		got, err := decodeBlock(b, 7, BlockTerms)
		if err != nil || got.len() != len(keys) {
			t.Fatalf("%v", err)
		}
		for i, k := range keys {
			if g, long := got.key(i); long != (len(k) > longTerm) || !long && g != k {
				t.Fatalf("term %d: %q, want %q", i, string(g), string(k))
			}
		}
		b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		if _, err := decodeBlock(b, 7, BlockTerms); err == nil {
			t.Fatal("a flipped bit was not noticed")
		}
	}
}

// FuzzBlock decodes malformed blocks with valid checksums.
func FuzzBlock(f *testing.F) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for range 4 {
		b := encodeBlock(7, someTerms(rnd, 1+rnd.IntN(10)))
		f.Add(b[:len(b)-segments.SealSize])
	}
	es := encodeEntries(7, []entry{{1, 2}, {3, 4}})
	f.Add(es[:len(es)-segments.SealSize])
	f.Fuzz(func(t *testing.T, body []byte) {
		b := segments.AppendSeal(bytes.Clone(body), 7)
		if got, err := decodeBlock(b, 7, BlockTerms); err == nil {
			for i := range got.len() {
				got.key(i)
			}
		}
		decodeEntries(b, 7, func(entry) bool { return true })
	})
}

// FuzzRoot decodes malformed roots with valid checksums.
func FuzzRoot(f *testing.F) {
	v := New(NewCache(0))
	b := v.encodeRoot()
	f.Add(b[:len(b)-8])
	f.Add([]byte{1, 9, 1, 3, 8})
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	snap := db.Snapshot()
	f.Cleanup(snap.Close)
	f.Fuzz(func(t *testing.T, body []byte) {
		OpenView(snap, NewCache(0), segments.AppendSeal(bytes.Clone(body), 0))
	})
}
