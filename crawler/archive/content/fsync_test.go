package content

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/disk/disktest"
	"odarchive/triplestore/kv"
)

// onDisk is a store whose packs and database are in one file system.
func onDisk(t testing.TB, fsys disk.FS, o Options) (*testStore, error) {
	t.Helper()
	if err := errors.Join(fsys.MkdirAll("data", 0o755), fsys.SyncDir(".")); err != nil {
		return nil, err
	}
	db, err := kv.Open("data/db", kv.Options{FS: fsys, CacheInMemory: true, MinFree: -1})
	if err != nil {
		return nil, err
	}
	o.FS, o.MinFree = fsys, -1
	store, err := Open("data/packs", db, o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &testStore{t: t, Store: store, dir: "data/packs", kv: db, opts: o}, nil
}

func mustOnDisk(t testing.TB, fsys disk.FS, o Options) *testStore {
	t.Helper()
	s, err := onDisk(t, fsys, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.shut)
	return s
}

func (s *testStore) shut() {
	s.Store.Close()
	s.kv.Close()
}

// failSyncs makes all fsyncs of packs fail, until the function it returns is called.
func failSyncs(f *disktest.Errors) (well func()) {
	f.Only(disktest.Sync, "*.open")
	f.Reset()
	f.FailFrom(1, syscall.EIO)
	return f.Reset
}

func TestAFailedFsyncIsTheFailureOfAllWhoWroteToThePack(t *testing.T) {
	t.Parallel()
	for name, third := range map[string]bool{"two writers": false, "a third one after the failure": true} {
		f := disktest.NewErrors(disktest.NewCrash(1))
		s := mustOnDisk(t, f, Options{})
		a, b, c := table(rng(1), 17_000), table(rng(2), 11_000), table(rng(3), 9000)
		var errB, errC error
		_, errA := s.Put(t.Context(), bytes.NewReader(a), PutOptions{Written: func() {
			well := failSyncs(f)
			_, errB = s.Put(t.Context(), bytes.NewReader(b), PutOptions{})
			well()
			if third {
				_, errC = s.Put(t.Context(), bytes.NewReader(c), PutOptions{})
			}
		}})
		if errB == nil || errA == nil || third == (errC == nil) {
			t.Errorf("%s: the one whose fsync failed: %v; the one whose bytes it was to sync: %v; the third: %v", name, errB, errA, errC)
		}
		if err := s.kv.WritesStopped(); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: writes are stopped by %v", name, err)
		}
	}
}

func TestAfterAFailedFsyncNothingIsAcceptedAndEverythingIsRead(t *testing.T) {
	t.Parallel()
	f := disktest.NewErrors(disktest.NewCrash(2))
	s := mustOnDisk(t, f, Options{})
	kept := table(rng(1), 20_000)
	s.put(kept, Digest{})
	failSyncs(f)
	if _, err := s.Put(t.Context(), bytes.NewReader(table(rng(2), 5000)), PutOptions{}); !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v", err)
	}
	f.Reset()
	for doing, err := range map[string]error{
		"put":     func() error { _, err := s.Put(t.Context(), bytes.NewReader([]byte("x")), PutOptions{}); return err }(),
		"compact": func() error { _, err := s.Compact(t.Context()); return err }(),
		"gc":      func() error { _, err := s.GC(t.Context(), func([32]byte) bool { return false }); return err }(),
		"forget":  s.Forget(t.Context(), sha256.Sum256(kept)),
		"mend":    func() error { _, _, err := s.Mend(t.Context()); return err }(),
	} {
		if !errors.Is(err, kv.ErrWritesStopped) {
			t.Errorf("%s: %v", doing, err)
		}
	}
	s.check(kept)
}

func TestAFailedWriteStopsWritesUnlessTheDiskIsFullAndItCanBeTakenBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		kinds disktest.Kind
		err   error
		stops bool
		size  int
	}{
		{"full disk", disktest.Write, syscall.ENOSPC, false, 20_000},
		{"quota", disktest.Write, syscall.EDQUOT, false, 20_000},
		{"full disk, and no truncating", disktest.Write | disktest.Truncate, syscall.ENOSPC, true, 20_000},
		{"bad disk", disktest.Write, syscall.EIO, true, 20_000},
		{"no renaming", disktest.Rename, syscall.EIO, true, 50_000},
		{"no room to rename", disktest.Rename, syscall.ENOSPC, false, 50_000},
		{"no syncing of the folder", disktest.SyncDir, syscall.EIO, true, 50_000},
		{"no more descriptors", disktest.Open, syscall.EMFILE, false, 50_000},
	} {
		f := disktest.NewErrors(disktest.NewCrash(3))
		s := mustOnDisk(t, f, Options{MaxPack: 80 << 10, NoParity: true})
		kept := noise(rng(1), 50_000)
		s.put(kept, Digest{})
		f.Short = true
		pattern := "*.open"
		if c.kinds == disktest.SyncDir {
			pattern = "packs"
		}
		f.Only(c.kinds, pattern)
		f.Reset()
		f.FailFrom(1, c.err)
		if _, err := s.Put(t.Context(), bytes.NewReader(noise(rng(2), c.size)), PutOptions{}); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
		f.Reset()
		if err := s.kv.WritesStopped(); c.stops != (err != nil) {
			t.Errorf("%s: writes are stopped by %v", c.name, err)
		}
		s.check(kept)
		if !c.stops {
			next := noise(rng(3), 60_000)
			s.put(next, Digest{})
			s.check(next)
			s.verify()
		}
	}
}

