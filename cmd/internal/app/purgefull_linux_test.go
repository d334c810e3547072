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
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/disk/disktest"
	"odarchive/triplestore/kv"
)

func TestAPurgeOnAFullDiskLosesNothingAndIsContinued(t *testing.T) {
	t.Parallel()
	disk := disktest.Small(t, "128m")
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
		disktest.Fill(t, filler, leave)
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
