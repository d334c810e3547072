package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/disk/disktest"
)

var both = []string{catalog.DumpNQuads, catalog.DumpHDT}

func day(n int) time.Time { return time.Date(2026, 11, n, 3, 0, 0, 0, time.UTC) }

func plenty(int64) error { return nil }

// all returns what makes dumps of all kinds with a text.
func all(text string) func(context.Context, PutDump) error {
	return func(_ context.Context, put PutDump) error {
		for _, kind := range both {
			if err := put(kind, func(w io.Writer) error { _, err := io.WriteString(w, kind+text); return err }); err != nil {
				return err
			}
		}
		return nil
	}
}

// listed checks that each dump that is listed can be opened and is sound, and returns their number.
func listed(t *testing.T, d *DumpDir) int {
	t.Helper()
	list, _, err := d.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		f, _, err := d.Open(one.Name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(f)
		if sum := sha256.Sum256(b); err != nil || hex.EncodeToString(sum[:]) != one.SHA256 || int64(len(b)) != one.Size {
			t.Errorf("%s is not what the index says: %q, %v", one.Name, b, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	return len(list)
}

// files returns the names in a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestNewDumpsReplaceOlderOnes(t *testing.T) {
	t.Parallel()
	d := NewDumps(DumpOptions{Path: filepath.Join(t.TempDir(), "dumps"), FS: disk.OS{}, Room: plenty})
	if n := listed(t, d); n != 0 {
		t.Fatalf("%d dumps in no directory", n)
	}
	for n := range 4 {
		if err := d.Make(t.Context(), day(n+1), 2, both, all(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	list, last, err := d.List()
	if err != nil || listed(t, d) != 4 || !last.Equal(day(4)) || !list[0].Made.Equal(day(4)) || !list[3].Made.Equal(day(3)) {
		t.Errorf("%+v, %v, %v", list, last, err)
	}
	if got := files(t, d.o.Path); len(got) != 5 {
		t.Errorf("the files are %q", got)
	}
	// Of a kind that fails, the older one stays; one that is no longer made goes.
	if err := d.Make(t.Context(), day(5), 1, both, func(_ context.Context, put PutDump) error {
		_ = put(catalog.DumpHDT, func(io.Writer) error { return errors.New("it cannot be expressed") })
		return put(catalog.DumpNQuads, func(io.Writer) error { return nil })
	}); err != nil {
		t.Fatal(err)
	}
	if list, _, err = d.List(); err != nil || len(list) != 2 || !list[0].Made.Equal(day(5)) || !list[1].Made.Equal(day(4)) ||
		list[1].Kind != catalog.DumpHDT {
		t.Errorf("%+v, %v", list, err)
	}
	if err := d.Make(t.Context(), day(6), 1, both[:1], func(_ context.Context, put PutDump) error {
		return put(catalog.DumpNQuads, func(io.Writer) error { return nil })
	}); err != nil || listed(t, d) != 1 {
		t.Errorf("%q, %v", files(t, d.o.Path), err)
	}
}

func TestAFailureLeavesTheDumpsBefore(t *testing.T) {
	t.Parallel()
	room := errors.New("too little room")
	var full error
	d := NewDumps(DumpOptions{Path: t.TempDir(), FS: disk.OS{}, Room: func(int64) error { return full }})
	if err := d.Make(t.Context(), day(1), 1, both, all("1")); err != nil {
		t.Fatal(err)
	}
	before := files(t, d.o.Path)
	full = room
	if err := d.Make(t.Context(), day(2), 1, both, all("2")); !errors.Is(err, room) {
		t.Errorf("%v", err)
	}
	full = nil
	broken := errors.New("broken")
	if err := d.Make(t.Context(), day(2), 1, both, func(ctx context.Context, put PutDump) error {
		return errors.Join(all("2")(ctx, put), broken)
	}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := d.Make(ctx, day(2), 1, both, func(ctx context.Context, put PutDump) error {
		cancel(broken)
		return put(catalog.DumpNQuads, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err })
	}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if got := files(t, d.o.Path); fmt.Sprint(got) != fmt.Sprint(before) || listed(t, d) != 2 {
		t.Errorf("%q, before %q", got, before)
	}
}

func TestHoldRemovesAllAndEndsWhatIsBeingMade(t *testing.T) {
	t.Parallel()
	d := NewDumps(DumpOptions{Path: t.TempDir(), FS: disk.OS{}, Room: plenty})
	if err := d.Make(t.Context(), day(1), 1, both, all("1")); err != nil {
		t.Fatal(err)
	}
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- d.Make(t.Context(), day(2), 1, both, func(ctx context.Context, put PutDump) error {
			return put(catalog.DumpNQuads, func(w io.Writer) error {
				close(begun)
				<-ctx.Done()
				return nil
			})
		})
	}()
	<-begun
	release, err := d.Hold()
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, ErrDumpHeld) {
		t.Errorf("%v", err)
	}
	if err := d.Make(t.Context(), day(2), 1, both, all("2")); !errors.Is(err, ErrDumpHeld) {
		t.Errorf("made while it was held: %v", err)
	}
	if _, last, err := d.List(); err != nil || listed(t, d) != 0 || !last.Equal(day(1)) {
		t.Errorf("last %v, %v", last, err)
	}
	if got := files(t, d.o.Path); len(got) != 1 || got[0] != indexFile {
		t.Errorf("the files are %q", got)
	}
	release()
	if err := d.Make(t.Context(), day(3), 1, both, all("3")); err != nil || listed(t, d) != 2 {
		t.Errorf("%v", err)
	}
}

func TestNothingElseIsOpened(t *testing.T) {
	t.Parallel()
	d := NewDumps(DumpOptions{Path: t.TempDir(), FS: disk.OS{}, Room: plenty})
	if err := d.Make(t.Context(), day(1), 1, both, all("1")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "..", "../x", indexFile, prefix, prefix + "x.nq.gz" + tempSuffix} {
		if _, _, err := d.Open(name); !errors.Is(err, catalog.ErrNoDump) {
			t.Errorf("%q: %v", name, err)
		}
	}
	// An index that says otherwise does not lead out of the directory, and a damaged one is as good as none.
	for _, text := range []string{`{"dumps":[{"name":"triples-/../../x","size":0},{"name":"/etc/passwd"}]}`, "\x00{",
		strings.Repeat(" ", 100)} {
		if err := os.WriteFile(filepath.Join(d.o.Path, indexFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := listed(t, d); n != 0 {
			t.Errorf("%q: %d dumps", text, n)
		}
	}
	if err := d.Clean(); err != nil || len(files(t, d.o.Path)) != 1 {
		t.Errorf("%q, %v", files(t, d.o.Path), err)
	}
	if err := d.Make(t.Context(), day(2), 1, both, all("2")); err != nil || listed(t, d) != 2 {
		t.Errorf("%v", err)
	}
}

// After a power failure at any moment, each dump that is listed is whole, and the next start removes all other files.
func TestAPowerFailureLeavesOnlyWholeDumps(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		for cut := 1; ; cut++ {
			c := disktest.NewCrash(seed)
			c.CutAt(cut)
			d := NewDumps(DumpOptions{Path: "/data/dumps", FS: c, Room: plenty})
			forgotten := false
			err := d.Make(t.Context(), day(1), 1, both, all("1"))
			if err == nil {
				err = d.Make(t.Context(), day(2), 1, both, all("2"))
			}
			if err == nil {
				err = d.Forget()
				forgotten = err == nil
			}
			left := NewDumps(DumpOptions{Path: "/data/dumps", FS: c.Crash(), Room: plenty})
			if err := left.Clean(); err != nil {
				t.Fatal(err)
			}
			n := listed(t, left)
			if forgotten && n > 0 {
				t.Fatalf("seed %d: %d dumps are back after they were removed", seed, n)
			}
			entries, readErr := left.o.FS.ReadDir("/data/dumps")
			if readErr == nil && len(entries) > n+1 {
				t.Fatalf("seed %d, cut %d: %d files, %d dumps", seed, cut, len(entries), n)
			}
			if err := left.Make(t.Context(), day(3), 1, both, all("3")); err != nil || listed(t, left) != 2 {
				t.Fatalf("seed %d, cut %d: %v", seed, cut, err)
			}
			if err == nil {
				break
			}
		}
	}
}
