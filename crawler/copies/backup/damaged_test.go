package backup

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/archive/content"
)

// closedPacks stores files that fill several packs, and returns the paths of the closed ones.
func (a *archive) closedPacks() []string {
	a.t.Helper()
	for i := range 30 {
		data := make([]byte, 30_000)
		rand.NewChaCha8([32]byte{byte(i), 1}).Read(data)
		if _, err := a.store.Put(a.t.Context(), bytes.NewReader(data), content.PutOptions{}); err != nil {
			a.t.Fatal(err)
		}
	}
	list, err := filepath.Glob(filepath.Join(a.dir, packsDir, "*"+closedSuffix))
	if err != nil || len(list) < 2 {
		a.t.Fatalf("closed packs: %v, %v", list, err)
	}
	return list
}

// spoil inverts the bits of a pack between two offsets.
func spoil(t testing.TB, path string, from, to int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, to-from)
	if _, err := f.ReadAt(b, int64(from)); err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] ^= 0xff
	}
	if _, err := f.WriteAt(b, int64(from)); err != nil {
		t.Fatal(err)
	}
}

// withoutParity closes the store, removes the parity of a pack, and spoils the pack, so that it cannot be healed.
func (a *archive) withoutParity(pack string) *archive {
	a.t.Helper()
	a.close()
	parity, err := filepath.Glob(strings.TrimSuffix(pack, closedSuffix) + "*")
	if err != nil {
		a.t.Fatal(err)
	}
	for _, path := range parity {
		if path != pack {
			os.Remove(path)
		}
	}
	spoil(a.t, pack, 40_000, 100_000)
	return open(a.t, a.dir)
}

func TestADamagedPackIsNamedInTheBackupAndRestoredAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, filepath.Join(dir, "data"))
	packs := a.closedPacks()
	a = a.withoutParity(packs[0])
	damaged := filepath.Base(packs[0])
	var log bytes.Buffer
	src := a.source()
	src.Log = slog.New(slog.NewTextHandler(&log, nil))
	full := filepath.Join(dir, "full")
	info, err := ToFile(t.Context(), src, full, "", nil)
	if err != nil || !slices.Equal(info.Damaged, []string{damaged}) {
		t.Fatalf("damaged are %v, %v", info.Damaged, err)
	}
	if !strings.Contains(log.String(), damaged) || !strings.Contains(log.String(), "WARN") {
		t.Errorf("the log says %q", log.String())
	}
	part := filepath.Join(dir, "part")
	if info, err := ToFile(t.Context(), src, part, full, nil); err != nil || !slices.Equal(info.Damaged, []string{damaged}) {
		t.Errorf("the increment: damaged are %v, %v", info.Damaged, err)
	}
	for i, chain := range [][]string{{full}, {full, part}} {
		restored := filepath.Join(dir, "restored", string(rune('a'+i)))
		os.MkdirAll(filepath.Dir(restored), 0o755)
		info, err := Restore(t.Context(), restored, chain, nil)
		if err != nil || !slices.Equal(info.Damaged, []string{damaged}) {
			t.Fatalf("restored %d: damaged are %v, %v", i, info.Damaged, err)
		}
		for _, pack := range packs {
			want, _ := os.ReadFile(pack)
			if got, err := os.ReadFile(filepath.Join(restored, packsDir, filepath.Base(pack))); err != nil || !bytes.Equal(got, want) {
				t.Errorf("pack %s is not as it was, %v", filepath.Base(pack), err)
			}
		}
		b := open(t, restored)
		if list, err := b.store.VerifyAll(t.Context(), nil); err != nil || len(list) == 0 {
			t.Errorf("the restored archive does not know of its damage: %v, %v", list, err)
		}
	}
}

