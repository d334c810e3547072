package content

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"syscall"
	"testing"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/disk/disktest"
	"odarchive/triplestore/kv"
)

// After a failed fsync, bytes of a pack are readable but not on the disk, and no later fsync writes them. The next
// process must not append after them as they are: after a power failure the closed pack would be damaged.
func TestBytesThatAFailedFsyncHasLostAreOnDiskAfterTheNextOpening(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		power := disktest.NewCrash(seed)
		if err := errors.Join(power.MkdirAll("data", 0o755), power.SyncDir("/")); err != nil {
			t.Fatal(err)
		}
		open := func(fsys disk.FS) (*Store, func() error) {
			db, err := kv.Open("data", kv.Options{CacheInMemory: true, FS: fsys, MinFree: -1})
			if err != nil {
				t.Fatal(err)
			}
			s, err := Open("data/content", db, Options{FS: fsys, MinFree: -1})
			if err != nil {
				t.Fatal(err)
			}
			return s, func() error { return errors.Join(s.Close(), db.Close()) }
		}
		put := func(s *Store, data []byte) error {
			_, err := s.Put(t.Context(), bytes.NewReader(data), PutOptions{})
			return err
		}
		first, lost, second := table(rng(1), 30_000), table(rng(2), 60_000), table(rng(3), 30_000)

		faults := disktest.NewErrors(power)
		s, closeAll := open(faults)
		if err := put(s, first); err != nil {
			t.Fatal(err)
		}
		faults.Only(disktest.Sync, "*.open")
		faults.FailFrom(1, syscall.EIO)
		if err := put(s, lost); err == nil {
			t.Fatal("the fsync does not fail")
		}
		closeAll()

		s, closeAll = open(power)
		if err := errors.Join(put(s, second), s.tail.closeCurrent(), closeAll()); err != nil {
			t.Fatal(err)
		}

		s, closeAll = open(power.Crash())
		if damages, err := s.VerifyAll(t.Context(), nil); err != nil || len(damages) > 0 {
			t.Errorf("seed %d: %v, %v", seed, damages, err)
		}
		for _, data := range [][]byte{first, second} {
			r, err := s.Open(sha256.Sum256(data))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, data) {
				t.Errorf("seed %d: %d bytes of %d, %v", seed, len(got), len(data), err)
			}
		}
		if err := closeAll(); err != nil {
			t.Error(err)
		}
	}
}
