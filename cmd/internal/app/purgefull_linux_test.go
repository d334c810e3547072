package app

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// smallDisk returns a directory on a small file system.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("mounting a small file system is not permitted here:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillUp leaves some MiB free on the disk that a file is on.
func fillUp(t *testing.T, name string, leave int64) {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(name), &fs); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err == nil {
		_, err = io.CopyN(f, zeros{}, max(int64(fs.Bavail)*fs.Bsize-leave<<20, 0))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAPurgeOnAFullDiskLosesNothingAndIsContinued(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "128m")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		_, _ = fmt.Fprintf(w, "%sOf %s,1\n", placesCSV(40, strings.HasPrefix(r.URL.Path, "/secret")), r.URL.Path)
	}))
	defer web.Close()
	n := openNode(t, func(c *config.Config) { c.Data = filepath.Join(disk, "data") })
	free := []int64{0, 2, 20, 33, 36, 48} // MiB; below a quarter of the disk nothing is written
	paths := []string{"/kept.csv"}
	for i := range free {
		paths = append(paths, fmt.Sprintf("/secret%d.csv", i))
	}
	if err := visitAll(t.Context(), n, web.URL, paths...); err != nil {
		t.Fatal(err)
	}
	o, filler := newOutsider(t, secretColumn, secretValue), filepath.Join(disk, "filler")
	kept := firstVersion(t, n, web.URL+"/kept.csv")
	refused := 0
	for i, leave := range free {
		gone := firstVersion(t, n, web.URL+paths[i+1])
		if _, err := n.Withdraw(t.Context(), catalog.WithdrawalOrder{Targets: []string{gone}, Reason: "It names people."}); err != nil {
			t.Fatal(err)
		}
		fillUp(t, filler, leave)
		_, err := n.PurgeWithdrawn(t.Context(), nil)
		if err != nil {
			refused++
		}
		if err != nil && (!errors.Is(err, kv.ErrDiskFull) || !strings.Contains(err.Error(), "still on disk")) {
			t.Errorf("with %d MiB free: %v", leave, err)
		}
		if _, err := n.Archive.Open(t.Context(), gone); !errors.Is(err, catalog.ErrWithdrawn) {
			t.Errorf("with %d MiB free, the withdrawn version: %v", leave, err)
		}
		f, err := n.Archive.Open(t.Context(), kept)
		if err != nil {
			t.Fatalf("with %d MiB free: %v", leave, err)
		}
		text, err := io.ReadAll(f)
		if want := placesCSV(40, false) + "Of /kept.csv,1\n"; errors.Join(err, f.Close()) != nil || string(text) != want {
			t.Errorf("with %d MiB free, the other version has %d bytes, want %d; %v", leave, len(text), len(want), err)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
	if refused < 3 {
		t.Errorf("%d of %d purges found the disk full", refused, len(free))
	}
	if _, err := n.PurgeWithdrawn(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if found := o.search(n.Config.Data); len(found) > 0 {
		t.Errorf("with room again, there are withdrawn bytes in %q", found)
	}
	if err := visitAll(t.Context(), n, web.URL, "/kept.csv", "/new.csv"); err != nil {
		t.Errorf("a visit after it: %v", err)
	}
}
