package backup

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/kv"
)

// archive is an open data directory.
type archive struct {
	t     testing.TB
	dir   string
	db    *kv.DB
	store *content.Store
	last  [32]byte
	r     *rand.Rand
}

func open(t testing.TB, dir string) *archive {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{MinFree: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	store, err := content.Open(filepath.Join(dir, packsDir), db,
		content.Options{MinFree: -1, NoSync: true, MaxPack: 200 << 10, Waste: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	a := &archive{t: t, dir: dir, db: db, store: store, r: rand.New(rand.NewPCG(1, 2))}
	t.Cleanup(a.close)
	return a
}

func (a *archive) close() {
	a.store.Close()
	a.db.Close()
}

func (a *archive) source() Source {
	return Source{DB: a.db, Content: a.store, Dir: a.dir, Files: []string{"odarchive.json", "missing"}}
}

// put stores a file that begins as the one before, and records it in the database as the archive would.
func (a *archive) put(n int) [32]byte {
	a.t.Helper()
	data := make([]byte, 30_000)
	rand.NewChaCha8([32]byte{7}).Read(data)
	copy(data[a.r.IntN(20_000):], fmt.Sprintf("version %d", n))
	ref, err := a.store.Put(a.t.Context(), bytes.NewReader(data), content.PutOptions{Previous: a.last})
	if err == nil {
		err = a.db.Update(a.t.Context(), func(tx *kv.Txn) error { return tx.Set(kv.SpaceTest, ref.SHA256[:], nil) })
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.last = ref.SHA256
	return ref.SHA256
}

// check reads every file that the database names, and returns their number.
func (a *archive) check() (n int) {
	a.t.Helper()
	err := a.db.View(func(tx *kv.Txn) error {
		return tx.Scan(kv.SpaceTest, nil, nil, func(key, _ []byte) (bool, error) {
			r, err := a.store.Open([32]byte(key))
			if err != nil {
				return false, err
			}
			defer r.Close()
			sum := sha256.New()
			if _, err := io.Copy(sum, r); err != nil {
				return false, err
			}
			if !bytes.Equal(sum.Sum(nil), key) {
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

func TestAFullBackupAndItsIncrementsAreRestoredWhileTheArchiveGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, filepath.Join(dir, "data"))
	os.WriteFile(filepath.Join(a.dir, "odarchive.json"), []byte(`{"format":1}`), 0o644)
	var parts []string
	stored, n := 0, 0
	for round := range 4 {
		for range 12 {
			a.put(n)
			n++
		}
		if round == 2 {
			if c, err := a.store.Compact(t.Context()); err != nil || c.Packs == 0 {
				t.Fatalf("%+v, %v", c, err)
			}
		}
		stop, done := make(chan struct{}), make(chan struct{})
		go func() { // the archive is in use
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
					a.put(n)
					n++
				}
			}
		}()
		stored = 12 * (round + 1)
		path, since := filepath.Join(dir, fmt.Sprintf("backup-%d", round)), ""
		if round > 0 {
			since = parts[round-1]
		}
		var seen int64
		info, err := ToFile(t.Context(), a.source(), path, since, func(n int64) { seen += n })
		close(stop)
		<-done
		if err != nil {
			t.Fatal(err)
		}
		if fi, _ := os.Stat(path); fi.Size() != seen || len(info.Packs) == 0 {
			t.Errorf("progress of %d bytes, the file has %d", seen, fi.Size())
		}
		parts = append(parts, path)
		restored := filepath.Join(dir, fmt.Sprintf("restored-%d", round))
		if _, err := Restore(t.Context(), restored, parts, nil); err != nil {
			t.Fatal(err)
		}
		b := open(t, restored)
		if got := b.check(); got < stored {
			t.Errorf("round %d: %d files of %d", round, got, stored)
		}
		b.last, b.r = a.last, rand.New(rand.NewPCG(9, uint64(round)))
		b.put(1_000_000 + round) // it is writable
		b.check()
		if data, _ := os.ReadFile(filepath.Join(restored, "odarchive.json")); string(data) != `{"format":1}` {
			t.Errorf("the file beside has %q", data)
		}
		b.close()
	}
	if _, err := Restore(t.Context(), filepath.Join(dir, "x"), []string{parts[0], parts[2]}, nil); !errors.Is(err, ErrChain) {
		t.Errorf("with one left out: %v", err)
	}
	if _, err := Restore(t.Context(), filepath.Join(dir, "x"), parts[1:2], nil); !errors.Is(err, ErrChain) {
		t.Errorf("without the full one: %v", err)
	}
	if _, err := Restore(t.Context(), filepath.Join(dir, "restored-0"), parts[:1], nil); !errors.Is(err, ErrExists) {
		t.Errorf("over something: %v", err)
	}
	if _, err := ToFile(t.Context(), a.source(), parts[0], "", nil); !errors.Is(err, ErrExists) {
		t.Errorf("over a backup: %v", err)
	}
	for _, name := range []string{"x", "x.restoring"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was left", name)
		}
	}
}

func TestAnIncrementIsSmall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, filepath.Join(dir, "data"))
	for i := range 40 { // fills several packs
		data := make([]byte, 30_000)
		rand.NewChaCha8([32]byte{byte(i)}).Read(data)
		if _, err := a.store.Put(t.Context(), bytes.NewReader(data), content.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	full, part := filepath.Join(dir, "full"), filepath.Join(dir, "part")
	if _, err := ToFile(t.Context(), a.source(), full, "", nil); err != nil {
		t.Fatal(err)
	}
	a.put(1)
	src, written, total := a.source(), int64(0), int64(0)
	src.Rest = func(bytes int64) { total = written + bytes }
	if _, err := ToFile(t.Context(), src, part, full, func(n int64) { written += n }); err != nil {
		t.Fatal(err)
	}
	x, _ := os.Stat(full)
	y, _ := os.Stat(part)
	if more := written - total; total == 0 || more < 0 || more > y.Size()/10 { // what describes the backup is small
		t.Errorf("%d bytes were announced, %d written", total, written)
	}
	if y.Size() > x.Size()/3 {
		t.Errorf("the full one has %d bytes, the increment %d", x.Size(), y.Size())
	}
}

func TestABrokenBackupIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, filepath.Join(dir, "data"))
	for i := range 8 {
		a.put(i)
	}
	path := filepath.Join(dir, "backup")
	if _, err := ToFile(t.Context(), a.source(), path, "", nil); err != nil {
		t.Fatal(err)
	}
	good, _ := os.ReadFile(path)
	r := rand.New(rand.NewPCG(3, 4))
	for range 25 {
		bad := bytes.Clone(good)
		at := r.IntN(len(bad))
		bad[at] ^= 1 << r.IntN(8)
		if r.IntN(4) == 0 {
			bad = bad[:at]
		}
		os.WriteFile(path, bad, 0o644)
		target := filepath.Join(dir, "restored")
		_, err := Restore(t.Context(), target, []string{path}, nil)
		if err == nil {
			t.Fatalf("byte %d: nothing was noticed", at)
		}
		if _, err := os.Stat(target); err == nil {
			t.Fatalf("byte %d: a directory was made of it", at)
		}
	}
	os.WriteFile(path, []byte("odarchive backup 2\n"+strings.Repeat("x", 100)), 0o644)
	if _, err := Inspect(path); err == nil {
		t.Error("a newer format was read")
	}
}

// A backup is the whole archive: others on the machine must not read it, neither one that is made here nor one that a
// server sends. Both are made by Create.
func TestABackupIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "full.odab"))
	if err != nil {
		t.Fatal(err)
	}
	for _, while := range []string{"while it is written", "when it is complete"} {
		list, err := os.ReadDir(dir)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v, %v", while, list, err)
		}
		if info, err := list[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", while, info, err)
		}
		if while == "while it is written" {
			err = f.End(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestACancelledBackupLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, filepath.Join(dir, "data"))
	a.put(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ToFile(ctx, a.source(), filepath.Join(dir, "backup"), "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// TestKilledBackup is the body of the child of TestAKillInTheMiddleLeavesNoHalfBackup.
func TestKilledBackup(t *testing.T) {
	dir := os.Getenv("BACKUP_TEST_CHILD")
	if dir == "" {
		t.Skip("only as a child process")
	}
	a := open(t, filepath.Join(dir, "data"))
	for i := range 30 {
		a.put(i)
	}
	fmt.Println("ready")
	for i := 0; ; i++ {
		path := filepath.Join(dir, fmt.Sprintf("backup-%d", i))
		if _, err := ToFile(t.Context(), a.source(), path, "", func(int64) { fmt.Println("wrote") }); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAKillInTheMiddleLeavesNoHalfBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilledBackup$", "-test.v")
	cmd.Env = append(os.Environ(), "BACKUP_TEST_CHILD="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for n := 0; n < 120 && in.Scan(); {
		if in.Text() == "wrote" {
			n++
		}
	}
	cmd.Process.Kill()
	io.Copy(io.Discard, out)
	cmd.Wait()
	whole, _ := filepath.Glob(filepath.Join(dir, "backup-*"))
	if len(whole) == 0 {
		t.Fatal("no backup was finished")
	}
	for i, path := range whole[max(len(whole)-2, 0):] {
		target := filepath.Join(dir, fmt.Sprintf("restored-%d", i))
		os.MkdirAll(target+".restoring/packs", 0o755) // what a killed restore leaves
		os.WriteFile(target+".restoring/packs/junk", []byte("x"), 0o644)
		if _, err := Restore(t.Context(), target, []string{path}, nil); !errors.Is(err, ErrExists) {
			t.Fatalf("a directory that may be somebody's was overwritten: %v", err)
		}
		os.WriteFile(target+".restoring/"+unfinished, nil, 0o644)
		if _, err := Restore(t.Context(), target, []string{path}, nil); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, name := range []string{"", "packs", "odarchive.json"} {
			if info, err := os.Stat(filepath.Join(target, name)); err == nil && info.Mode().Perm()&0o007 != 0 {
				t.Errorf("everybody may read %q: %v", name, info.Mode())
			}
		}
		if n := open(t, target).check(); n != 30 {
			t.Errorf("%s has %d files", path, n)
		}
	}
}

func FuzzStream(f *testing.F) {
	var b bytes.Buffer
	w := &writer{ctx: context.Background(), w: &b}
	w.begin()
	w.section(kindFile, "x", func(w io.Writer) error { _, err := w.Write([]byte("hello")); return err })
	w.end(Info{ID: "i"})
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		readEnd(bytes.NewReader(data))
		in := &reader{ctx: context.Background(), r: bytes.NewReader(data)}
		if in.begin() != nil {
			return
		}
		for {
			_, _, body, err := in.nextSection()
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, body); err != nil {
				return
			}
		}
	})
}
