package crawl

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/queue/frontier"
)

func TestLeasesOfAnEarlierProcessHoldTheCrawlOfAWriterAndNotOfWhoOnlyReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, end := openIn(t, dir)
	if err := c.Frontier.Mark(t.Context(), frontier.Outstanding{Lease: time.Hour}); err != nil {
		t.Fatal(err)
	}
	end()
	cfg := config.Defaults()
	cfg.Data = dir
	for _, reads := range []store.Reading{store.NeverReadOnly, store.AlwaysReadOnly} {
		s, err := store.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Reads: reads})
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		want := reads == store.NeverReadOnly
		if why := c.Frontier.Held(); strings.Contains(why, "leases of workers") != want {
			t.Errorf("read-only %v: held because of %q", reads == store.AlwaysReadOnly, why)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
