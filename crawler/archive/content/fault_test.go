package content

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/disk/disktest"
	"odarchive/triplestore/kv"
)

func TestAStoreOnAFullDiskKeepsServingAndGoesOnWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	f := disktest.NewErrors(disk.OS{})
	s := newStore(t, Options{FS: f})
	data := table(rng(1), 100_000)
	s.put(data, Digest{})
	f.Only(disktest.Write, "")
	f.Reset()
	f.Short = true
	f.FailFrom(1, syscall.ENOSPC)
	next := edit(rng(2), data)
	for range 3 {
		if _, err := s.Put(t.Context(), bytes.NewReader(next), PutOptions{}); !errors.Is(err, ErrDiskFull) ||
			!errors.Is(err, kv.ErrDiskFull) {
			t.Errorf("got %v", err)
		}
		s.check(data)
	}
	f.Reset()
	s.put(next, sha256.Sum256(data))
	s.check(next)
	s.verify()
}

func TestPutRefusesBelowTheWatermark(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MinFree: 1 << 60})
	if _, err := s.Put(t.Context(), strings.NewReader("x"), PutOptions{}); !errors.Is(err, ErrDiskFull) {
		t.Errorf("got %v", err)
	}
}

// flip changes one bit of a file.
func flip(t *testing.T, name string, at int64) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[at] ^= 1 << (at % 8)
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestNoFlippedBitGoesUnnoticed(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 150 << 10, NoParity: true})
	r := rng(3)
	data := table(r, 150_000)
	files := [][]byte{data}
	sha := s.put(data, Digest{}).SHA256
	for range 4 {
		data = edit(r, data)
		files = append(files, data)
		sha = s.put(data, sha).SHA256
	}
	for _, num := range s.packs.numbers() {
		name := filepath.Join(s.dir, s.packs.nameOf(num))
		info, _ := os.Stat(name)
		for range 15 {
			at := packHead + r.Int64N(info.Size()-packHead)
			flip(t, name, at)
			v, err := s.Verify(t.Context(), VerifyOptions{})
			if err != nil || v.Damaged != 1 || v.Damages[0].Offset > at {
				t.Fatalf("byte %d of %s: %+v, %v", at, name, v.Damages, err)
			}
			hit := map[Digest]bool{}
			for _, f := range v.Damages[0].Files {
				hit[f] = true
			}
			for _, data := range files {
				err := readAll(s.Store, sha256.Sum256(data))
				if hit[sha256.Sum256(data)] != errors.Is(err, ErrDamaged) || (err != nil && !hit[sha256.Sum256(data)]) {
					t.Errorf("reading a file that Verify says is damaged=%v gives %v", hit[sha256.Sum256(data)], err)
				}
			}
			flip(t, name, at)
		}
	}
	s.verify()
}

// readAll reads a file raw and as a deflate stream.
func readAll(s *Store, sha Digest) error {
	r, err := s.Open(sha)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	d, err2 := s.Deflated(sha, Current)
	if err2 != nil {
		return err2
	}
	defer d.Close()
	_, err2 = io.Copy(io.Discard, d)
	if (err == nil) != (err2 == nil) {
		return fmt.Errorf("raw: %v, deflated: %v", err, err2)
	}
	return err
}

func TestAMissingPackIsDamageAndNotAPanic(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 100 << 10})
	data := noise(rng(4), 250_000)
	sha := s.put(data, Digest{}).SHA256
	s.Close()
	packs, _ := filepath.Glob(filepath.Join(s.dir, "*.pack"))
	os.Remove(packs[0])
	s.reopen()
	if err := readAll(s.Store, sha); !errors.Is(err, ErrDamaged) {
		t.Errorf("reading: %v", err)
	}
	v, err := s.Verify(t.Context(), VerifyOptions{})
	if err != nil || v.Damaged == 0 {
		t.Errorf("verify: %+v %v", v, err)
	}
	var d *DamageError
	if err := readAll(s.Store, sha); !errors.As(err, &d) || d.File != sha || !strings.Contains(err.Error(), "missing") {
		t.Errorf("the error says %v", err)
	}
}

func TestADamagedFileIsForgottenAndPutAgain(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	r := rng(5)
	data := table(r, 300_000)
	next := edit(r, data)
	sha := s.put(data, Digest{}).SHA256
	s.put(next, sha)
	flip(t, filepath.Join(s.dir, s.packs.nameOf(s.packs.numbers()[0])), 5000)
	if err := readAll(s.Store, sha); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	again := edit(r, data)
	s.put(again, sha) // a damaged previous version is not used
	s.check(again)
	if err := s.Forget(t.Context(), sha); err != nil {
		t.Fatal(err)
	}
	if err := s.Forget(t.Context(), sha256.Sum256(next)); err != nil {
		t.Fatal(err)
	}
	s.put(data, Digest{})
	s.check(data)
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.verify()
}

func TestATornEndIsCutOff(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	data := table(rng(6), 50_000)
	s.put(data, Digest{})
	name := filepath.Join(s.dir, s.packs.nameOf(s.packs.numbers()[0]))
	before, _ := os.Stat(name)
	f, _ := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	f.Write(noise(rng(7), 5000)) // a torn write
	f.Close()
	s.reopen()
	if after, _ := os.Stat(name); after.Size() != before.Size() {
		t.Errorf("the pack has %d bytes, had %d", after.Size(), before.Size())
	}
	s.check(data)
	s.put(edit(rng(8), data), sha256.Sum256(data))
	s.verify()
}

