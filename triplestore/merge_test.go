package triplestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

func insertAll(t testing.TB, s *triplestore.Store, q []term.Quad) {
	t.Helper()
	err := s.Update(t.Context(), func(tx *triplestore.Txn) error {
		for _, q := range q {
			if err := tx.Insert(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func check(t testing.TB, s *triplestore.Store) triplestore.Checked {
	t.Helper()
	c, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func entries(t testing.TB, db *kv.DB, space kv.Space) (n int) {
	t.Helper()
	err := db.View(func(tx *kv.Txn) error {
		return tx.Scan(space, nil, nil, func(_, _ []byte) (bool, error) { n++; return true, nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestASnapshotReadsOnWhileItsBlocksAreReplacedAndDeleted(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	s := open(t, db, triplestore.Options{MergeAt: 1000, CacheBytes: 1, DictCacheBytes: 1})
	before := some(9000, "")
	if _, err := s.Load(t.Context(), &quads{q: before}); err != nil {
		t.Fatal(err)
	}
	sn := s.Snapshot()
	defer sn.Release()
	c := sn.Scan(term.Pattern{G: term.DefaultGraph}, term.POS)
	defer c.Close()
	first, err := c.Next()
	if err != nil {
		t.Fatal(err)
	}
	n := len(first)
	if err := s.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	insertAll(t, s, some(3000, "http://e/g"))
	if err := s.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	for {
		rows, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			break
		}
		n += len(rows)
	}
	if n != len(before) {
		t.Errorf("the scan gave %d quads, want %d", n, len(before))
	}
	got := 0
	if err := sn.Dump(t.Context(), term.Pattern{}, func(term.Quad) error { got++; return nil }); err != nil || got != len(before) {
		t.Errorf("the snapshot gave %d quads, want %d: %v", got, len(before), err)
	}
	check(t, s)
}

func TestALargeTransactionGoesStraightIntoBlocks(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	s := open(t, db, triplestore.Options{MergeAt: 500})
	insertAll(t, s, some(100, ""))
	boom := errors.New("boom")
	err := s.Update(t.Context(), func(tx *triplestore.Txn) error {
		for _, q := range some(5000, "http://e/g") {
			if err := tx.Insert(q); err != nil {
				return err
			}
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatal(err)
	}
	insertAll(t, s, some(5000, "http://e/g"))
	insertAll(t, s, some(20, "http://e/h"))
	// Long literals make a large record of few quads.
	var long []term.Quad
	for i := range 8 {
		long = append(long, term.Quad{S: term.IRI("http://e/long"), P: term.IRI("http://e/p"),
			O: term.String(fmt.Sprint(i, strings.Repeat("x", 200_000)))})
	}
	insertAll(t, s, long)
	if n := dump(t, s); n != 5128 {
		t.Errorf("%d quads", n)
	}
	if c := check(t, s); c.Orphans != 0 || c.Commits != 4 {
		t.Errorf("%+v", c)
	}
	added := 0
	pieces := 0
	if _, err := s.Changes(t.Context(), 1, func(c triplestore.Commit) error {
		added += len(c.Added)
		pieces++
		return nil
	}); err != nil || added != 5028 || pieces != 4 {
		t.Errorf("the change log has %d quads in %d pieces: %v", added, pieces, err)
	}
	s.Close()
	s = open(t, db, triplestore.Options{})
	if n := dump(t, s); n != 5128 {
		t.Errorf("%d quads after opening again", n)
	}
}

func TestDeletedQuadsGiveTheirBlocksBack(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	s := open(t, db, triplestore.Options{})
	for _, g := range []string{"", "http://e/g"} {
		if _, err := s.Load(t.Context(), &quads{q: some(20_000, g)}); err != nil {
			t.Fatal(err)
		}
	}
	full := entries(t, db, kv.SpaceTripleIndex)
	if err := s.DropGraph(t.Context(), "<http://e/g"); err != nil {
		t.Fatal(err)
	}
	half := entries(t, db, kv.SpaceTripleIndex)
	if half >= full/2 { // quads in named graphs are in twice as many layouts
		t.Errorf("%d of %d blocks and pages are left", half, full)
	}
	err := s.Update(t.Context(), func(tx *triplestore.Txn) error { return tx.ClearGraph("") })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := entries(t, db, kv.SpaceTripleIndex); n != 0 {
		t.Errorf("%d blocks and pages of an empty store", n)
	}
	check(t, s)
}

func TestADroppedGraphGivesItsDiskSpaceBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := kv.Open(dir, kv.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := open(t, db, triplestore.Options{KeepChanges: 1})
	tables := func() (n int64) {
		files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if info, err := os.Stat(f); err == nil { // a compaction may just have deleted it
				n += info.Size()
			}
		}
		return n
	}
	if _, err := s.Load(t.Context(), &quads{q: some(60_000, "http://e/g")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	full := tables()
	if err := s.DropGraph(t.Context(), "<http://e/g"); err != nil {
		t.Fatal(err)
	}
	if left := tables(); left > full/20 { // terms included
		t.Errorf("%d of %d bytes are left", left, full)
	}
	check(t, s)
}

func TestManySmallCommitsLeaveFullBlocksAndAShortLog(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	s := open(t, db, triplestore.Options{MergeAt: 500, KeepChanges: 20_000})
	const commits, each = 1000, 10
	all := some(commits*each, "")
	for i := range commits {
		insertAll(t, s, all[i*each:(i+1)*each])
	}
	if err := s.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := check(t, s)
	if c.Quads != commits*each || c.Blocks > 4*(commits*each/512+1) {
		t.Errorf("%+v", c)
	}
	if c.Commits > 300 {
		t.Errorf("the log has %d commits left", c.Commits)
	}
	_, err := s.Changes(t.Context(), 0, func(triplestore.Commit) error { return nil })
	if !errors.Is(err, triplestore.ErrTrimmed) {
		t.Errorf("reading the log from the beginning: %v", err)
	}
	sn := s.Snapshot()
	defer sn.Release()
	first := sn.Position() - c.Commits
	n := uint64(0)
	last, err := s.Changes(t.Context(), first, func(triplestore.Commit) error { n++; return nil })
	if err != nil || last != commits || n != c.Commits {
		t.Errorf("reading the log from %d: %d commits up to %d, %v", first, n, last, err)
	}
}

func TestALoadLargerThanTheChangeLogIsNotKeptInIt(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	s := open(t, db, triplestore.Options{KeepChanges: 1000})
	if _, err := s.Load(t.Context(), &quads{q: some(40_000, "")}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Changes(t.Context(), 0, func(triplestore.Commit) error { return nil }); !errors.Is(err, triplestore.ErrTrimmed) {
		t.Errorf("got %v", err)
	}
	insertAll(t, s, some(4, "http://e/g"))
	n := 0
	if last, err := s.Changes(t.Context(), 1, func(c triplestore.Commit) error { n += len(c.Added); return nil }); err != nil ||
		last != 2 || n != 4 {
		t.Errorf("%d quads up to %d, %v", n, last, err)
	}
	if n := entries(t, db, kv.SpaceTripleLog); n != 1 {
		t.Errorf("%d entries in the log", n)
	}
}

func TestALoadInManyChunksAgreesWithOneInASingleChunk(t *testing.T) {
	t.Parallel()
	var in []term.Quad
	rnd := rand.New(rand.NewPCG(5, 5))
	for _, g := range []string{"", "http://e/g1", "http://e/g2"} {
		in = append(in, some(6000, g)...)
	}
	in = append(in, in[:3000]...)
	rnd.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
	var dumps [2]map[term.Quad]bool
	for i, o := range []triplestore.Options{{}, {LoadMemory: 400 << 10}} {
		s := open(t, inMemory(t), o)
		insertAll(t, s, in[:100])
		n, err := s.Load(t.Context(), &quads{q: in})
		if err != nil || n.Read != 21_000 || n.Added != 17_900 {
			t.Fatalf("%+v %v", n, err)
		}
		if n, err := s.Load(t.Context(), &quads{q: in[:5000]}); err != nil || n.Added != 0 {
			t.Fatalf("loading again: %+v %v", n, err)
		}
		check(t, s)
		dumps[i] = map[term.Quad]bool{}
		if err := s.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error { dumps[i][q] = true; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for q := range dumps[0] {
		if !dumps[1][q] {
			t.Fatalf("%q is missing", q)
		}
	}
	if len(dumps[0]) != 18_000 || len(dumps[1]) != 18_000 {
		t.Errorf("%d and %d quads", len(dumps[0]), len(dumps[1]))
	}
}

func TestCommitsWaitForALoadAndMergesGiveWayToLargeCommits(t *testing.T) {
	t.Parallel()
	s := open(t, inMemory(t), triplestore.Options{MergeAt: 100})
	done := make(chan error)
	go func() {
		for i := range 30 {
			q := some(40, fmt.Sprintf("http://e/small%d", i))
			if err := s.Update(context.Background(), func(tx *triplestore.Txn) error {
				for _, q := range q {
					if err := tx.Insert(q); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for i := range 10 {
		insertAll(t, s, some(200, fmt.Sprintf("http://e/large%d", i)))
		if _, err := s.Load(t.Context(), &quads{q: some(100, fmt.Sprintf("http://e/load%d", i))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := dump(t, s); n != 30*40+10*200+10*100 {
		t.Errorf("%d quads", n)
	}
	check(t, s)
}

func TestACancelledLoadStopsAndLeavesTheStoreAsItWas(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	s := open(t, db, triplestore.Options{LoadMemory: 300 << 10})
	insertAll(t, s, some(10, ""))
	if err := s.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := entries(t, db, kv.SpaceTripleIndex) + entries(t, db, kv.SpaceTripleLog)
	ctx, cancel := context.WithCancel(t.Context())
	r := &endless{after: 5000, then: cancel}
	if _, err := s.Load(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := dump(t, s); n != 10 {
		t.Errorf("%d quads", n)
	}
	if after := entries(t, db, kv.SpaceTripleIndex) + entries(t, db, kv.SpaceTripleLog); after != before {
		t.Errorf("%d entries, %d before", after, before)
	}
	check(t, s)
}

// endless is a QuadReader that never ends and calls then after some quads.
type endless struct {
	n, after int
	then     func()
}

func (r *endless) Read() (term.Quad, error) {
	r.n++
	if r.n == r.after {
		r.then()
	}
	return term.Quad{S: term.IRI(fmt.Sprint("http://e/", r.n)), P: term.IRI("http://e/p"), O: term.String("a literal")}, nil
}

func TestANewerFormatIsRefused(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	open(t, db, triplestore.Options{}).Close()
	triplestore.WriteNewerRoot(t.Context(), db)
	if _, err := triplestore.Open(db, triplestore.Options{}); !errors.Is(err, triplestore.ErrNewer) {
		t.Errorf("got %v", err)
	}
}

// Each value of a merged store is damaged in turn. Opening or checking must notice, and all errors must be ErrDamaged.
func TestASpoiledValueIsNoticed(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	s := open(t, db, triplestore.Options{CacheBytes: 1, DictCacheBytes: 1})
	if _, err := s.Load(t.Context(), &quads{q: append(some(2000, ""), some(500, "http://e/g")...)}); err != nil {
		t.Fatal(err)
	}
	insertAll(t, s, some(5, "http://e/recent"))
	s.Close()
	rnd := rand.New(rand.NewPCG(9, 9))
	for _, space := range []kv.Space{kv.SpaceTripleIndex, kv.SpaceDict, kv.SpaceTripleLog, kv.SpaceTripleMeta} {
		values := map[string][]byte{}
		db.View(func(tx *kv.Txn) error {
			return tx.Scan(space, nil, nil,
				func(k, v []byte) (bool, error) { values[string(k)] = append([]byte(nil), v...); return true, nil })
		})
		for key, good := range values {
			if len(values) > 60 && rnd.IntN(len(values)) > 60 {
				continue
			}
			put := func(v []byte) {
				if err := db.Update(t.Context(), func(tx *kv.Txn) error { return tx.Set(space, []byte(key), v) }); err != nil {
					t.Fatal(err)
				}
			}
			bad := append([]byte(nil), good...)
			bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
			put(bad)
			s, err := triplestore.Open(db, triplestore.Options{CacheBytes: 1, DictCacheBytes: 1})
			if err == nil {
				if err := s.Dump(t.Context(), term.Pattern{}, func(term.Quad) error { return nil }); err != nil &&
					!errors.Is(err, triplestore.ErrDamaged) {
					t.Errorf("%s %q: dump: %v", space, key, err)
				}
				_, err = s.Check(t.Context())
				s.Close()
			}
			if !errors.Is(err, triplestore.ErrDamaged) && !errors.Is(err, triplestore.ErrNewer) {
				t.Errorf("%s %q: %v", space, key, err)
			}
			put(good)
		}
	}
}
