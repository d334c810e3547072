package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/sampleweb"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
)

var (
	killRounds = flag.Int("kill-rounds", 4, "how often TestACrawlThatIsKilled kills a crawl")
	killSeed   = flag.Uint64("kill-seed", uint64(time.Now().UnixNano()), "seed of the moments at which it does")
)

// killsAnArchive is how many crawls of one archive are killed. The whole archive is read after each of them, so longer
// runs continue with a new archive.
const killsAnArchive = 50

// The test kills a crawl (SIGKILL) at random moments while files change. Afterwards every fetch that was reported must
// be in the archive, every version must have its bytes and differ from the one before, and triples and records must
// agree.
func TestACrawlThatIsKilledLosesNothingItReported(t *testing.T) {
	t.Parallel()
	var state atomic.Int64
	web, err := sampleweb.Start(sampleweb.Options{State: func() int { return int(state.Load()) }})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	t.Logf("-kill-rounds %d -kill-seed %d", *killRounds, *killSeed)
	random := rand.New(rand.NewPCG(*killSeed, 0))
	var urls []string
	states := 1
	for _, file := range []string{"city/bevoelkerung/bezirke.csv", "city/environment/trees.csv", "region/air/latest.json",
		"region/finance/budget-2026.xml", "library/loans/branches.csv"} {
		host, path, _ := strings.Cut(file, "/")
		urls = append(urls, web.Base(host)+path)
		states = max(states, len(sampleStates(file)))
	}

	var data string
	var reported map[string]crawler.Report
	for round := range *killRounds {
		if round%killsAnArchive == 0 {
			data, reported = t.TempDir(), map[string]crawler.Report{}
			odarchive(t, append([]string{"add", "--data", data}, urls...)...)
		}
		state.Store(int64(round % states)) // files change in every round
		at := time.Date(2026, 12, 1+round%killsAnArchive*40, 0, 0, 0, 0, time.UTC)
		for _, r := range crawlAndKill(t, data, at, time.Duration(random.IntN(250))*time.Millisecond) {
			if before := reported[r.URL]; r.Versions >= before.Versions {
				reported[r.URL] = r
			}
		}
		checkArchive(t, data, reported)
	}
}

func odarchive(t *testing.T, args ...string) {
	t.Helper()
	var stderr strings.Builder
	if status := run(t.Context(), args, strings.NewReader(""), io.Discard, &stderr); status != 0 {
		t.Fatalf("odarchive %s: status %d: %s", strings.Join(args, " "), status, stderr.String())
	}
}

// launch starts the test binary as odarchive, as a process.
func launch(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program, err := exec.LookPath("odarchive") // testscript added it to the PATH
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// crawlAndKill runs the test binary as odarchive, kills it some time after its first fetch, and returns what it
// reported.
func crawlAndKill(t *testing.T, data string, at time.Time, after time.Duration) []crawler.Report {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.jsonl")
	cmd := launch(t, "crawl", "--data", data, "--allow-private-hosts", "--host-delay", "5ms",
		"--min-interval", "20ms", "--max-interval", "50ms", "--at", at.Format(time.RFC3339), "--report", report, "--log-level", "error")
	for began := time.Now(); len(readReports(t, report)) == 0 && time.Since(began) < 20*time.Second; {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(after) // the delay is the point of the test; nothing waits for an effect
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	reports := readReports(t, report)
	t.Logf("killed %s after the first fetch: %d fetches reported", after, len(reports))
	return reports
}

func readReports(t *testing.T, name string) []crawler.Report {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil // killed before the crawl began
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []crawler.Report
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r crawler.Report
		if json.Unmarshal(lines.Bytes(), &r) == nil { // the last line may be incomplete
			all = append(all, r)
		}
	}
	return all
}

// opened opens the archive that a killed process left. done closes it.
func opened(t *testing.T, data string) (n *app.Node, done func()) {
	t.Helper()
	cfg := config.Defaults()
	cfg.Data = data
	n, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return n, func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

func checkArchive(t *testing.T, data string, reported map[string]crawler.Report) {
	t.Helper()
	n, done := opened(t, data)
	defer done()
	ctx := t.Context()
	for url, r := range reported {
		resource, err := n.Archive.Resource(ctx, url)
		if err != nil || resource.Versions < r.Versions {
			t.Errorf("%s: %d versions reported, %d there (%v)", url, r.Versions, resource.Versions, err)
		}
	}
	var before catalog.Version
	err := n.Archive.Resources(ctx, "", func(r catalog.Resource) bool {
		versions, err := n.Archive.Versions(ctx, r.URL)
		if err != nil || len(versions) != r.Versions {
			t.Errorf("%s: %d versions, the record says %d (%v)", r.URL, len(versions), r.Versions, err)
		}
		for i, v := range versions {
			if i > 0 && v.Digests == before.Digests {
				t.Errorf("%s: version %d repeats the one before it", r.URL, i)
			}
			before = v
			if err := readVersion(ctx, n, v); err != nil {
				t.Errorf("%s: version %d: %v", r.URL, i, err)
			}
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
	compareTriples(t, n)
}

func readVersion(ctx context.Context, n *app.Node, v catalog.Version) error {
	body, err := n.Archive.Open(ctx, v.ID)
	if err != nil {
		return err
	}
	defer body.Close()
	size, err := io.Copy(io.Discard, body)
	if err == nil && size != v.Size {
		err = fmt.Errorf("%d bytes, want %d", size, v.Size)
	}
	return err
}

// compareTriples compares the store with the descriptions of the records.
func compareTriples(t *testing.T, n *app.Node) {
	t.Helper()
	said := map[term.Quad]int{}
	err := n.Archive.Quads(t.Context(), func(quads []term.Quad) error {
		for _, q := range quads {
			said[q] |= 1
		}
		return nil
	})
	if err == nil {
		err = n.Triples.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error { said[q] |= 2; return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	for q, where := range said {
		if where != 3 {
			t.Errorf("half visible (1: records only, 2: triples only): %d %q", where, q)
		}
	}
}
