package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/crawl"
)

// halves is a server whose halves may fail to follow settings.
type halves struct {
	crawl, faces error
	faced        bool
	retained     bool
	dumped       bool
}

func (h *halves) ReloadRetention(config.Retention) { h.retained = true }

func (h *halves) ReloadDumps(config.Dumps) { h.dumped = true }

func (h *halves) ReloadCrawl(context.Context, config.Fetch) error { return h.crawl }

func (h *halves) ReloadFaces(config.Serve) error {
	h.faced = h.faces == nil
	return h.faces
}

// What is said after a failure is what is in force.
func TestAReloadKnowsWhatIsInForceAfterAFailure(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	partly := fmt.Errorf("%w: not those of the scope: %w", crawl.ErrPartly, bad)
	for _, c := range []struct {
		name         string
		crawl, faces error
		some, faced  bool
	}{
		{"nothing fails", nil, nil, true, true},
		{"the crawl refuses", bad, nil, false, false},
		{"the crawl follows some", partly, nil, true, true},
		{"the faces refuse", nil, bad, true, false},
		{"both", partly, bad, true, false},
	} {
		h := &halves{crawl: c.crawl, faces: c.faces}
		some, err := apply(t.Context(), h, config.Config{})
		if failed := c.crawl != nil || c.faces != nil; some != c.some || h.faced != c.faced || h.retained != c.some || h.dumped != c.some ||
			failed != (err != nil) || failed && !errors.Is(err, bad) {
			t.Errorf("%s: some %t, faced %t, %v", c.name, some, h.faced, err)
		}
	}
}
