package vault

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"odarchive/triplestore/bucket/buckettest"
)

// notes is what an archive notes when it has become the writer.
type notes struct {
	mu     sync.Mutex // guards the fields below
	calls  int
	failed error
}

func (n *notes) taken(uint64, string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls++
	return n.failed
}

func (n *notes) set(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed = err
}

func (n *notes) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls
}

func TestWhoBecomesTheWriterSaysSo(t *testing.T) {
	t.Parallel()
	b := buckettest.NewFaulty(new(buckettest.Memory), 1)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	var n notes
	if err := a.keep(b, Options{Taken: n.taken}); err != nil {
		t.Fatal(err)
	}
	if n.count() != 1 {
		t.Errorf("Begin has called it %d times", n.count())
	}
	a.waitWhole()
	a.end()
	a.close()

	// The object store is away when the archive starts.
	a = open4(t, a.dir)
	b.Away(true)
	if err := a.keep(b, Options{Taken: n.taken}); err != nil {
		t.Fatal(err)
	}
	if n.count() != 1 {
		t.Errorf("it was called although the store is away: %d times", n.count())
	}
	b.Away(false)
	a.mustPut(0)
	a.waitWhole()
	if n.count() != 2 {
		t.Errorf("Run has called it %d times", n.count()-1)
	}
}

func TestNothingIsAcknowledgedBeforeTheBackupIsNoted(t *testing.T) {
	t.Parallel()
	for _, wait := range []bool{false, true} {
		b := new(buckettest.Memory)
		a := open4(t, filepath.Join(t.TempDir(), "data"))
		n := notes{failed: errors.New("the disk is broken")}
		if err := a.keep(b, Options{Taken: n.taken, Wait: wait}); err != nil {
			t.Fatal(err)
		}
		late := make(chan error, 1)
		go func() { late <- a.put(0) }()
		for n.count() < 2 {
			time.Sleep(10 * time.Millisecond)
		}
		select {
		case err := <-late:
			t.Fatalf("wait %v: acknowledged: %v", wait, err)
		default:
		}
		if h, err := Open(t.Context(), b); err != nil || len(h.fences) != 1 {
			t.Errorf("wait %v: each attempt began an epoch: %+v, %v", wait, h.fences, err)
		}
		n.set(nil)
		if err := <-late; err != nil {
			t.Fatal(err)
		}
		a.waitWhole()
		m := a.remember(1)
		a.end()
		restored(t, b, m)
	}
	// A process that ends meanwhile gives the lease back, and its commits fail.
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	n := notes{failed: errors.New("the disk is broken")}
	if err := a.keep(b, Options{Taken: n.taken}); err != nil {
		t.Fatal(err)
	}
	late := make(chan error, 1)
	go func() { late <- a.put(0) }()
	a.end()
	a.keeper.End()
	if err := <-late; !errors.Is(err, errEnded) {
		t.Errorf("the commit: %v", err)
	}
	if h, err := Open(t.Context(), b); err != nil || !h.writer.Released {
		t.Errorf("the lease was not given back: %+v, %v", h.writer, err)
	}
}
