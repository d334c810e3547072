package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/crawl"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/preserve"
	"odarchive/crawler/preserve/ocfl"
	"odarchive/crawler/retention"
)

// exportTo adds to a storage root what a query names and what must leave it.
func exportTo(t *testing.T, n *Node, dir, query string) {
	t.Helper()
	root, err := ocfl.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]preserve.Held{}
	if err := root.EachHeld(t.Context(), func(url string, h preserve.Held) error { held[url] = h; return nil }); err != nil {
		t.Fatal(err)
	}
	err = n.Preserve(t.Context(), faces.Preserving{Query: query, Whole: true, Held: func(url string) *preserve.Held {
		if h, ok := held[url]; ok {
			return &h
		}
		return nil
	}, Bad: func(err error) { t.Error(err) }, Progress: func(int, int) {}}, root)
	if err != nil {
		t.Fatal(err)
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
}

// importFrom reads a whole storage root, which validates it.
func importFrom(t *testing.T, n *Node, dir string) crawl.Imported {
	t.Helper()
	to := n.Preserved()
	if err := ocfl.Read(t.Context(), dir, "", 1<<20, to, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return to.Count
}

func openNode(t *testing.T, set func(*config.Config)) *Node {
	t.Helper()
	cfg := config.Defaults()
	cfg.Data, cfg.Fetch.AllowPrivateHosts, cfg.Fetch.HostDelay = t.TempDir(), true, 0
	set(&cfg)
	n, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// visitAll visits some files of a host, in one run.
func visitAll(ctx context.Context, n *Node, host string, paths ...string) error {
	var seeds []catalog.Seed
	for _, p := range paths {
		seeds = append(seeds, catalog.Seed{URL: host + p})
	}
	if _, err := n.Intake.Add(ctx, seeds); err != nil {
		return err
	}
	for _, s := range seeds {
		if err := n.Frontier.MakeDue(ctx, s.URL); err != nil {
			return err
		}
	}
	_, err := n.Pipeline.Run(ctx, crawler.RunOptions{Once: true})
	return err
}

func TestStorageRootsLoseWhatWasTakenAwayAndImportsDoNotBringItBack(t *testing.T) {
	t.Parallel()
	var secret atomic.Bool
	secret.Store(true)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		_, _ = io.WriteString(w, placesCSV(40+len(r.URL.Path), secret.Load()))
	}))
	defer web.Close()
	rules, err := retention.Check([]retention.Rule{{Match: "pattern:/retained", Keep: "last 1"}})
	if err != nil {
		t.Fatal(err)
	}
	n := openNode(t, func(c *config.Config) { c.Retention.Rules = rules })
	visit := func(paths ...string) {
		t.Helper()
		if err := visitAll(t.Context(), n, web.URL, paths...); err != nil {
			t.Fatal(err)
		}
	}
	visit("/withdrawn.csv", "/retained.csv")
	secret.Store(false)
	visit("/withdrawn.csv", "/retained.csv", "/other-data.csv")
	dir := t.TempDir()
	root, before := filepath.Join(dir, "root"), filepath.Join(dir, "before")
	exportTo(t, n, root, "")
	exportTo(t, n, before, "")
	o := newOutsider(t, secretColumn, secretValue)
	if found := o.search(root); len(found) < 2 {
		t.Fatalf("the test sees only %q in the root", found)
	}
	versions, err := n.Archive.Versions(t.Context(), web.URL+"/withdrawn.csv")
	if err != nil || len(versions) != 2 {
		t.Fatalf("%d versions, %v", len(versions), err)
	}
	if _, err := n.Withdraw(t.Context(), catalog.WithdrawalOrder{Targets: []string{versions[0].ID}, Reason: "It names people."}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.ApplyRetention(t.Context()); err != nil {
		t.Fatal(err)
	}
	if files, err := n.PurgeWithdrawn(t.Context(), nil); files != 2 || err != nil {
		t.Fatalf("%d, %v", files, err)
	}
	exportTo(t, n, root, fmt.Sprintf("SELECT ?f { ?f <http://purl.org/dc/terms/hasVersion> ?v FILTER CONTAINS(STR(?f), %q) }", "other-data"))
	if found := o.search(root); len(found) > 0 {
		t.Errorf("the root still has %q", found)
	}
	if got := importFrom(t, openNode(t, func(*config.Config) {}), root); got != (crawl.Imported{Versions: 3, Others: 2}) {
		t.Errorf("the root holds %+v", got)
	}

	// What the earlier export has does not come back.
	if got := importFrom(t, n, before); got != (crawl.Imported{Withdrawn: 1, Unchanged: 4}) {
		t.Errorf("the earlier export brought %+v", got)
	}
	if found := o.search(n.Config.Data); len(found) > 0 {
		t.Errorf("after an import, there are withdrawn bytes in %q", found)
	}
	never := openNode(t, func(c *config.Config) { c.Fetch.NeverKeep = []string{"pattern:/withdrawn"} })
	if got := importFrom(t, never, before); got != (crawl.Imported{Versions: 3, Withdrawn: 2}) {
		t.Errorf("where a URL is never kept: %+v", got)
	}
	all, err := never.Archive.Versions(t.Context(), web.URL+"/withdrawn.csv")
	if err == nil && len(all) > 0 || err != nil && !strings.Contains(err.Error(), "not") {
		t.Errorf("never kept: %d versions, %v", len(all), err)
	}
}

// readsCopies is a writer that looks which copies are known when it gets its first byte.
type readsCopies struct {
	n     *Node
	found []catalog.CopyElsewhere
}

func (r *readsCopies) Write(p []byte) (int, error) {
	var err error
	if r.found == nil {
		r.found, err = r.n.Copies()
	}
	return len(p), err
}

func TestABackupIsKnownBeforeItsFirstByte(t *testing.T) {
	t.Parallel()
	n := openNode(t, func(*config.Config) {})
	w := &readsCopies{n: n}
	if err := n.Backup(t.Context(), w, nil); err != nil {
		t.Fatal(err)
	}
	after, err := n.Copies()
	if err != nil {
		t.Fatal(err)
	}
	if len(w.found) != 1 || w.found[0].Kind != store.BackupCopy || len(after) != 1 || after[0].Name != w.found[0].Name || after[0].At.Before(w.found[0].At) {
		t.Errorf("known while it is written %v, and then %v", w.found, after)
	}
}
