package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/triplestore/disk"
)

// made returns a directory with two dumps of each kind, and their names, newest first.
func made(t *testing.T) (d *DumpDir, names []string) {
	t.Helper()
	d = NewDumps(DumpOptions{Path: filepath.Join(t.TempDir(), "dumps"), FS: disk.OS{}, Room: plenty})
	for n := range 2 {
		if err := d.Make(t.Context(), day(n+1), 2, both, all(strings.Repeat("text", n+1))); err != nil {
			t.Fatal(err)
		}
	}
	list, _, err := d.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		names = append(names, one.Name)
	}
	return d, names
}

func TestADamagedDumpIsNamedAndDiscardedAndTheOthersStay(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		harm func(file string) error
		want string
	}{
		"a flipped bit": {func(file string) error {
			b, err := os.ReadFile(file)
			b[len(b)/2] ^= 1
			return errors.Join(err, os.WriteFile(file, b, 0o640))
		}, "digest"},
		"a cut file": {func(file string) error { return os.Truncate(file, 3) }, "has 3 of its"},
		"a longer file": {func(file string) error {
			b, err := os.ReadFile(file)
			return errors.Join(err, os.WriteFile(file, append(b, 'x'), 0o640))
		}, "more than its"},
		"a missing file": {os.Remove, "is missing"},
		"a directory":    {func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) }, "cannot be read"},
	} {
		d, names := made(t)
		if found, err := d.Verify(t.Context(), nil, nil); err != nil || found != nil {
			t.Fatalf("%s: before: %v, %v", what, found, err)
		}
		if err := c.harm(filepath.Join(d.o.Path, names[1])); err != nil {
			t.Fatal(err)
		}
		found, err := d.Verify(t.Context(), nil, nil)
		if err != nil || len(found) != 1 || found[0].File != "dumps/"+names[1] || !strings.Contains(found[0].Why, c.want) {
			t.Errorf("%s: %v, %v", what, found, err)
		}
		if err := d.scrubRound(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		list, last, err := d.List()
		if err != nil || len(list) != 3 || !last.IsZero() || listed(t, d) != 3 || slices.Contains(files(t, d.o.Path), names[1]) {
			t.Errorf("%s: after: %+v, %v, %v", what, list, last, err)
		}
		if noted := d.Damages(); len(noted) != 1 || noted[0].Mended.IsZero() || noted[0].Lost != "" || len(d.Due()) != 1 {
			t.Errorf("%s: noted %+v, due %d", what, noted, len(d.Due()))
		}
		if err := d.Make(t.Context(), day(3), 2, both, all("again")); err != nil || listed(t, d) != 4 {
			t.Errorf("%s: %v", what, err)
		}
		if found, err := d.Verify(t.Context(), nil, nil); err != nil || found != nil {
			t.Errorf("%s: at last: %v, %v", what, found, err)
		}
	}
}

func TestADamagedIndexIsNamedAndLeadsToNoOtherFile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{", `{"dumps":[{"name":"../secret","size":1,"sha256":"00"}]}`} {
		d, _ := made(t)
		secret := filepath.Join(filepath.Dir(d.o.Path), "secret")
		if err := errors.Join(os.WriteFile(secret, []byte("x"), 0o600),
			os.WriteFile(filepath.Join(d.o.Path, indexFile), []byte(text), 0o640)); err != nil {
			t.Fatal(err)
		}
		found, err := d.Verify(t.Context(), nil, nil)
		if err != nil || len(found) != 1 || found[0].File != "dumps/dumps.json" {
			t.Errorf("%s: %v, %v", text, found, err)
		}
		found = append(found, disk.Damage{File: "dumps/../secret"}, disk.Damage{File: "secret"})
		if err := d.Discard(found); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(secret); err != nil {
			t.Error(err)
		}
		if err := d.Make(t.Context(), day(3), 2, both, all("again")); err != nil || listed(t, d) != 2 {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestADumpThatIsReplacedWhileItIsReadIsNotDamaged(t *testing.T) {
	t.Parallel()
	d, _ := made(t)
	first := true
	found, err := d.Verify(t.Context(), nil, func(int64, int64) {
		if !first {
			return
		}
		first = false
		if err := d.Make(context.Background(), day(5), 1, both, all("new")); err != nil {
			t.Error(err)
		}
	})
	if err != nil || found != nil {
		t.Errorf("%v, %v", found, err)
	}
}
