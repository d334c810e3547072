package app

import (
	"log/slog"
	"net/http"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/catalog"
)

// crawled is what an archive serves that has fetched files from loopback hosts once.
func crawled(t *testing.T, files ...string) http.Handler {
	t.Helper()
	cfg := config.Defaults()
	cfg.Data, cfg.Fetch.AllowPrivateHosts, cfg.Fetch.HostDelay = t.TempDir(), true, 0
	n, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	var seeds []catalog.Seed
	for _, f := range files {
		seeds = append(seeds, catalog.Seed{URL: f})
	}
	if _, err := n.Intake.Add(t.Context(), seeds); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Pipeline.Run(t.Context(), crawler.RunOptions{Once: true}); err != nil {
		t.Fatal(err)
	}
	h, err := n.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// openIn opens the archive of a directory.
func openIn(t *testing.T, dir, base string, opts store.Options) (*Node, error) {
	t.Helper()
	cfg := config.Defaults()
	cfg.Data, cfg.Base = dir, base
	return Open(t.Context(), cfg, slog.New(slog.DiscardHandler), opts)
}
