package disktest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// Model is one run of a model test: a store on a bad disk and the ledger of what was written to it.
type Model struct {
	Rand  *rand.Rand
	Disk  *BadDisk
	Known Ledger

	mu      sync.Mutex // guards failure
	failure string
}

// RunModels runs a model for each seed (see Seeds). A run calls live up to lives times, once for each life of the
// process, and ends early after Fail. The test fails if a run does, or if no write was acknowledged or none was left
// unknown over many seeds, since then it tests nothing.
func RunModels(t *testing.T, usual, lives int, live func(*Model)) {
	t.Helper()
	seeds := Seeds(t, usual)
	acknowledged, unknown := 0, 0
	for i, seed := range seeds {
		m := &Model{Rand: rand.New(rand.NewPCG(seed, 5)), Disk: NewBadDisk(seed)}
		for life := 0; life < lives && m.failure == ""; life++ {
			live(m)
		}
		if m.failure != "" { // the seed does not determine the order of concurrent writers: it may take a few tries
			t.Fatalf("ODARCHIVE_SEED=%d (%d of %d): %s\n%s", seed, i+1, len(seeds), m.failure, m.Disk.Story())
		}
		acknowledged += m.Known.Acknowledged
		unknown += m.Known.Unknown
	}
	t.Logf("%d seeds from %d on: %d writes acknowledged, %d unknown", len(seeds), seeds[0], acknowledged, unknown)
	if len(seeds) > 5 && (acknowledged == 0 || unknown == 0) {
		t.Error("the test tests nothing")
	}
}

// Fail ends the run with a message. Only the first message counts. It may be called concurrently.
func (m *Model) Fail(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure == "" {
		m.failure = fmt.Sprintf(format, args...)
	}
}
