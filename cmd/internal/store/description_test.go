package store

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/triplestore"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/term"
)

var someTime = time.Date(2026, 11, 22, 15, 0, 0, 0, time.UTC)

func writeTo(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFrom(t *testing.T, dir, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestOneDamagedOrMissingDescriptionIsMendedFromTheOther(t *testing.T) {
	t.Parallel()
	dir, fsys := t.TempDir(), disk.OS{}
	want, err := createDirectory(fsys, dir, "http://a.example/", someTime)
	if err != nil {
		t.Fatal(err)
	}
	sound := readFrom(t, dir, directoryFile)
	damages := map[string]string{"an empty file": "", "half a file": sound[:len(sound)/2], "zeros": strings.Repeat("\x00", len(sound))}
	for i := range len(sound) * 8 {
		flipped := []byte(sound)
		flipped[i/8] ^= 1 << (i % 8)
		damages["flipped: "+string(flipped)] = string(flipped)
	}
	check := func(name, what string) {
		t.Helper()
		d, err := describe(fsys, dir, someTime)
		if err != nil || !d.directory.equal(want.directory) || len(d.damages) != 1 || d.damages[0].File != name {
			t.Fatalf("%s, %s: %+v, %v", name, what, d, err)
		}
		if err := d.store(fsys, dir, someTime); err != nil {
			t.Fatal(err)
		}
		if d.damages[0].Mended.IsZero() || readFrom(t, dir, name) != sound {
			t.Fatalf("%s, %s: not mended: %q", name, what, readFrom(t, dir, name))
		}
	}
	for _, name := range []string{directoryFile, directoryCopy} {
		for what, text := range damages {
			writeTo(t, dir, name, text)
			check(name, what)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		check(name, "missing")
	}
}

func TestWhatAnInterruptedWriteLeavesIsNoArchiveAndNoHindrance(t *testing.T) {
	t.Parallel()
	dir, fsys := t.TempDir(), disk.OS{}
	writeTo(t, dir, directoryFile+".new", `{"form`)
	d, err := describe(fsys, dir, someTime)
	if err != nil || d.exists {
		t.Fatalf("before the first write: %+v, %v", d, err)
	}
	if _, err := createDirectory(fsys, dir, "http://a.example/", someTime); err != nil {
		t.Fatal(err)
	}
	writeTo(t, dir, directoryCopy+".new", `{"form`)
	if d, err = describe(fsys, dir, someTime); err != nil || !d.exists || len(d.damages) > 0 {
		t.Fatalf("after it: %+v, %v", d, err)
	}
	if err := d.store(fsys, dir, someTime); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

func TestADirectoryIsTakenForWhatItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		files  map[string]string
		exists bool
		want   string // of the error
	}{
		{"an empty one", nil, false, ""},
		{"a new file system", map[string]string{"lost+found/x": ""}, false, ""},
		{"somebody's", map[string]string{"letter.txt": "x"}, false, "is not an archive"},
		{"somebody's with a folder called log", map[string]string{"log/app.txt": "x", "db/schema.rb": "x"}, false, "is not an archive"},
		{"a file called db", map[string]string{"db": "x"}, false, "is not an archive"},
		// its checksum is missing: no other description, no archive
		{"a newer one", map[string]string{directoryFile: `{"format":3}`}, true, ""},
		{"packs alone", map[string]string{"packs/0000000001.open": "x"}, true, ""},
		{"a database alone", map[string]string{"db/MANIFEST": "x"}, true, ""},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			writeTo(t, dir, name, text)
		}
		d, err := describe(disk.OS{}, dir, someTime)
		if c.name == "a newer one" {
			if err == nil {
				t.Errorf("%s: %+v", c.name, d)
			}
			continue
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || err == nil && d.exists != c.exists {
			t.Errorf("%s: %+v, %v", c.name, d, err)
		}
	}
}

func TestAnotherFormatIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := (directory{Format: formatVersion + 1, Created: someTime}).write(disk.OS{}, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := describe(disk.OS{}, dir, someTime); err == nil ||
		!strings.Contains(err.Error(),
			"has format 2, and this program reads format 1: use the program that wrote it, or export with that one and import here") {
		t.Error(err)
	}
}

// openIn opens the archive of a directory.
func openIn(t *testing.T, dir, base string, opts Options) (*Store, error) {
	t.Helper()
	cfg := config.Defaults()
	cfg.Data, cfg.Base = dir, base
	return Open(t.Context(), cfg, slog.New(slog.DiscardHandler), opts)
}

func closeStore(t *testing.T, n *Store, err error) {
	t.Helper()
	if err == nil {
		err = n.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestADescriptionThatIsGoneIsMadeAgainWithTheBaseOfTheVersions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := openIn(t, dir, "http://a.example/", Options{Create: true})
	if err == nil {
		err = n.Triples.Update(t.Context(), func(txn *triplestore.Txn) error {
			return txn.Insert(term.Quad{S: term.IRI("http://x.example/f"), P: term.IRI("http://purl.org/dc/terms/hasVersion"),
				O: term.IRI("http://a.example/api/v1/get/file/id/0123456789abcdef01234567_0")})
		})
	}
	closeStore(t, n, err)
	for _, create := range []bool{false, true} {
		for _, name := range []string{directoryFile, directoryCopy} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		n, err = openIn(t, dir, "http://b.example/", Options{Create: create})
		closeStore(t, n, err)
		d, err := describe(disk.OS{}, dir, someTime)
		if err != nil || d.Base != "http://a.example/" || d.Format != formatVersion || len(d.damages) > 0 {
			t.Errorf("create %t: %+v, %v", create, d, err)
		}
	}
}