// TestKilledProcess is the body of the child that TestWhatWasAcknowledgedSurvivesAKill starts.
func TestKilledProcess(t *testing.T) {
	dir := os.Getenv("CONTENT_TEST_CHILD")
	if dir == "" {
		t.Skip("only as a child process")
	}
	db, err := kv.Open(filepath.Join(dir, "db"), kv.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(filepath.Join(dir, "packs"), db, Options{MinFree: -1, MaxPack: 300 << 10, Waste: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := strconv.ParseUint(os.Getenv("CONTENT_TEST_SEED"), 10, 64)
	r := rng(seed)
	data := table(r, 60_000)
	var sha Digest
	for i := 0; ; i++ {
		if i%2 == 0 {
			_, err = s.Put(context.Background(), bytes.NewReader(data), PutOptions{Previous: sha})
		} else {
			err = s.putNamed(db, data, sha)
		}
		if err != nil {
			t.Fatal(err)
		}
		sha = sha256.Sum256(data)
		fmt.Printf("stored %s\n", sha)
		data = edit(r, data)
		if i%10 == 9 {
			if _, err := s.Compact(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// named is a record of the caller in the same transaction as the file that it names.
const named = "content test/"

func (s *Store) putNamed(db *kv.DB, data []byte, previous Digest) error {
	p, err := s.Place(context.Background(), bytes.NewReader(data), PutOptions{Previous: previous})
	if err != nil {
		return err
	}
	defer p.Release()
	return db.Update(context.Background(), func(tx *kv.Txn) error {
		ref, err := p.Write(tx)
		if err != nil {
			return err
		}
		return tx.Set(kv.SpaceMeta, []byte(named+string(ref.SHA256[:])), nil)
	})
}

func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stored := map[Digest]bool{}
	for round := range 4 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledProcess$", "-test.v")
		cmd.Env = append(os.Environ(), "CONTENT_TEST_CHILD="+dir, "CONTENT_TEST_SEED="+strconv.Itoa(round))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		for n := 0; n < 25+7*round && in.Scan(); {
			text, ok := strings.CutPrefix(in.Text(), "stored ")
			if !ok {
				continue
			}
			sum, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			stored[Digest(sum)] = true
			n++
		}
		cmd.Process.Kill()
		for in.Scan() { // what the child reported before it died
			if text, ok := strings.CutPrefix(in.Text(), "stored "); ok {
				if sum, err := hex.DecodeString(text); err == nil && len(sum) == 32 {
					stored[Digest(sum)] = true
				}
			}
		}
		cmd.Wait()
	}
	db, err := kv.Open(filepath.Join(dir, "db"), kv.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := &testStore{t: t, dir: filepath.Join(dir, "packs"), kv: db, opts: Options{MinFree: -1, MaxPack: 300 << 10}}
	s.reopen()
	defer s.Store.Close()
	if len(stored) < 100 {
		t.Fatalf("only %d files were acknowledged", len(stored))
	}
	for sha := range stored {
		if err := readAll(s.Store, sha); err != nil {
			t.Errorf("%s: %v", sha, err)
		}
	}
	found := 0
	_, err = Salvage(t.Context(), disk.OS{}, s.dir, func(f SalvagedFile) error {
		if !stored[f.SHA256] {
			return nil
		}
		found++
		_, err := f.WriteTo(io.Discard)
		return err
	})
	if err != nil || found != len(stored) {
		t.Errorf("of %d files, %d are extracted from packs alone, %v", len(stored), found, err)
	}
	names := 0
	err = db.View(func(tx *kv.Txn) error {
		return tx.Scan(kv.SpaceMeta, []byte(named), nil, func(key, _ []byte) (bool, error) {
			names++
			if sha := Digest(key[len(named):]); readAll(s.Store, sha) != nil {
				t.Errorf("%s is named and not there", sha)
			}
			return true, nil
		})
	})
	if err != nil || names < 50 {
		t.Errorf("%d files are named, %v", names, err)
	}
	s.verify()
}

func TestAFailedPutGivesItsRoomBack(t *testing.T) {
	t.Parallel()
	f := disktest.NewErrors(disk.OS{})
	s := newStore(t, Options{FS: f})
	kept := table(rng(1), 50_000)
	s.put(kept, Digest{})
	before := s.tail.p.end
	f.Only(disktest.Write, "")
	f.Reset()
	f.FailAt(5, syscall.ENOSPC)
	if _, err := s.Put(t.Context(), bytes.NewReader(table(rng(2), 2_000_000)), PutOptions{}); !errors.Is(err, ErrDiskFull) {
		t.Fatalf("a full disk is reported as %v", err)
	}
	if s.tail.p.end != before {
		t.Errorf("the pack ends at byte %d, before the failure it ended at %d", s.tail.p.end, before)
	}
	next := table(rng(3), 50_000)
	s.put(next, Digest{})
	s.reopen()
	s.check(kept)
	s.check(next)
	s.verify()
}