func TestAPackThatParityHealsIsWholeInTheBackup(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(pack string, size int64) error{
		"changed": func(pack string, _ int64) error { spoil(t, pack, 40_000, 40_010); return nil },
		"longer":  func(pack string, size int64) error { return os.Truncate(pack, size+1000) },
	} {
		dir := t.TempDir()
		a := open(t, filepath.Join(dir, "data"))
		packs := a.closedPacks()
		if list, err := a.store.VerifyAll(t.Context(), nil); err != nil || len(list) > 0 { // waits for the parity
			t.Fatal(list, err)
		}
		a.close()
		whole, err := os.ReadFile(packs[0])
		if err != nil || harm(packs[0], int64(len(whole))) != nil {
			t.Fatal(err)
		}
		a = open(t, a.dir)
		full := filepath.Join(dir, "full")
		info, err := ToFile(t.Context(), a.source(), full, "", nil)
		if err != nil || len(info.Damaged) > 0 {
			t.Fatalf("%s: damaged are %v, %v", name, info.Damaged, err)
		}
		restored := filepath.Join(dir, "restored")
		if _, err := Restore(t.Context(), restored, []string{full}, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(filepath.Join(restored, packsDir, filepath.Base(packs[0]))); !bytes.Equal(got, whole) {
			t.Errorf("%s: it is not as it was closed", name)
		}
	}
}

func TestAPackThatIsMendedSinceIsInTheNextIncrement(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, filepath.Join(dir, "data"))
	packs := a.closedPacks()
	a = a.withoutParity(packs[0])
	full, part := filepath.Join(dir, "full"), filepath.Join(dir, "part")
	if info, err := ToFile(t.Context(), a.source(), full, "", nil); err != nil || len(info.Damaged) != 1 {
		t.Fatalf("damaged are %v, %v", info.Damaged, err)
	}
	spoil(t, packs[0], 40_000, 100_000) // inverting twice restores it
	if info, err := ToFile(t.Context(), a.source(), part, full, nil); err != nil || len(info.Damaged) > 0 {
		t.Fatalf("damaged are %v, %v", info.Damaged, err)
	}
	restored := filepath.Join(dir, "restored")
	if info, err := Restore(t.Context(), restored, []string{full, part}, nil); err != nil || len(info.Damaged) > 0 {
		t.Fatalf("damaged are %v, %v", info.Damaged, err)
	}
	open(t, restored).check()
}

func TestAPackThatNobodyMarkedAsDamagedIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		marked string
		want   error
	}{{"000000000001-00ff.pack", nil}, {"000000000002-00ff.pack", ErrBroken}} {
		path := filepath.Join(dir, c.marked)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		const name = "000000000001-00ff.pack"
		w := &writer{ctx: t.Context(), w: f}
		err = errors.Join(w.begin(),
			w.section(kindPack, name, func(w io.Writer) error { _, err := w.Write([]byte("hello")); return err }),
			w.end(Info{ID: "i", Packs: []Pack{{Name: name, Size: 5, Contains: true}}, Damaged: []string{c.marked}}), f.Close())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), path+".data", []string{path}, nil); !errors.Is(err, c.want) {
			t.Errorf("marked is %s: %v", c.marked, err)
		}
	}
}

func TestABackupDoesNotFollowOnOneOfAnotherLineage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, filepath.Join(dir, "data"))
	a.put(1)
	info, err := Write(t.Context(), a.source(), io.Discard, nil, nil)
	if err != nil || info.Lineage != a.db.Lineage() {
		t.Fatalf("lineage %q, %v", info.Lineage, err)
	}
	if _, err := Write(t.Context(), a.source(), io.Discard, &info, nil); err != nil {
		t.Errorf("on its own: %v", err)
	}
	older := info
	older.Lineage = "" // as older programs wrote it
	if _, err := Write(t.Context(), a.source(), io.Discard, &older, nil); err != nil {
		t.Errorf("on one without a lineage: %v", err)
	}
	other := info
	other.Lineage = "0123456789abcdef"
	var b bytes.Buffer
	if _, err := Write(t.Context(), a.source(), &b, &other, nil); !errors.Is(err, ErrChain) ||
		!strings.Contains(err.Error(), "full backup is needed") {
		t.Errorf("on another: %v", err)
	}
	if b.Len() > 0 {
		t.Errorf("%d bytes were written", b.Len())
	}
}