// campaign lets several writers put files, with compactions in between, until one gets an error. It returns what was
// acknowledged, by digest.
func campaign(s *testStore, seed uint64) map[Digest][]byte {
	var mu sync.Mutex
	acknowledged := make(map[Digest][]byte)
	var wg sync.WaitGroup
	for w := range uint64(3) {
		wg.Go(func() {
			r := rng(seed*10 + w)
			data, sha := table(r, 9000), Digest{}
			for i := range 6 {
				label := fmt.Appendf(nil, "%d/%d", w, i)
				ref, err := s.Put(context.Background(), bytes.NewReader(data), PutOptions{Previous: sha, Label: label})
				if err == nil {
					sha = ref.SHA256
					mu.Lock()
					acknowledged[sha] = data
					mu.Unlock()
				}
				data = edit(r, data)
				if i == 3 && w == 0 {
					s.Compact(context.Background())
				}
			}
		})
	}
	wg.Wait()
	return acknowledged
}

var small = Options{MaxPack: 70 << 10, Waste: 0.05}

func TestWhenTheNthOperationFailsEverythingAcknowledgedSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64N(1 << 30)
	t.Logf("seed %d", seed)
	whole := disktest.NewErrors(disktest.NewCrash(seed))
	s := mustOnDisk(t, whole, small)
	whole.Only(disktest.Changes, "")
	whole.Reset()
	campaign(s, seed)
	s.parity.waitIdle(t.Context())
	total := whole.Count()
	step := max(1, total/rounds(30))
	for n := 1; n <= total; n += step {
		for i, failure := range []error{syscall.EIO, syscall.ENOSPC} {
			crash := disktest.NewCrash(seed + uint64(n))
			f := disktest.NewErrors(crash)
			s := mustOnDisk(t, f, small)
			f.Only(disktest.Changes, "")
			f.Reset()
			f.Short = i == 0
			f.FailAt(n, failure)
			acknowledged := campaign(s, seed)
			left := crash.Crash()
			s.shut()
			again := mustOnDisk(t, left, small)
			for _, data := range acknowledged {
				again.check(data)
			}
			again.verify()
			checkSalvage(t, left, acknowledged)
			if t.Failed() {
				t.Fatalf("operation %d (%v) failed with %v", n, f.Failed(), failure)
			}
			again.shut()
		}
	}
}

func TestWhatWasAcknowledgedSurvivesAPowerCutAtAnyMoment(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64N(1 << 30)
	t.Logf("seed %d", seed)
	for i := range uint64(rounds(25)) {
		crash := disktest.NewCrash(seed + i)
		crash.Ext4 = i%2 == 0
		s, err := onDisk(t, crash, small)
		if err != nil {
			t.Fatal(err)
		}
		crash.CutAt(crash.Changes() + 1 + rng(seed+i).IntN(120))
		acknowledged := campaign(s, seed+i)
		left := crash.Crash()
		s.shut()
		again := mustOnDisk(t, left, small)
		for _, data := range acknowledged {
			again.check(data)
		}
		again.verify()
		checkSalvage(t, left, acknowledged)
		more := campaign(again, seed+i+1000) // it continues
		for _, data := range more {
			again.check(data)
		}
		if t.Failed() || len(more) == 0 {
			t.Fatalf("power cut %d of seed %d; %d files afterwards", i, seed, len(more))
		}
		again.shut()
	}
}

// checkSalvage extracts every file from the packs alone.
func checkSalvage(t *testing.T, fsys disk.FS, want map[Digest][]byte) SalvageReport {
	t.Helper()
	found := 0
	report, err := Salvage(t.Context(), fsys, "data/packs", func(f SalvagedFile) error {
		data, ok := want[f.SHA256]
		if !ok {
			return nil
		}
		var got bytes.Buffer
		if _, err := f.WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), data) || f.Missing > 0 {
			t.Errorf("%s: %d segments missing, %v", f.SHA256, f.Missing, err)
		}
		found++
		return nil
	})
	if err != nil || found != len(want) {
		t.Errorf("segmentCopy %d files of %d: %v", found, len(want), err)
	}
	return report
}
