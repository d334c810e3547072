package content

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"odarchive/triplestore/disk/disktest"
)

// After a failed fsync, Linux treats the bytes as written: reading returns them, a later fsync succeeds, and they are
// not on the disk. A process that starts then must not rely on them.
func TestWhatAFailedFsyncDroppedIsWrittenAgainByTheNextProcess(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds(15)) {
		for name, o := range map[string]Options{"open": {}, "closed": {MaxPack: 120 << 10, NoParity: true}} {
			crash := disktest.NewCrash(seed)
			f := disktest.NewErrors(crash)
			s := mustOnDisk(t, f, o)
			stored := [][]byte{noise(rng(seed+1), 20_000)}
			s.put(stored[0], Digest{})
			failSyncs(f)
			if _, err := s.Put(t.Context(), bytes.NewReader(noise(rng(seed+2), 60_000)), PutOptions{}); !errors.Is(err, syscall.EIO) {
				t.Fatalf("got %v", err)
			}
			f.Reset()
			s.shut()

			s = mustOnDisk(t, f, o)
			if s.tail.current() != 1 || s.tail.p.end < 70_000 {
				t.Fatalf("%s: pack %d is written on behind byte %d", name, s.tail.current(), s.tail.p.end)
			}
			for i := range uint64(3) {
				stored = append(stored, noise(rng(seed+3+i), 30_000))
				s.put(stored[i+1], Digest{})
			}
			left := crash.Crash()
			s.shut()
			s = mustOnDisk(t, left, o)
			for _, data := range stored {
				s.check(data)
			}
			list, err := s.VerifyAll(t.Context(), nil)
			if list = slices.Concat(list, s.Damages()); err != nil || len(list) > 0 {
				t.Errorf("%s, seed %d: %v, %v", name, seed, list, err)
			}
			s.verify()
			s.shut()
		}
	}
}

func TestAPackWhoseTailCannotBeWrittenAgainIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, kind := range []disktest.Kind{disktest.Write, disktest.Sync, disktest.Read} {
		f := disktest.NewErrors(disktest.NewCrash(1))
		s := mustOnDisk(t, f, Options{})
		kept := noise(rng(1), 20_000)
		s.put(kept, Digest{})
		failSyncs(f)
		if _, err := s.Put(t.Context(), strings.NewReader("not stored"), PutOptions{}); !errors.Is(err, syscall.EIO) {
			t.Fatalf("got %v", err)
		}
		f.Reset()
		end := s.packSize(1)
		s.shut()
		f.Only(kind, "*.open")
		f.Reset()
		f.FailFrom(1, syscall.EIO)
		s = mustOnDisk(t, f, Options{})
		f.Reset()
		if s.tail.current() == 1 {
			t.Errorf("%v fails: the pack is written on", kind)
		}
		if now := s.packSize(1); now != end {
			t.Errorf("%v fails: the pack has %d bytes, had %d", kind, now, end)
		}
		s.check(kept)
		next := noise(rng(2), 10_000)
		s.put(next, Digest{})
		s.check(next)
		s.shut()
		s = mustOnDisk(t, f, Options{}) // this closes it
		if !isClosed(s.packs.nameOf(1)) {
			t.Errorf("%v fails: the pack is left open for ever", kind)
		}
		s.check(kept)
		s.check(next)
		s.verify()
	}
}

func (s *testStore) packSize(num uint64) int64 {
	s.t.Helper()
	info, err := s.fs.Stat(filepath.Join(s.dir, s.packs.nameOf(num)))
	if err != nil {
		s.t.Fatal(err)
	}
	return info.Size()
}
