package triplestore_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// The campaign: a child process commits, merges, loads, replaces, drops graphs, indexes and sweeps until it is killed
// at a random moment. Everything it acknowledged must then be stored, each commit completely or not at all, and the
// store must pass Check.
//
//	go test -tags campaign ./triplestore -run TestKill -rounds 200

const killEnv = "ODARCHIVE_TEST_KILL_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(killEnv); args != "" {
		if err := killChild(args); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var killOptions = triplestore.Options{MergeAt: 400, LoadMemory: 300 << 10, KeepChanges: 100 << 10}

// step is commit number n, given the content of the store before it. It always changes something.
type step struct {
	kind string // "update", "load", "replace", "drop"
	add  []term.Quad
	del  []term.Quad
	drop term.Key
}

func stepOf(seed, n uint64, holds map[term.Quad]bool) step {
	r := rand.New(rand.NewPCG(seed, n))
	quad := func() term.Quad {
		q := term.Quad{S: term.IRI(fmt.Sprintf("http://e/s%d", r.IntN(100))), P: term.IRI(fmt.Sprintf("http://e/p%d", r.IntN(4))),
			O: term.String(fmt.Sprintf("object %d", r.IntN(25)))}
		if r.IntN(4) == 0 {
			q.O = term.Typed(fmt.Sprintf("POINT(%d %d)", r.IntN(9), r.IntN(9)), "http://www.opengis.net/ont/geosparql#wktLiteral")
		}
		if g := r.IntN(6); g < 3 {
			q.G = term.IRI(fmt.Sprintf("http://e/g%d", g))
		}
		return q
	}
	s := step{
		kind: "update", add: []term.Quad{
			{S: term.IRI("http://e/counter"), P: term.IRI("http://e/at"), O: term.String(fmt.Sprintf("commit number %d", n))}}}
	if n > 5 { // so that terms become unused
		s.del = append(s.del, term.Quad{S: term.IRI("http://e/counter"), P: term.IRI("http://e/at"),
			O: term.String(fmt.Sprintf("commit number %d", n-5))})
	}
	size := 5 + r.IntN(60)
	switch k := r.IntN(100); {
	case k < 8:
		size = 400 + r.IntN(2000) // written directly into blocks
	case k < 14:
		s.del = nil
		s.kind, size = "load", r.IntN(4000)
	case k < 22:
		s.kind, size = "replace", r.IntN(4000)
	case k < 26:
		g := quad().G
		for q := range holds {
			if q.G == g && g != "" {
				return step{kind: "drop", drop: g}
			}
		}
	}
	for range size {
		if q := quad(); s.kind != "load" && r.IntN(3) == 0 {
			s.del = append(s.del, q)
		} else {
			s.add = append(s.add, q)
		}
	}
	return s
}

func (s step) apply(holds map[term.Quad]bool) {
	for q := range holds {
		if s.kind == "drop" && q.G == s.drop {
			delete(holds, q)
		}
	}
	for _, q := range s.del {
		delete(holds, q)
	}
	for _, q := range s.add {
		holds[q] = true
	}
}

func (s step) run(t *triplestore.Store, n uint64) error {
	ctx := killContext
	switch s.kind {
	case "load":
		_, err := t.Load(ctx, &quads{q: s.add})
		return err
	case "replace":
		return t.Replace(ctx, func(remove, insert func(term.Quad) error) error {
			for _, q := range s.add {
				if err := insert(q); err != nil {
					return err
				}
			}
			for _, q := range s.del {
				if err := remove(q); err != nil {
					return err
				}
			}
			return nil
		})
	case "drop":
		return t.DropGraph(ctx, s.drop)
	}
	return t.Update(ctx, func(tx *triplestore.Txn) error {
		for _, q := range s.del {
			if err := tx.Delete(q); err != nil {
				return err
			}
		}
		for _, q := range s.add {
			if err := tx.Insert(q); err != nil {
				return err
			}
		}
		return tx.KV().Set(kv.SpaceTest, []byte("n"), binary.BigEndian.AppendUint64(nil, n))
	})
}

