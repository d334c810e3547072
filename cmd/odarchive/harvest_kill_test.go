package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
)

// registry is a portal (Magda) of 120 datasets, ten on a page. Each state drops some, changes some, and brings some
// back.
type registry struct{ state atomic.Int64 }

func (p *registry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/v0/registry/records" {
		http.NotFound(w, r)
		return
	}
	state, first := int(p.state.Load()), 0
	fmt.Sscan(r.FormValue("pageToken"), &first)
	var list []string
	for i := first; i < first+10; i++ {
		title := fmt.Sprintf("Set %d", i)
		if i%3 == 0 {
			title += fmt.Sprintf(" of %d", state)
		}
		if (i+state)%7 != 0 {
			list = append(list, fmt.Sprintf(`{"id":"ds-%[1]d","name":%[2]q,"aspects":{"dcat-dataset-strings":{"title":%[2]q,"publisher":"City","keywords":["a","b%[4]d"]},
				"dataset-distributions":{"distributions":[{"id":"f%[1]d","aspects":{"dcat-distribution-strings":{"downloadURL":"http://files%[3]d.example/%[1]d.csv","format":"CSV"}}}]}}}`, i, title, state%3, i%5))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"hasMore":%v,"nextPageToken":"%d","records":[%s]}`, first+10 < 120, first+10, strings.Join(list, ","))
}

// The test kills a harvest (SIGKILL) at random moments and starts it again, through several states of the portal. In
// the end the archive must have the same statements and files as one whose harvests were not killed.
func TestAHarvestThatIsKilledEndsAsOneThatWasNot(t *testing.T) {
	t.Parallel()
	portal := &registry{}
	server := httptest.NewServer(portal)
	defer server.Close()
	killedAndCalm(t, 1, portal, func(data string) []string { return []string{"harvest", "magda", server.URL, "--data", data} })
}

// killedAndCalm runs a command that harvests from a portal for two archives, through several states of the portal. For
// one of them it kills the command (SIGKILL) at random moments and starts it again. In the end both archives must have
// the same statements and files.
func killedAndCalm(t *testing.T, stream uint64, portal *registry, command func(data string) []string) {
	t.Helper()
	t.Logf("-kill-rounds %d -kill-seed %d", *killRounds, *killSeed)
	random := rand.New(rand.NewPCG(*killSeed, stream))
	calm, killed := t.TempDir(), t.TempDir()
	args := func(data string) []string {
		return append(command(data), "--allow-private-hosts", "--host-delay", "1ms", "--log-level", "error")
	}
	began := time.Now()
	odarchive(t, args(calm)...)
	took := time.Since(began)
	ended := 0
	for kills := 0; kills < *killRounds; {
		if !harvestAndKill(t, time.Duration(random.Int64N(int64(took)*3/2)), args(killed)...) {
			kills++
			continue
		}
		ended++
		portal.state.Add(1)
		odarchive(t, args(calm)...)
	}
	odarchive(t, args(killed)...) // what was left of a round
	odarchive(t, args(killed)...) // all of the last state
	odarchive(t, args(calm)...)
	t.Logf("%d harvests came to their end before they were killed", ended)

	want, wantFiles := harvested(t, calm)
	got, gotFiles := harvested(t, killed)
	if len(want) < 100 {
		t.Fatalf("%d statements", len(want))
	}
	if !slices.Equal(gotFiles, wantFiles) {
		t.Errorf("%d files, the harvest that was never killed has %d", len(gotFiles), len(wantFiles))
	}
	for q := range want {
		if !got[q] {
			t.Errorf("lost: %s", q)
		}
	}
	for q := range got {
		if !want[q] {
			t.Errorf("too much: %s", q)
		}
	}
}

// harvestAndKill reports whether the harvest ended before it was killed.
func harvestAndKill(t *testing.T, after time.Duration, args ...string) (ended bool) {
	t.Helper()
	cmd := launch(t, args...)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	moment := time.NewTimer(after)
	defer moment.Stop()
	var err error
	select {
	case err = <-done:
	case <-moment.C:
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		err = <-done
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true
	case errors.As(err, &exit) && exit.ExitCode() == -1: // by a signal
		return false
	}
	t.Fatalf("odarchive %s: %v", strings.Join(args, " "), err)
	return false
}

var (
	activity = regexp.MustCompile(`/activity/harvest-[0-9a-f]+-[0-9]+`)
	moment   = regexp.MustCompile(`20[0-9][0-9]-[0-9-]+T[0-9:.]+Z`)
)

// harvested returns the statements of an archive, without times and ids of harvests, and its files.
func harvested(t *testing.T, data string) (statements map[string]bool, files []string) {
	t.Helper()
	n, done := opened(t, data)
	defer done()
	ctx := t.Context()
	statements = map[string]bool{}
	err := n.Triples.Dump(ctx, term.Pattern{}, func(q term.Quad) error {
		if s := q.S.Value(); activity.MatchString(s) && !strings.Contains(s, "#") {
			return nil // the activities of the harvests
		}
		line := fmt.Sprintf("%q", []term.Key{q.S, q.P, q.O, q.G})
		statements[moment.ReplaceAllString(activity.ReplaceAllString(line, "/activity/harvest"), "T")] = true
		return nil
	})
	if err == nil {
		err = n.Archive.Resources(ctx, "", func(r catalog.Resource) bool { files = append(files, r.URL); return true })
	}
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	if len(slices.Compact(slices.Clone(files))) != len(files) {
		t.Error("a file is registered twice")
	}
	return statements, files
}
