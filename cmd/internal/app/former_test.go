package app

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/harvest/timetable"
)

// unpackFormer unpacks the data directory of package store's tests, which a program wrote that knew no [[harvest]] tables.
func unpackFormer(t *testing.T) string {
	t.Helper()
	in, err := os.Open(filepath.Join("..", "store", "testdata", "format2.tar.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the old directory is not here:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for all := tar.NewReader(z); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		raw, err := io.ReadAll(all)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(name), 0o700)
		}
		if err == nil {
			err = os.WriteFile(name, raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A directory from before there were planned harvests and reports of them takes both, and they survive the next start.
func TestADirectoryFromBeforePlannedHarvestsTakesThem(t *testing.T) {
	t.Parallel()
	cfg := config.Defaults()
	cfg.Data = unpackFormer(t)
	cfg.Fetch.Harvests = []timetable.Plan{{Kind: "ckan", URL: "https://a.example"}}
	with := func(cfg config.Config, do func(n *Node)) {
		t.Helper()
		n, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		do(n)
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	with(cfg, func(n *Node) {
		plans, asked, err := n.Harvests(t.Context())
		if err != nil || len(plans) != 1 || len(asked) != 0 || plans[0].URL != "https://a.example" || plans[0].Last != nil {
			t.Fatalf("at first: %+v, %+v, %v", plans, asked, err)
		}
		if reports, err := n.Ledger.Harvests(t.Context(), time.Time{}, 10); err != nil || len(reports) != 0 {
			t.Errorf("reports: %+v, %v", reports, err)
		}
		n.Tidy(t.Context())
		if _, err := n.Timetable.Pause(t.Context(), plans[0].ID, "for a while"); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Timetable.Add(t.Context(), timetable.Plan{Kind: "oai", URL: "https://b.example"}); err != nil {
			t.Fatal(err)
		}
	})
	without := cfg
	without.Fetch.Harvests = nil
	with(without, func(n *Node) {
		if plans := n.Timetable.List(); len(plans) != 1 || plans[0].URL != "https://b.example" {
			t.Errorf("without the table: %+v", plans)
		}
	})
	with(cfg, func(n *Node) {
		plans := n.Timetable.List()
		if len(plans) != 2 {
			t.Fatalf("with the table again: %+v", plans)
		}
		for _, p := range plans {
			if paused := p.URL == "https://a.example"; (string(p.Paused) == "for a while") != paused {
				t.Errorf("%s: %q", p.URL, p.Paused)
			}
		}
	})
}