// killChild commits from the store's position on and prints each position, until it is killed.
func killChild(args string) error {
	var dir string
	var seed uint64
	if _, err := fmt.Sscanf(args, "%d %s", &seed, &dir); err != nil {
		return err
	}
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		return err
	}
	s, err := triplestore.Open(db, killOptions)
	if err != nil {
		return err
	}
	holds := map[term.Quad]bool{}
	if err := s.Dump(killContext, term.Pattern{}, func(q term.Quad) error { holds[q] = true; return nil }); err != nil {
		return err
	}
	sn := s.Snapshot()
	n := sn.Position()
	sn.Release()
	fmt.Println("open", n)
	for {
		n++
		st := stepOf(seed, n, holds)
		if err := st.run(s, n); err != nil {
			return fmt.Errorf("commit %d: %w", n, err)
		}
		st.apply(holds)
		fmt.Println("done", n)
		if n%3 == 0 {
			if err := s.IndexLiterals(killContext); err != nil {
				return fmt.Errorf("indexing after commit %d: %w", n, err)
			}
		}
		if n%5 == 0 {
			if _, err := s.Sweep(killContext); err != nil {
				return fmt.Errorf("sweep after commit %d: %w", n, err)
			}
		}
	}
}

func TestKilledAtAnyMomentTheStoreHoldsEveryAcknowledgedCommit(t *testing.T) {
	t.Parallel()
	seed := kitSeed(t)
	rnd := rand.New(rand.NewPCG(seed, 7))
	dir := t.TempDir()
	holds := map[term.Quad]bool{}
	var at, lastUpdate uint64
	for round := range killRounds() {
		acked := runAndKill(t, dir, seed, time.Duration(20+rnd.IntN(500))*time.Millisecond)
		db, err := kv.Open(dir, kv.Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		s, err := triplestore.Open(db, killOptions)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		sn := s.Snapshot()
		position := sn.Position()
		sn.Release()
		if position < acked || acked > 0 && position > acked+1 {
			t.Fatalf("round %d: at commit %d, %d was the last acknowledged", round, position, acked)
		}
		for ; at < position; at++ {
			st := stepOf(seed, at+1, holds)
			st.apply(holds)
			if st.kind == "update" {
				lastUpdate = at + 1
			}
		}
		var wrong []term.Quad
		n := 0
		err = s.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error {
			n++
			if !holds[q] {
				wrong = append(wrong, q)
			}
			return nil
		})
		if err != nil || len(wrong) > 0 || n != len(holds) {
			t.Fatalf("round %d, commit %d: %d quads, want %d; %d that should not be there; %v", round, position, n, len(holds), len(wrong),
				err)
		}
		c, err := s.Check(t.Context())
		if err != nil || c.Orphans > 0 || c.Quads != uint64(n) {
			t.Fatalf("round %d: %+v, %v", round, c, err)
		}
		err = db.View(func(tx *kv.Txn) error {
			b, _, err := tx.Get(kv.SpaceTest, []byte("n"))
			if got := binary.BigEndian.Uint64(append(make([]byte, 8-len(b)), b...)); got != lastUpdate {
				t.Fatalf("round %d: the key-value side is at %d, the quads at %d", round, got, lastUpdate)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		checkChanges(t, s, holds)
		s.Close()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d commits", at)
}

// checkChanges replays the change log if it still reaches back to the first commit.
func checkChanges(t *testing.T, s *triplestore.Store, holds map[term.Quad]bool) {
	t.Helper()
	replayed := map[term.Quad]bool{}
	_, err := s.Changes(t.Context(), 0, func(c triplestore.Commit) error {
		for _, q := range c.Removed {
			if !replayed[q] {
				return fmt.Errorf("commit %d removes a quad that is not there", c.Position)
			}
			delete(replayed, q)
		}
		for _, q := range c.Added {
			if replayed[q] {
				return fmt.Errorf("commit %d adds a quad that is there", c.Position)
			}
			replayed[q] = true
		}
		return nil
	})
	if isTrimmed(err) {
		return
	}
	if err != nil || len(replayed) != len(holds) {
		t.Fatalf("replaying the change log: %v; %d quads, want %d", err, len(replayed), len(holds))
	}
}

// runAndKill lets a child work for a while, kills it and returns the last commit it acknowledged.
func runAndKill(t *testing.T, dir string, seed uint64, after time.Duration) (acked uint64) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(slices.Clone(os.Environ()), killEnv+"="+fmt.Sprintf("%d %s", seed, dir))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Measure from the child's first output: on a busy machine starting takes longer than working.
	lines := bufio.NewScanner(out)
	var timer *time.Timer
	for lines.Scan() {
		if timer == nil {
			timer = time.AfterFunc(after, func() { cmd.Process.Kill() })
		}
		var word string
		var n string
		fmt.Sscan(lines.Text(), &word, &n)
		if v, err := strconv.ParseUint(n, 10, 64); err == nil {
			acked = v
		}
	}
	if timer != nil {
		timer.Stop()
	}
	err = cmd.Wait()
	if cmd.ProcessState.ExitCode() == 1 {
		t.Fatalf("the child failed: %v", err)
	}
	return acked
}
