package store_test

import (
	"log/slog"
	"strings"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
)

// Whoever holds an archive that is opened for writing may be a load: an 'add' beside that fails, so the message must
// not say that an 'add' works.
func TestAnArchiveInUseIsForReadersOrTheClientsOfAServer(t *testing.T) {
	t.Parallel()
	cfg := config.Defaults()
	cfg.Data = t.TempDir()
	n, err := store.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	_, err = store.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err == nil {
		t.Fatal("opened twice")
	}
	always, served, ok := strings.Cut(err.Error(), "if it is a server")
	if !ok || !strings.Contains(always, "query") || strings.Contains(always, "add") || !strings.Contains(served, "add") {
		t.Error(err)
	}
}
