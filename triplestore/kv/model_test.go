package kv_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"odarchive/triplestore/disk/disktest"
	"odarchive/triplestore/kv"
)

// Several writers and batches are at work while operations of the disk fail and the power goes, again and again on one
// disk. Whatever happens, after opening again: what was acknowledged is there; nothing is there of a function that failed,
// or that the disk had no room for; what is unknown is there as a whole or not at all, and stays so.
func TestWhateverFailsTheDatabaseHoldsWhatItAcknowledged(t *testing.T) {
	seeds := disktest.Seeds(t, 60)
	acknowledged, unknown := 0, 0
	for i, seed := range seeds {
		m := newModel(seed)
		for life := 0; life < 5 && m.failure == ""; life++ {
			m.live()
		}
		if m.failure != "" {
			t.Fatalf("ODARCHIVE_SEED=%d (%d of %d): %s\n%s", seed, i+1, len(seeds), m.failure, m.story.String())
		}
		acknowledged += m.acknowledged
		unknown += m.unknown
	}
	t.Logf("%d seeds from %d on: %d writes acknowledged, %d unknown", len(seeds), seeds[0], acknowledged, unknown)
	if len(seeds) > 5 && (acknowledged == 0 || unknown == 0) {
		t.Error("the test tests nothing")
	}
}

type fate int

const (
	unknown fate = iota // the disk failed while it was committed
	there
	absent
)

// group is what one function or one batch writes.
type group struct {
	writer, number, entries, size int
	batch                         bool
	replaces                      *group // which it deletes in the same transaction
	fate                          fate
}

func (g *group) key(i int) []byte { return fmt.Appendf(nil, "%d/%06d/%d", g.writer, g.number, i) }
func (g *group) value(i int) []byte {
	return bytes.Repeat([]byte{byte(g.number + i)}, g.size)
}

func counter(writer int) []byte { return fmt.Appendf(nil, "counter/%d", writer) }

// model is a database on a bad disk, and what is known of it.
type model struct {
	seed   uint64
	rand   *rand.Rand
	disk   *disktest.Crash
	faults *disktest.Errors

	mu                    sync.Mutex // guards what follows
	groups                [writers][]*group
	number                [writers]int
	acknowledged, unknown int
	failure               string
	story                 bytes.Buffer
}

const writers = 3

func newModel(seed uint64) *model {
	m := &model{seed: seed, rand: rand.New(rand.NewPCG(seed, 5)), disk: disktest.NewCrash(seed)}
	m.disk.Ext4 = seed%2 == 0
	m.faults = disktest.NewErrors(m.disk)
	if err := errors.Join(m.disk.MkdirAll("data", 0o755), m.disk.SyncDir("/")); err != nil {
		panic(err)
	}
	return m
}

func (m *model) say(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Fprintf(&m.story, format+"\n", args...)
}

func (m *model) fail(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure == "" {
		m.failure = fmt.Sprintf(format, args...)
	}
}

// live opens the database, has the writers at work until they are done or the disk fails, and ends with a restart of the
// process or of the machine.
func (m *model) live() {
	db, err := kv.Open("data", kv.Options{CacheInMemory: true, FS: m.faults, MinFree: -1, SaveAt: 4 << 10})
	if err != nil {
		m.fail("opening it: %v", err)
		return
	}
	if damages := db.Damages(); len(damages) > 0 {
		m.fail("opening finds %v", damages)
	}
	m.compare(db, true)
	power := m.arrange()
	var wg sync.WaitGroup
	for w := range writers {
		r := rand.New(rand.NewPCG(m.rand.Uint64(), uint64(w)))
		wg.Go(func() { m.write(db, w, r) })
	}
	wg.Wait()
	if m.failure == "" {
		m.compare(db, false)
	}
	if power || m.rand.IntN(4) == 0 { // else the process ends in order, as far as the disk lets it
		left := m.disk.Crash()
		db.Close()
		m.disk = left
		m.say("power cut")
	} else {
		m.say("close: %v", db.Close())
	}
	m.faults = disktest.NewErrors(m.disk)
}

