package kv_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"odarchive/triplestore/disk/disktest"
	"odarchive/triplestore/kv"
)

// Several writers and batches work while disk operations fail and the power fails, repeatedly on one disk. In all
// cases, after reopening: acknowledged writes are stored; nothing is stored of functions that failed or that the disk
// had no room for; writes with unknown outcome are stored completely or not at all, and stay so.
func TestWhateverFailsTheDatabaseHoldsWhatItAcknowledged(t *testing.T) {
	disktest.RunModels(t, 60, 5, func(m *disktest.Model) { (&model{m}).live() })
}

// model is a model of a database.
type model struct{ *disktest.Model }

const writers = 3

// live opens the database, runs the writers until they are done or the disk fails, and restarts the process or the
// machine.
func (m *model) live() {
	db, err := kv.Open("data", kv.Options{CacheInMemory: true, FS: m.Disk.FS(), MinFree: -1, SaveAt: 4 << 10})
	if err != nil {
		m.Fail("opening it: %v", err)
		return
	}
	if damages := db.Damages(); len(damages) > 0 {
		m.Fail("opening finds %v", damages)
	}
	m.compare(db, true)
	m.Disk.Arrange("", "*.log", "*.state*", "tip")
	var wg sync.WaitGroup
	for w := range writers {
		r := rand.New(rand.NewPCG(m.Rand.Uint64(), uint64(w)))
		wg.Go(func() { m.write(db, w, r) })
	}
	wg.Wait()
	m.compare(db, false)
	m.Disk.Restart(db.Close)
}

func (m *model) write(db *kv.DB, writer int, r *rand.Rand) {
	for range 15 {
		w := m.Known.Begin(writer, 1+r.IntN(5), r.IntN(5) == 0)
		err := m.put(db, w, r)
		full := errors.Is(err, kv.ErrDiskFull) && !errors.Is(err, kv.ErrWritesStopped)
		switch {
		case err == nil:
			m.Known.Acknowledge(w)
			continue
		case errors.Is(err, errRefused), full && !w.Parts:
			m.Known.Refuse(w)
		}
		if !errors.Is(err, errRefused) {
			m.Disk.Say("writer %d, %d: %v", writer, w.Number, err)
			if !full {
				return
			}
		}
	}
}

var errRefused = errors.New("the function fails")

func key(w *disktest.Put, i int) []byte { return fmt.Appendf(nil, "%d/%06d/%d", w.Writer, w.Number, i) }

// value returns a value of varying size; some do not fit into a commit with others.
func value(w *disktest.Put, i int) []byte {
	size := w.Number * 7919 % 400
	if w.Number%40 == 0 {
		size = 200 << 10
	}
	return bytes.Repeat([]byte{byte(w.Number + i)}, size)
}

func counter(writer int) []byte { return fmt.Appendf(nil, "counter/%d", writer) }

func (m *model) put(db *kv.DB, w *disktest.Put, r *rand.Rand) error {
	if w.Parts {
		b := db.Batch()
		for i := range w.Entries {
			if err := b.Set(kv.SpaceTest, key(w, i), value(w, i)); err != nil {
				return err
			}
		}
		return b.Flush()
	}
	refuse := r.IntN(8) == 0
	if r.IntN(3) == 0 {
		m.Known.Replace(w)
	}
	last := m.Known.Last(w.Writer)
	return db.Update(context.Background(), func(tx *kv.Txn) error {
		b, _, err := tx.Get(kv.SpaceTest, counter(w.Writer))
		if err != nil {
			return err
		}
		if n := number(b); n != last {
			m.Fail("writer %d reads that its last write was %d, it was %d", w.Writer, n, last)
		}
		err = tx.Set(kv.SpaceTest, counter(w.Writer), binary.BigEndian.AppendUint64(nil, uint64(w.Number)))
		for i := range w.Entries {
			err = errors.Join(err, tx.Set(kv.SpaceTest, key(w, i), value(w, i)))
		}
		if w.Replaces != nil {
			for i := range w.Replaces.Entries {
				err = errors.Join(err, tx.Delete(kv.SpaceTest, key(w.Replaces, i)))
			}
		}
		if refuse {
			return errRefused
		}
		return err
	})
}

func number(b []byte) int {
	if len(b) != 8 {
		return 0
	}
	return int(binary.BigEndian.Uint64(b))
}

// compare compares the database with the ledger.
func (m *model) compare(db *kv.DB, opened bool) {
	got := map[string][]byte{}
	err := db.View(func(tx *kv.Txn) error {
		return tx.Scan(kv.SpaceTest, nil, nil, func(key, val []byte) (bool, error) {
			got[string(key)] = bytes.Clone(val)
			return true, nil
		})
	})
	if err != nil {
		m.Fail("reading: %v", err)
		return
	}
	wrong := m.Known.Compare(opened, func(w *disktest.Put) (n int) {
		for i := range w.Entries {
			val, ok := got[string(key(w, i))]
			if ok && bytes.Equal(val, value(w, i)) {
				n++
				delete(got, string(key(w, i)))
			}
		}
		return n
	})
	for writer := range writers {
		if n, last := number(got[string(counter(writer))]), m.Known.Last(writer); n != last {
			wrong = append(wrong, fmt.Sprintf("writer %d: the counter says %d, the last write that is there is %d", writer, n, last))
		}
		delete(got, string(counter(writer)))
	}
	for key := range got {
		wrong = append(wrong, fmt.Sprintf("%q is there, and nobody wrote it", key))
	}
	if len(wrong) > 0 {
		m.Fail("opened %v: %s", opened, strings.Join(wrong, "\n"))
	}
}
