package triplestore_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// TestReplaceAgreesWithAModel replaces random quads several times, in one chunk and in many, and compares the store,
// its change log and its state after another opening with sets of quads.
func TestReplaceAgreesWithAModel(t *testing.T) {
	t.Parallel()
	for seed, memory := range []int64{0, 1 << 18} { // one chunk in memory; several in files
		t.Run(fmt.Sprint("memory ", memory), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 11))
			dir, temp := t.TempDir(), t.TempDir()
			opts := triplestore.Options{LoadMemory: memory, KeepChanges: -1, TempDir: temp}
			db, err := kv.Open(dir, kv.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { db.Close() }()
			s := open(t, db, opts)
			some := func(n int) (out []term.Quad) {
				for range n {
					q := term.Quad{S: term.IRI(fmt.Sprint("http://e/", r.IntN(2000))), P: term.IRI(fmt.Sprint("http://e/p", r.IntN(3))),
						O: term.String(fmt.Sprint(r.IntN(4)))}
					if g := r.IntN(3); g > 0 {
						q.G = term.IRI(fmt.Sprint("http://e/g", g))
					}
					out = append(out, q)
				}
				return out
			}
			want := map[term.Quad]bool{}
			first := some(9000)
			if _, err := s.Load(t.Context(), &quads{q: first}); err != nil {
				t.Fatal(err)
			}
			for _, q := range first {
				want[q] = true
			}
			for round := range 3 {
				before := maps.Clone(want)
				gone, fresh := some(4000), some(4000)
				fresh = append(fresh,
					term.Quad{S: term.IRI("http://e/new"), P: term.IRI("http://e/p"),
						O: term.String(fmt.Sprint("a term of round ", round))})
				start := position(s)
				err := s.Replace(t.Context(), func(remove, insert func(term.Quad) error) error {
					for i := range max(len(gone), len(fresh)) { // in any order
						if i < len(fresh) {
							if err := insert(fresh[i]); err != nil {
								return err
							}
						}
						if i < len(gone) {
							if err := remove(gone[i]); err != nil {
								return err
							}
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, q := range gone {
					delete(want, q)
				}
				for _, q := range fresh {
					want[q] = true
				}
				if got := dumped(t, s); !maps.Equal(got, want) {
					t.Fatalf("round %d: %d quads, want %d", round, len(got), len(want))
				}
				positions := map[uint64]bool{}
				added := false
				_, err = s.Changes(t.Context(), start, func(c triplestore.Commit) error {
					positions[c.Position] = true
					for _, q := range c.Removed {
						if added || !before[q] {
							return fmt.Errorf("%v is removed: after others were added, or twice", q)
						}
						delete(before, q)
					}
					for _, q := range c.Added {
						if added = true; before[q] {
							return fmt.Errorf("%v is added, and was there", q)
						}
						before[q] = true
					}
					return nil
				})
				if err != nil || len(positions) != 1 || !maps.Equal(before, want) {
					t.Fatalf("round %d: the change log has %d commits and leads to %d quads, want %d: %v", round, len(positions),
						len(before), len(want), err)
				}
				check(t, s)
			}
			if err := errors.Join(s.Close(), db.Close()); err != nil {
				t.Fatal(err)
			}
			if db, err = kv.Open(dir, kv.Options{}); err != nil {
				t.Fatal(err)
			}
			s = open(t, db, opts)
			if got := dumped(t, s); !maps.Equal(got, want) {
				t.Errorf("after another opening: %d quads, want %d", len(got), len(want))
			}
			check(t, s)
			if files, err := os.ReadDir(temp); err != nil || len(files) > 0 {
				t.Errorf("temporary files are left: %v, %v", files, err)
			}
		})
	}
}

func position(s *triplestore.Store) uint64 {
	sn := s.Snapshot()
	defer sn.Release()
	return sn.Position()
}

func TestAReplaceThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	s := open(t, inMemory(t), triplestore.Options{LoadMemory: 1 << 18, TempDir: temp})
	all := about("a", 3000, "")
	if _, err := s.Load(t.Context(), &quads{q: all}); err != nil {
		t.Fatal(err)
	}
	fault := errors.New("fault")
	for _, c := range []struct {
		name string
		bad  term.Quad // inserted last
		err  error     // returned after it
	}{
		{"the pattern fails", about("c", 1, "")[0], fault},
		{"a quad is none", term.Quad{S: term.String("a text"), P: term.IRI("http://e/p"), O: term.String("x")}, nil},
	} {
		err := s.Replace(t.Context(), func(remove, insert func(term.Quad) error) error {
			for _, q := range all {
				if err := remove(q); err != nil {
					return err
				}
			}
			for _, q := range slices.Concat(about("b", 3000, "<http://e/g>"), []term.Quad{c.bad}) {
				if err := insert(q); err != nil {
					return err
				}
			}
			return c.err
		})
		if err == nil || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: got error %v", c.name, err)
		}
		if got := dumped(t, s); len(got) != len(all) {
			t.Errorf("%s: %d quads are left of %d", c.name, len(got), len(all))
		}
		check(t, s)
	}
	if files, err := os.ReadDir(temp); err != nil || len(files) > 0 {
		t.Errorf("temporary files are left: %v, %v", files, err)
	}
}