// arrange decides what is to fail, and says whether it is the power.
func (m *model) arrange() (power bool) {
	kinds := []disktest.Kind{disktest.Write, disktest.Sync, disktest.SyncDir, disktest.Rename, disktest.Truncate, disktest.Remove, disktest.Open, disktest.Changes}
	kind := kinds[m.rand.IntN(len(kinds))]
	pattern := []string{"", "", "*.log", "*.state*", "tip"}[m.rand.IntN(5)]
	n := 1 + m.rand.IntN(60)
	cause := []error{syscall.EIO, syscall.ENOSPC}[m.rand.IntN(2)]
	m.faults.Reset()
	m.faults.Only(kind, pattern)
	m.faults.Short = m.rand.IntN(2) == 0
	switch m.rand.IntN(4) {
	case 0:
		m.faults.FailAt(n, cause)
		m.say("%v %d of %q fails: %v", kind, n, pattern, cause)
	case 1:
		m.faults.FailFrom(n, cause)
		m.say("from %v %d of %q on all fail: %v", kind, n, pattern, cause)
	case 2:
		m.disk.CutAt(m.disk.Changes() + 3*n)
		m.say("the power fails after %d changes", 3*n)
		return true
	}
	return false
}

func (m *model) write(db *kv.DB, writer int, r *rand.Rand) {
	for range 15 {
		m.mu.Lock()
		m.number[writer]++
		g := &group{writer: writer, number: m.number[writer], entries: 1 + r.IntN(5), size: r.IntN(1 + r.IntN(400))}
		m.groups[writer] = append(m.groups[writer], g)
		m.mu.Unlock()
		if r.IntN(40) == 0 {
			g.size = 200 << 10 // does not fit into a commit with others
		}
		g.batch = r.IntN(5) == 0
		err := m.put(db, g, r)
		m.mu.Lock()
		switch {
		case err == nil:
			g.fate = there
			m.acknowledged++
		case errors.Is(err, errRefused), errors.Is(err, kv.ErrDiskFull) && !errors.Is(err, kv.ErrWritesStopped) && !g.batch:
			g.fate = absent
		default:
			m.unknown++
		}
		m.mu.Unlock()
		if err != nil && !errors.Is(err, errRefused) {
			m.say("writer %d, %d: %v", writer, g.number, err)
			if !errors.Is(err, kv.ErrDiskFull) {
				return
			}
		}
	}
}

var errRefused = errors.New("the function fails")

func (m *model) put(db *kv.DB, g *group, r *rand.Rand) error {
	if g.batch {
		b := db.Batch()
		for i := range g.entries {
			if err := b.Set(kv.SpaceTest, g.key(i), g.value(i)); err != nil {
				return err
			}
		}
		return b.Flush()
	}
	refuse := r.IntN(8) == 0
	if r.IntN(3) == 0 {
		g.replaces = m.oldest(g)
	}
	return db.Update(context.Background(), func(tx *kv.Txn) error {
		b, _, err := tx.Get(kv.SpaceTest, counter(g.writer))
		if err != nil {
			return err
		}
		if got, want := binary.BigEndian.Uint64(append(make([]byte, 8-len(b)), b...)), m.last(g); got != want {
			m.fail("writer %d reads that its last write was %d, it was %d", g.writer, got, want)
		}
		err = tx.Set(kv.SpaceTest, counter(g.writer), binary.BigEndian.AppendUint64(nil, uint64(g.number)))
		for i := range g.entries {
			err = errors.Join(err, tx.Set(kv.SpaceTest, g.key(i), g.value(i)))
		}
		if g.replaces != nil {
			for i := range g.replaces.entries {
				err = errors.Join(err, tx.Delete(kv.SpaceTest, g.replaces.key(i)))
			}
		}
		if refuse {
			return errRefused
		}
		return err
	})
}

