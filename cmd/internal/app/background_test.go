package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/supervise"
)

func background(t *testing.T) *Node { t.Helper(); return backgroundWith(t, func(*config.Config) {}) }

// backgroundWith opens an archive with some settings.
func backgroundWith(t *testing.T, set func(*config.Config)) *Node {
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

// job waits until a job has a state.
func job(t *testing.T, n *Node, name, state string) supervise.Job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for tick := time.NewTicker(2 * time.Millisecond); ; {
		for _, j := range n.Jobs.List() {
			if j.Name == name && j.State == state {
				return j
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("no job %s is %s: %+v", name, state, n.Jobs.List())
		}
	}
}

func TestWhatEndsOneJobEndsNeitherTheOthersNorTheServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm       func(*Node)
		job, state string
		why        string
	}{
		"a panic in the crawl": {func(n *Node) { n.Pipeline.Log = nil }, "crawling", supervise.Waiting,
			"a fault of this program: panic"},
		"a panic in the plan": {func(n *Node) { n.Frontier = nil }, "planning", supervise.Waiting, "a fault of this program: panic"},
		"writes that have stopped": {func(n *Node) { n.DB.StopWrites(errors.New("the disk is gone")) }, "crawling", supervise.Stopped,
			"the disk is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := background(t)
			if _, err := n.Intake.Add(t.Context(), []catalog.Seed{{URL: "http://127.0.0.1:9/a.csv"}}); err != nil {
				t.Fatal(err)
			}
			h, err := n.Handler()
			if err != nil {
				t.Fatal(err)
			}
			c.harm(n)
			ctx, cancel := context.WithCancel(t.Context())
			var group sync.WaitGroup
			group.Go(func() { n.Background(ctx, ctx, true) })
			if j := job(t, n, c.job, c.state); !strings.Contains(j.Error, c.why) {
				t.Errorf("%+v", j)
			}
			if c.job != "crawling" {
				job(t, n, "crawling", supervise.Running)
			}
			job(t, n, "quality", supervise.Running)
			job(t, n, "tidying", supervise.Running)
			job(t, n, "search", supervise.Done)
			for path, want := range map[string]string{
				"/crawl/status": `"name":"` + c.job + `","state":"` + c.state + `"`,
				"/crawls":       "The job <strong>" + c.job + "</strong> failed",
				"/metrics":      `odarchive_job_ok{job="` + c.job + `"} 0`,
			} {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
				if body, err := io.ReadAll(w.Body); err != nil || w.Code != 200 || !strings.Contains(string(body), want) {
					t.Errorf("%s: %d, %v, lacks %s:\n%.2000s", path, w.Code, err, want, body)
				}
			}
			cancel()
			group.Wait()
		})
	}
}
