package app

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
)

// A withdrawal while the bucket is away says what has happened and what has not, and is continued when it is back.
func TestAWithdrawalWithoutTheBucketSaysWhereTheBytesAre(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		_, _ = fmt.Fprintf(w, "%sOf %s,1\n", placesCSV(40, strings.HasPrefix(r.URL.Path, "/secret")), r.URL.Path)
	}))
	defer web.Close()
	root := t.TempDir()
	there, away := filepath.Join(root, "bucket"), filepath.Join(root, "away")
	n := openNode(t, func(c *config.Config) { c.Bytes = "file://" + there })
	if err := visitAll(t.Context(), n, web.URL, "/kept.csv", "/first.csv", "/secret.csv"); err != nil {
		t.Fatal(err)
	}
	withdraw := func(path string) error {
		t.Helper()
		version := firstVersion(t, n, web.URL+path)
		if _, err := n.Withdraw(t.Context(), catalog.WithdrawalOrder{Targets: []string{version}, Reason: "It names people."}); err != nil {
			t.Fatal(err)
		}
		_, err := n.PurgeWithdrawn(t.Context(), nil)
		return err
	}
	err := withdraw("/first.csv") // which closes the pack
	if err == nil {
		err = n.Content.FlushRemote(t.Context())
	}
	if err == nil {
		err = os.Rename(there, away)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = withdraw("/secret.csv")
	if !errors.Is(err, content.ErrLeftInBucket) {
		t.Fatalf("without the bucket: %v", err)
	}
	text := err.Error()
	if !strings.Contains(text, "gone from this disk, but not from the bucket") || strings.Contains(text, "still on disk") {
		t.Errorf("without the bucket: %s", text)
	}
	o := newOutsider(t, secretColumn, secretValue)
	if found := o.search(n.Config.Data); len(found) > 0 {
		t.Errorf("there are withdrawn bytes in %q", found)
	}
	if err := os.Rename(away, there); err != nil {
		t.Fatal(err)
	}
	if _, err := n.PurgeWithdrawn(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if found := o.search(there); len(found) > 0 {
		t.Errorf("there are withdrawn bytes in the bucket: %q", found)
	}
}
