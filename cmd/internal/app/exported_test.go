package app

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
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
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/ocfl"
	"odarchive/crawler/exchange/preserve"
	"odarchive/crawler/jobs"
	"odarchive/crawler/queue/retention"
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
func importFrom(t *testing.T, n *Node, dir string) jobs.Imported {
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
	if _, err := n.Withdraw(t.Context(),
		catalog.WithdrawalOrder{Targets: []string{versions[0].ID}, Reason: "It names people."}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.ApplyRetention(t.Context()); err != nil {
		t.Fatal(err)
	}
	if files, err := n.PurgeWithdrawn(t.Context(), nil); files != 2 || err != nil {
		t.Fatalf("%d, %v", files, err)
	}
	exportTo(t, n, root, fmt.Sprintf("SELECT ?f { ?f <http://purl.org/dc/terms/hasVersion> ?v FILTER CONTAINS(STR(?f), %q) }",
		"other-data"))
	if found := o.search(root); len(found) > 0 {
		t.Errorf("the root still has %q", found)
	}
	there := openNode(t, func(*config.Config) {})
	if got := importFrom(t, there, root); got != (jobs.Imported{Versions: 3, Others: 2}) {
		t.Errorf("the root holds %+v", got)
	}
	sameVersions(t, n, there, web.URL+"/withdrawn.csv", web.URL+"/retained.csv", web.URL+"/other-data.csv")
	if got := importFrom(t, there, root); got != (jobs.Imported{Unchanged: 3, Others: 2}) {
		t.Errorf("again: %+v", got)
	}
	checkLeaves(t, there)
	secret.Store(true) // what was withdrawn there is refused here, too; what retention took away is not
	if err := visitAll(t.Context(), there, web.URL, "/withdrawn.csv", "/retained.csv"); err != nil {
		t.Fatal(err)
	}
	secret.Store(false)
	if all, err := there.Archive.Versions(t.Context(), web.URL+"/withdrawn.csv"); err != nil || len(all) != 2 {
		t.Errorf("%d versions of the withdrawn file, %v", len(all), err)
	}
	if all, err := there.Archive.Versions(t.Context(), web.URL+"/retained.csv"); err != nil || len(all) != 3 {
		t.Errorf("%d versions of the retained file, %v", len(all), err)
	}

	// An archive that refuses bytes keeps the numbers of the versions after them.
	refusing := openNode(t, func(*config.Config) {})
	list, err := json.Marshal(catalog.WithdrawnBytes{Version: versions[0].ID, SHA256: hex.EncodeToString(versions[0].Digests.SHA256[:]),
		Withdrawal: catalog.Withdrawal{At: versions[0].At, Reason: "Elsewhere, too.", Status: 410}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := refusing.WithdrawAgain(t.Context(), bytes.NewReader(list), nil); err != nil {
		t.Fatal(err)
	}
	if got := importFrom(t, refusing, before); got != (jobs.Imported{Versions: 4, Withdrawn: 1}) {
		t.Errorf("where bytes are refused: %+v", got)
	}
	sameVersions(t, n, refusing, web.URL+"/withdrawn.csv")
	checkLeaves(t, refusing)

	// What the earlier export has does not come back.
	if got := importFrom(t, n, before); got != (jobs.Imported{Withdrawn: 1, Unchanged: 4}) {
		t.Errorf("the earlier export brought %+v", got)
	}
	if found := o.search(n.Config.Data); len(found) > 0 {
		t.Errorf("after an import, there are withdrawn bytes in %q", found)
	}
	never := openNode(t, func(c *config.Config) { c.Fetch.NeverKeep = []string{"pattern:/withdrawn"} })
	if got := importFrom(t, never, before); got != (jobs.Imported{Versions: 3, Withdrawn: 2}) {
		t.Errorf("where a URL is never kept: %+v", got)
	}
	all, err := never.Archive.Versions(t.Context(), web.URL+"/withdrawn.csv")
	if err == nil && len(all) > 0 || err != nil && !strings.Contains(err.Error(), "not") {
		t.Errorf("never kept: %d versions, %v", len(all), err)
	}
}

// sameVersions compares the numbers, times, digests and withdrawals of versions in two archives.
func sameVersions(t *testing.T, a, b *Node, urls ...string) {
	t.Helper()
	for _, url := range urls {
		x, err := a.Archive.Versions(t.Context(), url)
		y, err2 := b.Archive.Versions(t.Context(), url)
		if err := errors.Join(err, err2); err != nil || len(x) != len(y) {
			t.Errorf("%s: %d and %d versions, %v", url, len(x), len(y), err)
			continue
		}
		for i := range x {
			if x[i].ID != y[i].ID || !x[i].At.Equal(y[i].At) || x[i].Digests != y[i].Digests || x[i].Size != y[i].Size ||
				(x[i].Withdrawn == nil) != (y[i].Withdrawn == nil) {
				t.Errorf("%s: version %d is %+v, and imported %+v", url, i, x[i], y[i])
			}
			if _, err := b.Archive.Open(t.Context(), y[i].ID); errors.Is(err, catalog.ErrWithdrawn) != (y[i].Withdrawn != nil) {
				t.Errorf("%s: opening version %d: %v", url, i, err)
			}
		}
	}
}

// checkLeaves checks the transparency log, and that what was derived from the records is what it should be.
func checkLeaves(t *testing.T, n *Node) {
	t.Helper()
	c, err := n.Archive.CheckLeaves(t.Context())
	if err != nil || c.Found > 0 {
		t.Errorf("the transparency log has %d faults: %q, %v", c.Found, c.Faults, err)
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
	if _, err := n.Backup(t.Context(), w, nil, nil); err != nil {
		t.Fatal(err)
	}
	after, err := n.Copies()
	if err != nil {
		t.Fatal(err)
	}
	if len(w.found) != 1 || w.found[0].Kind != store.BackupCopy || len(after) != 1 || after[0].Name != w.found[0].Name ||
		after[0].At.Before(w.found[0].At) {
		t.Errorf("known while it is written %v, and then %v", w.found, after)
	}
}
