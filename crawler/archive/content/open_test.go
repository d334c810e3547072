package content

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"odarchive/triplestore/kv"
)

// openPackOf returns the path of the current pack.
func (s *testStore) openPack() string { return filepath.Join(s.dir, openName(s.tail.current())) }

// lose deletes the database's record of a pack, or reduces the bytes that it counts.
func (s *testStore) lose(num uint64, end int64) {
	s.t.Helper()
	err := s.kv.Update(s.t.Context(), func(tx *kv.Txn) error {
		if end == 0 {
			return tx.Delete(refsSpace, numKey(keyPack, num))
		}
		return tx.Set(refsSpace, numKey(keyPack, num), packRecord{end: end}.encode())
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func TestAnOpenPackKeepsItsSoundSegmentsWhateverItsRecordSays(t *testing.T) {
	t.Parallel()
	for _, end := range []int64{0, packHead, 5000, 1 << 30, 1 << 61} {
		s := newStore(t, Options{})
		var stored [][]byte
		for i := range 4 {
			stored = append(stored, noise(rng(uint64(i)), 40_000))
			s.put(stored[i], Digest{})
		}
		name, num := s.openPack(), s.tail.current()
		before := read(t, name)
		s.lose(num, end)
		for range 2 {
			s.Close()
			s.reopen()
			if after := read(t, filepath.Join(s.dir, s.packs.nameOf(num))); !bytes.Equal(after, before) {
				t.Fatalf("with a record of %d bytes the pack has %d bytes, had %d", end, len(after), len(before))
			}
			for _, data := range stored {
				s.check(data)
			}
		}
		next := table(rng(9), 20_000)
		s.put(next, Digest{})
		s.check(next)
		v, err := s.Verify(t.Context(), VerifyOptions{})
		if err != nil || (v.Damaged > 0) != (end > int64(len(before))) {
			t.Errorf("with a record of %d bytes: %+v, %v", end, v.Damages, err)
		}
	}
}

func TestDamageInsideAnOpenPackKeepsWhatIsSoundBehindIt(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	var stored [][]byte
	for i := range 6 {
		stored = append(stored, noise(rng(uint64(i)), 40_000))
		s.put(stored[i], Digest{})
	}
	name, num := s.openPack(), s.tail.current()
	before := read(t, name)
	harmed := slices.Clone(before)
	harmed[100] ^= 1                                             // in the first file
	clear(harmed[len(harmed)/2/4096*4096:][:4096])               // a block in the middle
	at := bytes.Index(before, stored[4][:100]) - segmentHead - 5 // the head of a segment
	harmed[at+5] ^= 0x40
	s.Close()
	write(t, name, harmed)
	s.lose(num, 0)
	s.reopen()
	if after := read(t, name); !bytes.Equal(after, harmed) {
		t.Fatalf("the pack has %d bytes, had %d", len(after), len(before))
	}
	var lost []Digest
	for _, data := range stored {
		if sha := Digest(sha256.Sum256(data)); readAll(s.Store, sha) != nil {
			lost = append(lost, sha)
		}
	}
	if len(lost) != 3 && len(lost) != 4 {
		t.Errorf("%d files cannot be read", len(lost))
	}
	if len(s.Damages()) < 2 {
		t.Errorf("noted is %v", s.Damages())
	}
}

func TestWhatAPowerCutLeavesBehindTheLastCommitIsNoDamage(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	kept := noise(rng(1), 40_000)
	s.put(kept, Digest{})
	name, num := s.openPack(), s.tail.current()
	committed := len(read(t, name))
	for i := range 3 { // written to the pack, but to no transaction
		p, err := s.Place(t.Context(), bytes.NewReader(noise(rng(uint64(10+i)), 40_000)), PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Release()
	}
	s.Close()
	cut := read(t, name)
	clear(cut[committed+20_000:][:8192])
	write(t, name, cut)
	s.reopen()
	v, err := s.Verify(t.Context(), VerifyOptions{Deep: true, Damaged: func(d Damage) {
		if len(d.Files) > 0 || d.Healable || d.Unsealed {
			t.Errorf("%+v", d)
		}
	}})
	if err != nil || v.Files != 1 || len(s.Damages()) > 0 {
		t.Errorf("%+v, %v; noted is %v", v, err, s.Damages())
	}
	if closed := s.packs.nameOf(num); !isClosed(closed) || !bytes.Equal(read(t, filepath.Join(s.dir, closed)), cut) {
		t.Errorf("pack %s is still written, or differs", closed)
	}
	s.check(kept)
	next := table(rng(9), 20_000)
	s.put(next, Digest{})
	s.check(next)
}

func TestDamagedWasteInAnOpenPackIsDamageUntilMendSealsThePack(t *testing.T) {
	t.Parallel()
	for _, reopened := range []bool{false, true} {
		s := newStore(t, Options{})
		var stored [][]byte
		for i := range 4 {
			stored = append(stored, noise(rng(uint64(i)), 40_000))
			s.put(stored[i], Digest{})
		}
		if err := s.Forget(t.Context(), sha256.Sum256(stored[1])); err != nil {
			t.Fatal(err)
		}
		if reopened {
			s.Close()
		}
		flip(t, filepath.Join(s.dir, openName(1)), 60_000)
		if reopened {
			s.reopen()
		}
		for _, damaged := range []bool{true, false} {
			unsealed := 0
			_, err := s.Verify(t.Context(), VerifyOptions{Deep: true, Damaged: func(d Damage) {
				if len(d.Files) > 0 || d.Healable {
					t.Errorf("%+v", d)
				}
				if d.Unsealed {
					unsealed++
				}
			}})
			if err != nil || (unsealed > 0) != damaged {
				t.Errorf("opened again: %v; %d are not sealed, %v", reopened, unsealed, err)
			}
			if left, files, err := s.Mend(t.Context()); err != nil || len(left)+len(files) > 0 {
				t.Errorf("left are %v, %v, %v", left, files, err)
			}
		}
	}
}

func TestOpenPackDamageNamesExactlyTheFilesThatAreHit(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	var stored [][]byte
	for i := range 8 {
		stored = append(stored, noise(rng(uint64(i)), 10_000))
		s.put(stored[i], Digest{})
	}
	whole := read(t, s.openPack())
	r := rng(12)
	for range 30 {
		at := r.IntN(len(whole))
		flip(t, s.openPack(), int64(at))
		var want []Digest
		for _, data := range stored {
			if sha := Digest(sha256.Sum256(data)); readAll(s.Store, sha) != nil {
				want = append(want, sha)
			}
		}
		left, files, err := s.Mend(t.Context())
		if err != nil || !slices.Equal(files, sorted(want)) || (len(files) > 0) != (len(left) > 0) {
			t.Fatalf("byte %d: named are %v, hit are %v, left %v, %v", at, files, want, left, err)
		}
		if name := s.openPack(); len(files) > 0 {
			write(t, name, whole)
		} else {
			whole = read(t, name) // damaged waste remains, or the head was rewritten
		}
	}
}

func sorted(list []Digest) []Digest {
	slices.SortFunc(list, func(a, b Digest) int { return bytes.Compare(a[:], b[:]) })
	return list
}

func TestTheHeadOfAnOpenPackIsWrittenAnew(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	data := table(rng(1), 20_000)
	s.put(data, Digest{})
	whole := read(t, s.openPack())
	flip(t, s.openPack(), 3)
	if v, err := s.Verify(t.Context(), VerifyOptions{}); err != nil || v.Damaged != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if left, _, err := s.Mend(t.Context()); err != nil || len(left) > 0 || !bytes.Equal(read(t, s.openPack()), whole) {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestAPackOfTheFirstFormatIsReadAndWrittenOnElsewhere(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	data := table(rng(1), 30_000)
	s.put(data, Digest{})
	name, num := s.openPack(), s.tail.current()
	old := firstFormat(t, read(t, name))
	s.Close()
	write(t, name, old)
	s.lose(num, int64(len(old)))
	s.kv.Update(t.Context(), func(tx *kv.Txn) error { return tx.Set(refsSpace, stateKey("format"), []byte{1}) })
	s.reopen()
	s.check(data)
	next := edit(rng(2), data)
	s.put(next, sha256.Sum256(data))
	s.check(next)
	if s.tail.current() == num || !isClosed(s.packs.nameOf(num)) {
		t.Errorf("pack %d is written on", num)
	}
	if got := read(t, filepath.Join(s.dir, s.packs.nameOf(num))); !bytes.Equal(got, old) {
		t.Error("the old pack has changed")
	}
	left, _, err := s.Mend(t.Context())
	if err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// firstFormat converts a pack to format 1: another magic, and only segments, at the same places.
func firstFormat(t *testing.T, pack []byte) []byte {
	t.Helper()
	var segments int64
	w := &walker{r: bytes.NewReader(pack), end: int64(len(pack))}
	if err := w.walk(func(rec found) error {
		if rec.mark == segmentMark {
			segments = rec.offset + int64(len(rec.bytes))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return append([]byte(packMagic1), pack[len(packMagic1):segments]...)
}

func TestAReadOnlyStoreChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := kv.Open(filepath.Join(dir, "db"), kv.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	s := &testStore{t: t, dir: filepath.Join(dir, "packs"), kv: db, opts: Options{MinFree: -1, MaxPack: 100 << 10, NoParity: true}}
	s.reopen()
	var stored [][]byte
	for i := range 4 {
		stored = append(stored, noise(rng(uint64(i)), 40_000))
		s.put(stored[i], Digest{})
	}
	torn := s.openPack()
	s.shut()
	write(t, torn, append(read(t, torn), "torn"...))
	write(t, filepath.Join(s.dir, spoolDir, spoolPrefix+"1"), []byte("left"))
	write(t, filepath.Join(s.dir, "x"+tempSuffix), []byte("left"))
	before := files(t, s.dir)

	if db, err = kv.Open(filepath.Join(dir, "db"), kv.Options{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	s.kv, s.opts.NoParity = db, false
	s.reopen()
	defer s.shut()
	for _, data := range stored {
		s.check(data)
	}
	s.verify()
	if list, err := s.VerifyAll(t.Context(), nil); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	_, err1 := s.Put(t.Context(), bytes.NewReader([]byte("x")), PutOptions{})
	_, err2 := s.Compact(t.Context())
	_, _, err3 := s.Mend(t.Context())
	for _, err := range []error{err1, err2, err3, s.Forget(context.Background(), sha256.Sum256(stored[0]))} {
		if !errors.Is(err, kv.ErrReadOnly) {
			t.Errorf("a write gives %v", err)
		}
	}
	if err := s.scrubRound(t.Context(), nil); err != nil {
		t.Error(err)
	}
	for name, data := range files(t, s.dir) {
		if !bytes.Equal(before[name], data) {
			t.Errorf("%s has changed", name)
		}
		delete(before, name)
	}
	if len(before) > 0 {
		t.Errorf("%d files are gone", len(before))
	}
}

func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	list := map[string][]byte{}
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			list[name] = read(t, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAReadOnlyStoreFollowsAPackThatIsClosedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	data := table(rng(1), 30_000)
	s.put(data, Digest{})
	s.packs.list = true
	num := s.tail.current()
	if err := s.tail.closeCurrent(); err != nil {
		t.Fatal(err)
	}
	s.packs.add(num, openName(num)) // the name that another process knows
	s.packs.reopen(num)
	s.check(data)
}
