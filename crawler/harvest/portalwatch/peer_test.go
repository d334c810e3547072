package portalwatch

import (
	"net/http"
	"os"
	"runtime"
	"strconv"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
)

// counting is a Sink that only counts.
type counting struct {
	portaltest.Notes
	datasets, files int
	heap            uint64 // maximum in use at a mark
}

func (c *counting) Dataset(d harvest.Dataset) error {
	c.datasets++
	c.files += len(d.Seeds(harvest.Portal{}))
	return nil
}

func (c *counting) Mark(string) error {
	if c.datasets%5000 < 200 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.heap = max(c.heap, m.HeapAlloc)
	}
	return nil
}

// TestAgainstAPeer harvests a real endpoint (Virtuoso, Oxigraph) with data shaped like that of Portal Watch.
// ODARCHIVE_PORTALWATCH is its address, ODARCHIVE_PORTALWATCH_FILES the number of distinct files that it lists.
func TestAgainstAPeer(t *testing.T) {
	endpoint := os.Getenv("ODARCHIVE_PORTALWATCH")
	if endpoint == "" {
		t.Skip("ODARCHIVE_PORTALWATCH names no endpoint")
	}
	sink := &counting{}
	if err := (Source{Endpoint: endpoint, HTTP: http.DefaultClient}).Harvest(t.Context(), "", sink); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d portals, %d datasets, %d files, at most %d MiB in use, skipped %q", len(sink.Portals), sink.datasets, sink.files,
		sink.heap>>20, sink.Skipped)
	if want, err := strconv.Atoi(os.Getenv("ODARCHIVE_PORTALWATCH_FILES")); err == nil && sink.files != want {
		t.Errorf("%d files, want %d", sink.files, want)
	}
}
