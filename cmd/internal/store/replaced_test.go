package store

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/archive/vault"
)

func TestADirectoryThatWasReplacedIsNotWrittenWithoutItsBackup(t *testing.T) {
	t.Parallel()
	cfg := config.Defaults()
	cfg.Data = t.TempDir()
	open := func(reads Reading) (*Store, error) {
		return Open(t.Context(), cfg, slog.New(slog.DiscardHandler), Options{Create: true, Reads: reads})
	}
	s, err := open(NeverReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.NoteReplaced(errors.New("something else")), s.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = open(NeverReadOnly); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.NoteReplaced(vault.ErrFenced), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := open(NeverReadOnly); !errors.Is(err, ErrReplaced) || !strings.Contains(err.Error(), "--follow") {
		t.Error(err)
	}
	if s, err = open(IfUnwritable); err != nil {
		t.Fatal(err)
	}
	if !s.DB.ReadOnly() || !strings.Contains(s.ReadOnlyReason, ErrReplaced.Error()) {
		t.Errorf("read-only because of %q", s.ReadOnlyReason)
	}
	if err := errors.Join(s.Close(), os.Remove(filepath.Join(cfg.Data, replacedFile))); err != nil {
		t.Fatal(err)
	}
	if s, err = open(NeverReadOnly); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