// last returns the number of the last group of the writer that is there, before one.
func (m *model) last(before *group) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, g := range m.groups[before.writer] {
		if g.number < before.number && g.fate == there && !g.batch {
			n = g.number
		}
	}
	return uint64(n)
}

// oldest returns a group of the writer that can be deleted, or nil.
func (m *model) oldest(before *group) *group {
	m.mu.Lock()
	defer m.mu.Unlock()
	replaced := map[*group]bool{}
	for _, g := range m.groups[before.writer] {
		replaced[g.replaces] = replaced[g.replaces] || g.fate == there
	}
	for _, g := range m.groups[before.writer] {
		if g.fate == there && !replaced[g] && g != before {
			return g
		}
	}
	return nil
}

// compare holds the database to what is known. After opening, what was unknown is decided by what is there.
func (m *model) compare(db *kv.DB, opened bool) {
	got := map[string][]byte{}
	err := db.View(func(tx *kv.Txn) error {
		return tx.Scan(kv.SpaceTest, nil, nil, func(key, val []byte) (bool, error) {
			got[string(key)] = bytes.Clone(val)
			return true, nil
		})
	})
	if err != nil {
		m.fail("reading: %v", err)
		return
	}
	for w := range writers {
		last, gone := 0, map[*group]bool{}
		for i := len(m.groups[w]) - 1; i >= 0; i-- { // what replaces comes before what it replaces
			g := m.groups[w][i]
			n := 0
			for e := range g.entries {
				if val, ok := got[string(g.key(e))]; ok {
					n++
					if !bytes.Equal(val, g.value(e)) {
						m.fail("writer %d, %d: entry %d has another value", w, g.number, e)
					}
					delete(got, string(g.key(e)))
				}
			}
			if gone[g] {
				if g.replaces != nil { // it was there itself
					gone[g.replaces] = true
				}
				if n > 0 {
					m.fail("writer %d, %d: %d of its %d entries are there, and what deletes them, too", w, g.number, n, g.entries)
				}
				continue
			}
			if n > 0 && n < g.entries && !g.batch {
				m.fail("writer %d, %d: %d of its %d entries are there", w, g.number, n, g.entries)
			}
			isThere := n == g.entries
			switch {
			case g.fate == there && !isThere:
				m.fail("writer %d, %d: acknowledged, and %d of %d entries are there (batch %v)", w, g.number, n, g.entries, g.batch)
			case g.fate == absent && n > 0:
				m.fail("writer %d, %d: it failed, and %d of %d entries are there", w, g.number, n, g.entries)
			case g.fate == unknown && !opened && !g.batch && n > 0:
				m.fail("writer %d, %d: it was not acknowledged and can be seen", w, g.number)
			case g.fate == unknown && opened:
				g.fate = absent
				if isThere {
					g.fate = there
				} else if n > 0 { // a part of a batch: never looked at again
					g.entries = 0
				}
			}
			if isThere && g.replaces != nil {
				gone[g.replaces] = true
			}
			if isThere && !g.batch {
				last = max(last, g.number)
			}
		}
		b := got[string(counter(w))]
		if n := binary.BigEndian.Uint64(append(make([]byte, 8-len(b)), b...)); n != uint64(last) {
			m.fail("writer %d: the counter says %d, the last write that is there is %d", w, n, last)
		}
		delete(got, string(counter(w)))
	}
	for key := range got {
		m.fail("%q is there, and nobody wrote it", key)
	}
	m.forget()
}

// forget drops the groups that were replaced.
func (m *model) forget() {
	for w := range writers {
		replaced := map[*group]bool{}
		for _, g := range m.groups[w] {
			if g.fate == there && g.replaces != nil {
				replaced[g.replaces] = true
			}
		}
		var kept []*group
		for _, g := range m.groups[w] {
			if !replaced[g] && g.entries > 0 {
				if g.fate == there {
					g.replaces = nil
				}
				kept = append(kept, g)
			}
		}
		m.groups[w] = kept
	}
}
