package triplestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/disk/disktest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Several writers commit, some of them so much that it is written directly into blocks, while merges and sweeps run,
// disk operations fail and the power fails, repeatedly on one disk. In all cases: acknowledged commits are visible,
// before and after reopening; nothing else is visible before; each commit is stored completely or not at all; and the
// store is sound.
func TestWhateverFailsTheStoreHoldsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	disktest.RunModels(t, 40, 4, func(m *disktest.Model) { (&storeModel{m}).live() })
}

// storeModel is a model of a store.
type storeModel struct{ *disktest.Model }

func (m *storeModel) live() {
	db, err := kv.Open("data", kv.Options{CacheInMemory: true, FS: m.Disk.FS(), MinFree: -1, SaveAt: 16 << 10})
	if err != nil {
		m.Fail("opening the database: %v", err)
		return
	}
	s, err := triplestore.Open(db, triplestore.Options{MergeAt: 60, KeepChanges: 10 << 10})
	if err != nil {
		m.Fail("opening the store: %v", errors.Join(err, db.Close()))
		return
	}
	m.compare(s, true)
	m.Disk.Arrange("", "*.log", "*.state*")
	var wg sync.WaitGroup
	for w := range 3 {
		r := rand.New(rand.NewPCG(m.Rand.Uint64(), uint64(w)))
		wg.Go(func() { m.write(s, w, r) })
	}
	wg.Wait()
	m.compare(s, false)
	m.Disk.Restart(func() error { return errors.Join(s.Close(), db.Close()) })
}

func (m *storeModel) write(s *triplestore.Store, writer int, r *rand.Rand) {
	for range 10 {
		entries := 1 + r.IntN(20)
		if r.IntN(12) == 0 {
			entries = 300 // written directly into blocks
		}
		w := m.Known.Begin(writer, entries, false)
		err := m.put(s, w, r)
		full := errors.Is(err, kv.ErrDiskFull) && !errors.Is(err, kv.ErrWritesStopped)
		switch {
		case err == nil:
			m.Known.Acknowledge(w)
		case errors.Is(err, errRefused), full:
			m.Known.Refuse(w)
		default:
			m.Disk.Say("writer %d, %d: %v", writer, w.Number, err)
			return
		}
		if r.IntN(15) == 0 {
			if _, err := s.Sweep(context.Background()); err != nil {
				m.Disk.Say("sweep: %v", err)
			}
		}
	}
}

var errRefused = errors.New("the function fails")

// entry returns a quad with terms of its own, terms that many quads share, and the graph of its writer.
func entry(w *disktest.Put, i int) term.Quad {
	return term.Quad{
		S: term.IRI(fmt.Sprintf("http://e/%d/%d", w.Writer, w.Number)), P: term.IRI(fmt.Sprintf("http://e/p%d", i%5)),
		O: term.String(fmt.Sprintf("entry %d of %d", i, w.Number%50)), G: term.IRI(fmt.Sprintf("http://e/g%d", w.Writer)),
	}
}

func (m *storeModel) put(s *triplestore.Store, w *disktest.Put, r *rand.Rand) error {
	refuse := r.IntN(8) == 0
	if r.IntN(3) == 0 {
		m.Known.Replace(w)
	}
	return s.Update(context.Background(), func(tx *triplestore.Txn) error {
		for i := range w.Entries {
			if err := tx.Insert(entry(w, i)); err != nil {
				return err
			}
		}
		if w.Replaces != nil {
			for i := range w.Replaces.Entries {
				if err := tx.Delete(entry(w.Replaces, i)); err != nil {
					return err
				}
			}
		}
		if refuse {
			return errRefused
		}
		return nil
	})
}

// compare compares the store with the ledger.
func (m *storeModel) compare(s *triplestore.Store, opened bool) {
	ctx := context.Background()
	got := map[term.Quad]bool{}
	if err := s.Dump(ctx, term.Pattern{}, func(q term.Quad) error { got[q] = true; return nil }); err != nil {
		m.Fail("opened %v: dump: %v", opened, err)
		return
	}
	all := len(got)
	wrong := m.Known.Compare(opened, func(w *disktest.Put) (n int) {
		for i := range w.Entries {
			if q := entry(w, i); got[q] {
				n++
				delete(got, q)
			}
		}
		return n
	})
	for q := range got {
		wrong = append(wrong, fmt.Sprintf("%q is there, and nobody wrote it", q))
	}
	c, err := s.Check(ctx)
	if err != nil || c.Quads != uint64(all) || opened && c.Orphans > 0 {
		wrong = append(wrong, fmt.Sprintf("check: %+v, %v; %d quads were dumped", c, err, all))
	}
	if len(wrong) > 0 {
		m.Fail("opened %v: %s", opened, strings.Join(wrong, "\n"))
	}
}
