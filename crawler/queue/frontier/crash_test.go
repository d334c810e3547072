package frontier

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"
)

const crashDir = "ODARCHIVE_FRONTIER_CRASH_DIR"

// TestKilledCrawlLosesNothing kills a crawling process repeatedly. Every visit that it reported must be recorded, no
// URL may be visited again for the same due time after it was reported, and in the end every URL must have been
// visited.
func TestKilledCrawlLosesNothing(t *testing.T) {
	if dir := os.Getenv(crashDir); dir != "" {
		crawlUntilKilled(dir)
		return
	}
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	const urls = 600
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, db, &clock{noon}, Options{})
	var seeds []catalog.Seed
	for i := range urls {
		seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("http://h%d.example/%d", i%40, i)})
	}
	if _, err := f.Add(t.Context(), seeds...); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	told := map[string]int{}
	kills := 0
	for finished := false; !finished; {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledCrawlLosesNothing$")
		cmd.Env = append(os.Environ(), crashDir+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		for n := 0; in.Scan(); {
			if url, ok := strings.CutPrefix(in.Text(), "visited "); ok {
				told[url]++
				if n++; n == 15+7*kills {
					_ = cmd.Process.Kill() // SIGKILL; the pipe is read to its end
				}
			}
		}
		if finished = cmd.Wait() == nil; !finished {
			kills++
		}
	}
	if kills < 3 || len(told) < urls-kills {
		t.Errorf("killed %d times, %d visits reported", kills, len(told)) // a kill may come between a visit and its report
	}
	for url, n := range told {
		if n != 1 {
			t.Errorf("%s was visited %d times for one due time", url, n)
		}
	}
	db, err = kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	f = open(t, db, &clock{noon}, Options{})
	if l := lease(t, f); l != nil {
		t.Errorf("still due: %s", urlsOf(l))
	}
	if err := inconsistency(f); err != nil {
		t.Error(err)
	}
	if s, err := f.Stats(); err != nil || s.Visits != urls || s.URLs != urls {
		t.Errorf("stats %+v, %v", s, err)
	}
}

// crawlUntilKilled visits what is due, and reports each visit after its commit.
func crawlUntilKilled(dir string) {
	die := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
	}
	ctx := context.Background()
	db, err := kv.Open(dir, kv.Options{})
	die(err)
	f, err := New(db, Options{Now: func() time.Time { return noon }, LeaseJobs: 5})
	die(err)
	for {
		l, err := f.TryLease(ctx)
		die(err)
		if l == nil {
			os.Exit(0)
		}
		for j, ok := l.Next(); ok; j, ok = l.Next() {
			die(db.Update(ctx, func(txn *kv.Txn) error {
				return f.Done(txn, l, j,
					Result{Visit: schedule.Visit{At: noon, Outcome: catalog.Archived, Changed: true}, NextDue: noon.Add(time.Hour)})
			}))
			fmt.Println("visited", j.URL)
		}
	}
}
