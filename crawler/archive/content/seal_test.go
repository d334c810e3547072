package content

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"odarchive/triplestore/disk/disktest"
)

// onlyWaste checks that nothing needs the damaged bytes, and that no repair is left to do.
func (s *testStore) onlyWaste() {
	s.t.Helper()
	v, err := s.Verify(s.t.Context(), VerifyOptions{Deep: true})
	if err != nil || v.Damaged == 0 {
		s.t.Errorf("verify: %+v, %v", v, err)
	}
	for _, d := range v.Damages {
		if len(d.Files) > 0 || d.Healable {
			s.t.Errorf("damage that is no waste: %+v", d)
		}
	}
	if list, err := s.VerifyAll(s.t.Context(), nil); err != nil || len(list) > 0 {
		s.t.Errorf("packs differ from what they are to be: %v, %v", list, err)
	}
	for _, d := range s.Damages() {
		if d.Mended.IsZero() {
			s.t.Errorf("not mended: %s", d)
		}
	}
}

// packBytes returns the bytes of all packs, by number.
func (s *testStore) packBytes() map[uint64][]byte {
	s.t.Helper()
	all := map[uint64][]byte{}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		if num, _, ok := parsePackName(e.Name()); ok {
			if all[num] != nil {
				s.t.Errorf("pack %d is there twice", num)
			}
			if all[num], err = os.ReadFile(filepath.Join(s.dir, e.Name())); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return all
}

func TestARepairKeepsEverySoundByte(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"open": {Waste: 0.05}, "closed": {MaxPack: 400 << 10}, "closed, without parity": {MaxPack: 400 << 10, NoParity: true},
	} {
		s := newStore(t, o)
		var stored [][]byte
		for i := range 6 {
			stored = append(stored, noise(rng(uint64(i)), 150_000))
			s.put(stored[i], Digest{})
		}
		s.parity.waitIdle(t.Context())
		pack := filepath.Join(s.dir, s.packs.nameOf(1))
		harmed := read(t, pack)
		rows := rowsOf(int64(len(harmed)))
		for shard := range 3 { // of one row: more than parity recovers
			clear(harmed[shard*rows*parityBlock+100 : shard*rows*parityBlock+200])
		}
		write(t, pack, harmed)
		before := s.packBytes()

		_, lost, err := s.Mend(t.Context())
		if err != nil || len(lost) == 0 || len(lost) == len(stored) {
			t.Fatalf("%s: %d files are lost, %v", name, len(lost), err)
		}
		for _, sha := range lost {
			if err := s.Forget(t.Context(), sha); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if left, files, err := s.Mend(t.Context()); err != nil || len(left)+len(files) > 0 {
				t.Errorf("%s: left are %v, %v, %v", name, left, files, err)
			}
			if !maps.EqualFunc(before, s.packBytes(), bytes.Equal) {
				t.Errorf("%s: the packs have changed", name)
			}
		}
		s.onlyWaste()
		report := map[Digest]int{}
		if _, err := Salvage(t.Context(), s.fs, s.dir,
			func(f SalvagedFile) error { report[f.SHA256] = f.Missing; return nil }); err != nil {
			t.Fatal(err)
		}
		for _, sha := range lost {
			if n, found := report[sha]; !found || n == 0 || n > 2 {
				t.Errorf("%s: of a file that was given up, %d segments are missing (found: %v)", name, n, found)
			}
		}
		s.reopen()
		s.onlyWaste()
		next := noise(rng(20), 10_000)
		s.put(next, Digest{})
		s.check(next)
		if c, err := s.Compact(t.Context()); err != nil || c.Packs == 0 {
			t.Errorf("%s: compacted %+v, %v", name, c, err)
		}
		s.verify() // the waste is dropped
	}
}

func TestDamagedWasteIsSealedAndWhatIsBesideItIsProtected(t *testing.T) {
	t.Parallel()
	s, packs, stored := closedPacks(t, Options{MaxPack: 400 << 10, Waste: 0.99}, 9, 50_000)
	harmed := read(t, packs[0])
	rows := rowsOf(int64(len(harmed)))
	for shard := range 3 {
		clear(harmed[shard*rows*parityBlock+100 : shard*rows*parityBlock+200])
	}
	write(t, packs[0], harmed)
	_, lost, err := s.Mend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	given := map[Digest]bool{}
	for _, sha := range lost {
		given[sha] = true
		if err := s.Forget(t.Context(), sha); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Mend(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.parity.waitIdle(t.Context())
	pack := filepath.Join(s.dir, s.packs.nameOf(1))
	if _, err := os.Stat(parityName(packs[0])); pack == packs[0] || err == nil {
		t.Errorf("%s is still called so, or has parity of that name: %v", pack, err)
	}
	sealed := read(t, pack)
	for shard := range 2 { // what parity recovers, in the row that was damaged beyond it before
		harmed = bytes.Clone(sealed)
		clear(harmed[(shard*5+4)*rows*parityBlock+100:][:parityBlock])
		write(t, pack, harmed)
		for _, data := range stored {
			if !given[sha256.Sum256(data)] {
				s.check(data)
			}
		}
		if left, _, err := s.Mend(t.Context()); err != nil || len(left) > 0 || !bytes.Equal(read(t, pack), sealed) {
			t.Errorf("left are %v, %v", left, err)
		}
	}
	s.onlyWaste()
}

func TestSealingMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		crash := disktest.NewCrash(uint64(n))
		s := mustOnDisk(t, crash, Options{MaxPack: 300 << 10, NoParity: true, Waste: 0.99})
		var stored [][]byte
		for i := range 4 {
			stored = append(stored, noise(rng(uint64(i)), 120_000))
			s.put(stored[i], Digest{})
		}
		f, err := crash.OpenFile(filepath.Join(s.dir, s.packs.nameOf(1)), os.O_RDWR, 0)
		if err == nil {
			_, err = f.WriteAt(make([]byte, 100), 5000) // in the first file
		}
		if err == nil {
			err = f.Sync()
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := s.Forget(t.Context(), sha256.Sum256(stored[0])); err != nil {
			t.Fatal(err)
		}
		crash.CutAt(crash.Changes() + n)
		s.Mend(t.Context())
		off := crash.Off()
		left := crash.Crash()
		s.shut()
		again := mustOnDisk(t, left, Options{MaxPack: 300 << 10, NoParity: true, Waste: 0.99})
		for _, data := range stored[1:] {
			again.check(data)
		}
		if left, _, err := again.Mend(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("cut off at change %d: left are %v, %v", n, left, err)
		}
		again.onlyWaste()
		if !off || t.Failed() {
			if n < 5 {
				t.Errorf("sealing has %d changes", n)
			}
			return
		}
	}
}

func TestAMissingPackIsForgottenOnceNoFileNeedsIt(t *testing.T) {
	t.Parallel()
	s, packs, _ := closedPacks(t, Options{MaxPack: 400 << 10}, 5, 120_000)
	s.Close()
	os.Remove(packs[0])
	s.reopen()
	_, files, err := s.Mend(t.Context())
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, sha := range files {
		if err := s.Forget(t.Context(), sha); err != nil {
			t.Fatal(err)
		}
	}
	if left, files, err := s.Mend(t.Context()); err != nil || len(left)+len(files) > 0 {
		t.Errorf("left are %v, %v, %v", left, files, err)
	}
	s.verify()
	for _, d := range s.Damages() {
		if d.Mended.IsZero() {
			t.Errorf("not mended: %s", d)
		}
	}
}
