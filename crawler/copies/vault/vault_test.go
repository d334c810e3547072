package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
)

// archive is an open data directory, and the Keeper that copies it.
type archive struct {
	t     testing.TB
	dir   string
	gate  *Gate
	db    *kv.DB
	store *content.Store
	r     *rand.Rand

	mu   sync.Mutex // guards last
	last [32]byte

	withdrawn atomic.Bool

	keeper *Keeper
	stop   context.CancelFunc
	ended  chan error
	once   sync.Once
}

func open4(t testing.TB, dir string) *archive {
	t.Helper()
	a := &archive{t: t, dir: dir, gate: NewGate(), r: rand.New(rand.NewPCG(1, 2))}
	var err error
	a.db, err = kv.Open(dir, kv.Options{MinFree: -1, NoSync: true, SaveAt: 64 << 10, Acknowledge: a.gate.Acknowledge, Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	a.store, err = content.Open(filepath.Join(dir, "packs"), a.db,
		content.Options{MinFree: -1, NoSync: true, MaxPack: 200 << 10, Waste: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	return a
}

func testLog(t testing.TB) *slog.Logger {
	if os.Getenv("VAULT_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (a *archive) close() {
	a.once.Do(func() {
		a.end()
		a.store.Close()
		a.db.Close()
	})
}

// keep starts a Keeper.
func (a *archive) keep(b bucket.Bucket, o Options) error {
	a.t.Helper()
	if o.Every == 0 {
		o.Every = 5 * time.Millisecond
	}
	if o.Holder == "" {
		o.Holder = Holder(a.dir)
	}
	o.Log = testLog(a.t)
	ctx, stop := context.WithCancel(context.Background())
	a.keeper = New(b, Source{DB: a.db, Content: a.store, Dir: a.dir, Files: []string{"odarchive.json"},
		Withdrawn: func() (bool, error) { return a.withdrawn.Load(), nil },
		Forgotten: func(context.Context) error { a.withdrawn.Store(false); return nil }}, a.gate, o)
	if err := a.keeper.Begin(ctx); err != nil {
		stop()
		return err
	}
	a.stop, a.ended = stop, make(chan error, 1)
	go func() { a.ended <- a.keeper.Run(ctx) }()
	return nil
}

// end stops the Keeper, which copies what is left.
func (a *archive) end() {
	if a.stop == nil {
		return
	}
	a.stop()
	<-a.ended
	a.stop = nil
}

// put stores a file that begins as the one before, and records it in the database as the archive would.
func (a *archive) put(n int) error {
	data := make([]byte, 30_000)
	rand.NewChaCha8([32]byte{7}).Read(data)
	a.mu.Lock()
	copy(data[a.r.IntN(20_000):], fmt.Sprintf("version %d", n))
	last := a.last
	a.mu.Unlock()
	ref, err := a.store.Put(context.Background(), bytes.NewReader(data), content.PutOptions{Previous: last})
	if err == nil {
		err = a.db.Update(context.Background(), func(tx *kv.Txn) error {
			return tx.Set(kv.SpaceTest, fmt.Appendf(nil, "%06d", n), ref.SHA256[:])
		})
	}
	if err == nil {
		a.mu.Lock()
		a.last = ref.SHA256
		a.mu.Unlock()
	}
	return err
}

func (a *archive) mustPut(n int) {
	a.t.Helper()
	if err := a.put(n); err != nil {
		a.t.Fatal(err)
	}
}

// note writes a small record.
func (a *archive) note(n int) error {
	return a.db.Update(context.Background(), func(tx *kv.Txn) error {
		return tx.Set(kv.SpaceTest, fmt.Appendf(nil, "%06d", n), nil)
	})
}

// dump returns a hash of everything in the database.
func dump(t testing.TB, db *kv.DB) (text string) {
	t.Helper()
	sum := sha256.New()
	n := 0
	err := db.View(func(tx *kv.Txn) error {
		for space := range 256 {
			err := tx.Scan(kv.Space(space), nil, nil, func(key, val []byte) (bool, error) {
				fmt.Fprintf(sum, "%d %x %x\n", space, key, val)
				n++
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d entries %x", n, sum.Sum(nil)[:8])
}

// check reads every file that the database names, and returns how many there are.
func (a *archive) check() (n int) {
	a.t.Helper()
	err := a.db.View(func(tx *kv.Txn) error {
		return tx.Scan(kv.SpaceTest, nil, nil, func(key, sha []byte) (bool, error) {
			if len(sha) == 0 {
				return true, nil
			}
			r, err := a.store.Open([32]byte(sha))
			if err != nil {
				return false, fmt.Errorf("file %s: %w", key, err)
			}
			defer r.Close()
			sum := sha256.New()
			if _, err := io.Copy(sum, r); err != nil {
				return false, fmt.Errorf("file %s: %w", key, err)
			}
			if !bytes.Equal(sum.Sum(nil), sha) {
				return false, errors.New("other bytes")
			}
			n++
			return true, nil
		})
	})
	if err != nil {
		a.t.Fatal(err)
	}
	v, err := a.store.Verify(a.t.Context(), content.VerifyOptions{Deep: true})
	if err != nil || v.Damaged > 0 {
		a.t.Fatalf("%+v, %v", v, err)
	}
	return n
}

// moment is what the archive contained at a time.
type moment struct {
	at      time.Time
	content string
	files   int
}

// remember waits until the clock is past the last commit, and describes what the archive has.
func (a *archive) remember(files int) moment {
	a.t.Helper()
	time.Sleep(2 * time.Millisecond)
	at := time.Now()
	time.Sleep(2 * time.Millisecond)
	return moment{at, dump(a.t, a.db), files}
}

// restored restores an archive as it was at a moment, and compares.
func restored(t *testing.T, b bucket.Bucket, m moment) *archive {
	t.Helper()
	h, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	target, err := h.At(t.Context(), m.at)
	if err != nil {
		t.Fatalf("%s: %v; there is %v", m.at.Format(time.StampMilli), err, h.Moments())
	}
	dir := filepath.Join(t.TempDir(), "restored")
	if err := h.Restore(t.Context(), target, dir, testLog(t), nil); err != nil {
		t.Fatalf("%s: %v", m.at.Format(time.StampMilli), err)
	}
	db, err := kv.Open(dir, kv.Options{MinFree: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	got := dump(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if m.content != "" && got != m.content {
		t.Fatalf("as of %s, write set %d of %s: got %s, want %s", m.at.Format(time.StampMilli), target.Number,
			target.Time.Format(time.StampMilli), got, m.content)
	}
	a := open4(t, dir)
	if n := a.check(); n != m.files && m.files >= 0 {
		t.Fatalf("as of %s: %d files, not %d", m.at.Format(time.StampMilli), n, m.files)
	}
	return a
}

func TestEveryMomentCanBeRestored(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	os.WriteFile(filepath.Join(a.dir, "odarchive.json"), []byte(`{"format":1}`), 0o644)
	n := 0
	for ; n < 20; n++ {
		a.mustPut(n)
	}
	if err := a.keep(b, Options{}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	var moments []moment
	for ; n < 120; n++ {
		a.mustPut(n)
		if n%7 == 0 {
			if _, err := a.store.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n%5 == 0 {
			moments = append(moments, a.remember(n+1))
		}
		if n%50 == 0 {
			a.end() // a restart
			a.close()
			a = open4(t, a.dir)
			if err := a.keep(b, Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	a.end()
	moments = append(moments, a.remember(n))
	for i, m := range moments {
		if i%4 == 0 || i == len(moments)-1 {
			c := restored(t, b, m)
			if c.db.Lineage() == a.db.Lineage() {
				t.Error("the restored archive has the lineage of the original")
			}
			c.mustPut(1_000_000) // it can be written
			c.close()
		}
	}
}

// waitWhole waits for the first whole copy.
func (a *archive) waitWhole() {
	a.t.Helper()
	for range 1000 {
		if s := a.keeper.State(); s.Whole && s.Behind == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	a.t.Fatalf("not copied: %+v", a.keeper.State())
}

func keyOf(n int) []byte { return fmt.Appendf(nil, "%06d", n) }

// begun returns an archive with a file, and a vault that has all of it.
func begun(t *testing.T, b bucket.Bucket, o Options) *archive {
	t.Helper()
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	a.mustPut(0)
	if err := a.keep(b, o); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	return a
}

func nothing() io.ReadSeeker { return bytes.NewReader(nil) }

var noOptions content.PutOptions

func bytesOf(b []byte) io.Reader { return bytes.NewReader(b) }

func digests(sha [32]byte) []content.Digest { return []content.Digest{sha} }

func ctxOf() context.Context { return context.Background() }

func containsText(raw, text []byte) bool { return bytes.Contains(raw, text) }

func verify(t *testing.T, b bucket.Bucket) ([]string, error) {
	h, err := Open(t.Context(), b)
	if err != nil {
		return nil, err
	}
	r, err := h.Verify(t.Context(), nil)
	return r.Faults, err
}
