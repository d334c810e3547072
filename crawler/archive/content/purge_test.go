package content

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// holds returns the files in the store's folder that contain some bytes as they are. Noise is stored uncompressed.
//
// The store seals packs meanwhile: a parity file has another name while it is written. Where a name is gone when its
// turn comes, all are read again, for what it became may have been passed by already.
func (s *testStore) holds(part []byte) []string {
	s.t.Helper()
	for {
		names, err := filesWith(s.dir, part)
		if err == nil {
			return names
		}
		if !errors.Is(err, fs.ErrNotExist) {
			s.t.Fatal(err)
		}
	}
}

func filesWith(dir string, part []byte) (names []string, err error) {
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if bytes.Contains(b, part) {
			names = append(names, filepath.Base(name))
		}
		return err
	})
	return names, err
}

func (s *testStore) purge(files ...[]byte) Purged {
	s.t.Helper()
	var shas []Digest
	for _, f := range files {
		shas = append(shas, sha256.Sum256(f))
	}
	last := -1
	p, err := s.Purge(s.t.Context(), shas, func(done, total int) { last = total - done })
	if err != nil || last != 0 {
		s.t.Fatalf("%+v, %d packs are left, %v", p, last, err)
	}
	return p
}

// family returns three versions of a file, of which the second shares the middle with the first and the third the
// beginning with the second, and a part of each that no other has.
func family(seed uint64) (versions [3][]byte, own [3][]byte) {
	r := rng(seed)
	part := func(n int) []byte { return noise(r, n) }
	middle, start := part(150_000), part(90_000)
	own = [3][]byte{part(70_000), part(50_000), part(40_000)}
	versions[0] = bytes.Join([][]byte{own[0], middle, part(30_000)}, nil)
	versions[1] = bytes.Join([][]byte{start, middle[20_000:], own[1]}, nil)
	versions[2] = bytes.Join([][]byte{start[:70_001], own[2]}, nil)
	for i := range own {
		own[i] = own[i][20_000:20_200]
	}
	return versions, own
}

func TestNothingHasTheBytesOfAPurgedFile(t *testing.T) {
	t.Parallel()
	for purged := range 3 {
		s := newStore(t, Options{MaxPack: 1 << 18})
		v, own := family(3)
		other := noise(rng(9), 300_000)
		first := s.put(v[0], Digest{})
		s.put(other, Digest{})
		second := s.put(v[1], first.SHA256)
		s.put(v[2], second.SHA256)
		if len(s.holds(own[purged])) == 0 {
			t.Fatal("the bytes are not found although the file is stored")
		}
		if got := s.purge(v[purged]); got.Files != 1 || got.Packs == 0 {
			t.Errorf("%+v", got)
		}
		for i := range v {
			if i == purged {
				if got := s.holds(own[i]); len(got) > 0 {
					t.Errorf("version %d is purged, and there are bytes of it in %q", i, got)
				}
				if s.isStored(v[i]) {
					t.Errorf("version %d is purged and stored", i)
				}
			} else {
				s.check(v[i])
			}
		}
		s.check(other)
		s.verify()
		if again := s.purge(v[purged]); again.Files != 0 || again.Packs != 0 {
			t.Errorf("again: %+v", again)
		}
		files, _, _ := s.extract()
		if _, ok := files[sha256.Sum256(v[purged])]; ok {
			t.Errorf("version %d can be extracted from the packs", purged)
		}
	}
}

func TestPurgeFindsWhatAFailedPutHasLeft(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 1 << 18})
	data := noise(rng(5), 200_000)
	s.place(data, Digest{}).Release() // as if its transaction had failed
	s.put(noise(rng(6), 100_000), Digest{})
	s.put(data, Digest{})
	if n := len(s.holds(data[1000:1200])); n == 0 {
		t.Fatal("there is nothing to purge")
	}
	s.purge(data)
	if got := s.holds(data[1000:1200]); len(got) > 0 {
		t.Errorf("bytes in %q", got)
	}
	s.check(noise(rng(6), 100_000))
	s.verify()
}

func TestAPurgeThatWasInterruptedIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 1 << 18})
	v, own := family(7)
	first := s.put(v[0], Digest{})
	s.put(v[1], first.SHA256)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Purge(ctx, []Digest{first.SHA256}, func(int, int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.reopen()
	if got := s.purge(v[0]); got.Files != 0 || got.Packs == 0 {
		t.Errorf("%+v", got)
	}
	if got := s.holds(own[0]); len(got) > 0 {
		t.Errorf("bytes in %q", got)
	}
	s.check(v[1])
	s.verify()
}

func TestPurgeWaitsForPutsInProgress(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	old, fresh := noise(rng(1), 100_000), noise(rng(2), 100_000)
	s.put(old, Digest{})
	p := s.place(fresh, Digest{})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Purge(ctx, []Digest{sha256.Sum256(old)}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Purge did not wait: %v", err)
	}
	s.write(p)
	p.Release()
	s.purge(old)
	s.check(fresh)
	s.verify()
	if got := s.holds(old[1000:1200]); len(got) > 0 {
		t.Errorf("bytes in %q", got)
	}
}

func TestAReaderOfAPurgedFileEnds(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 1 << 18})
	data := noise(rng(11), 500_000)
	s.put(data, Digest{})
	r, err := s.Open(sha256.Sum256(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	s.purge(data)
	rest, err := io.ReadAll(r)
	if err == nil && !bytes.Equal(rest, data[1000:]) {
		t.Errorf("%d bytes of another file", len(rest))
	}
	if _, err := s.Open(sha256.Sum256(data)); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

func TestOnlyWhatNoOtherFileUsesIsFreed(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	v, _ := family(4)
	first := s.put(v[0], Digest{})
	second := s.put(v[1], first.SHA256)
	third := s.put(v[2], second.SHA256)
	freed := func(files ...Digest) int64 {
		t.Helper()
		n, err := s.Freed(t.Context(), files)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := freed(first.SHA256); n < 70_000 || n > 150_000 { // without most of the middle
		t.Errorf("%d bytes of the first, which has %d and shares 130000", n, len(v[0]))
	}
	if alone, both := freed(first.SHA256)+freed(second.SHA256), freed(first.SHA256, second.SHA256); both < alone+100_000 {
		t.Errorf("%d bytes together, %d each by itself: what both share goes with both", both, alone)
	}
	all := freed(first.SHA256, second.SHA256, third.SHA256, sha256.Sum256([]byte("unknown")))
	if size := int64(len(v[0])); all < size || freed() != 0 {
		t.Errorf("%d bytes of all", all)
	}
	s.purge(v[0], v[1])
	if n := freed(third.SHA256); n < int64(len(v[2])) || n > all {
		t.Errorf("%d bytes of the last one that is left, which has %d", n, len(v[2]))
	}
}
