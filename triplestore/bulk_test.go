package triplestore_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// quads is a QuadReader over a slice. It ends with err instead of io.EOF if err is set.
type quads struct {
	q   []term.Quad
	err error
}

func (r *quads) Read() (term.Quad, error) {
	if len(r.q) == 0 {
		if r.err != nil {
			return term.Quad{}, r.err
		}
		return term.Quad{}, io.EOF
	}
	q := r.q[0]
	r.q = r.q[1:]
	return q, nil
}

func some(n int, g string) []term.Quad {
	var out []term.Quad
	for i := range n {
		q := term.Quad{S: term.IRI(fmt.Sprintf("http://e/s%d", i/3)), P: term.IRI(fmt.Sprintf("http://e/p%d", i%3)),
			O: term.String(fmt.Sprintf("object number %d", i/2))}
		if g != "" {
			q.G = term.IRI(g)
		}
		out = append(out, q)
	}
	return out
}

func dump(t testing.TB, s *triplestore.Store) (n int) {
	t.Helper()
	if err := s.Dump(t.Context(), term.Pattern{}, func(term.Quad) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestALoadThatFailsLeavesTheStoreAsItWas(t *testing.T) {
	t.Parallel()
	s := open(t, inMemory(t), triplestore.Options{})
	if n, err := s.Load(t.Context(), &quads{q: append(some(100, ""), some(100, "")...)}); err != nil || n.Read != 200 || n.Added != 100 {
		t.Fatalf("%+v %v", n, err)
	}
	broken := errors.New("line 7: expected an IRI")
	if _, err := s.Load(t.Context(), &quads{q: some(1000, "http://e/g"), err: broken}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if n := dump(t, s); n != 100 {
		t.Errorf("%d quads", n)
	}
	if _, err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDropGraphAndClearRemoveWhatTheySay(t *testing.T) {
	t.Parallel()
	s := open(t, inMemory(t), triplestore.Options{})
	for _, g := range []string{"", "http://e/g1", "http://e/g2"} {
		if _, err := s.Load(t.Context(), &quads{q: some(30, g)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		do   func() error
		left int
	}{
		{func() error { return s.DropGraph(t.Context(), "<http://e/g1") }, 60},
		{func() error { return s.DropGraph(t.Context(), "<http://e/none") }, 60},
		{func() error { return s.DropGraph(t.Context(), "") }, 30},
		{func() error { return s.Clear(t.Context()) }, 0},
		{func() error { return s.Clear(t.Context()) }, 0},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if n := dump(t, s); n != step.left {
			t.Errorf("%d quads left, want %d", n, step.left)
		}
	}
}

func TestTheChangeLogTellsEveryCommit(t *testing.T) {
	t.Parallel()
	s := open(t, inMemory(t), triplestore.Options{})
	a, b := some(2, "")[0], some(2, "http://e/g")[1]
	for _, f := range []func(*triplestore.Txn) error{
		func(tx *triplestore.Txn) error { return errors.Join(tx.Insert(a), tx.Insert(b)) },
		func(tx *triplestore.Txn) error { return errors.Join(tx.Insert(a), tx.Delete(b)) },
		func(tx *triplestore.Txn) error { return tx.Insert(a) }, // changes nothing
		func(tx *triplestore.Txn) error { return tx.Insert(b) },
	} {
		if err := s.Update(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	tell := func(since uint64) string {
		var b strings.Builder
		last, err := s.Changes(t.Context(), since, func(c triplestore.Commit) error {
			fmt.Fprintf(&b, "%d:-%d+%d ", c.Position, len(c.Removed), len(c.Added))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(b.String(), last)
	}
	if got := tell(0); got != "1:-0+2 2:-1+0 3:-0+1 3" {
		t.Errorf("from the beginning: %s", got)
	}
	if got := tell(2); got != "3:-0+1 3" {
		t.Errorf("since 2: %s", got)
	}
	if got := tell(3); got != "3" {
		t.Errorf("since the last: %s", got)
	}
}

func TestStatisticsAreExact(t *testing.T) {
	t.Parallel()
	s := open(t, inMemory(t), triplestore.Options{})
	for _, g := range []string{"", "http://e/g1"} {
		if _, err := s.Load(t.Context(), &quads{q: some(30, g)}); err != nil {
			t.Fatal(err)
		}
	}
	sn := s.Snapshot()
	defer sn.Release()
	st, err := sn.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.Quads != 60 || st.Default.Triples != 30 || st.Default.Subjects != 10 || st.Default.Predicates != 3 || st.Default.Objects != 15 ||
		len(st.Named) != 1 || st.Named[0].Triples != 30 || st.Named[0].Graph != "<http://e/g1" {
		t.Errorf("%+v", st)
	}
	for _, p := range st.Default.ByPredicate {
		if p.Triples != 10 || p.Subjects != 10 || p.Objects != 10 {
			t.Errorf("%+v", p)
		}
	}
}
