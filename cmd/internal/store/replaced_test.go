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

func TestOnlyTheDirectoryItselfGoesOnWithTheBackupThatItRemembers(t *testing.T) {
	t.Parallel()
	cfg := config.Defaults()
	cfg.Data = t.TempDir()
	cfg.Backup.To, cfg.Backup.Days, cfg.Backup.Wait = "file://"+t.TempDir(), 90, true
	write := func(cfg config.Config) config.Backup {
		t.Helper()
		s, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler), Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.BeginBackup(t.Context(), ""), s.Close()); err != nil {
			t.Fatal(err)
		}
		return s.Config.Backup
	}
	given := write(cfg)
	cfg.Backup = config.Defaults().Backup
	if got := write(cfg); got != given {
		t.Errorf("it remembers %+v, want %+v", got, given)
	}
	copied := cfg
	copied.Data = filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied.Data, os.DirFS(cfg.Data)); err != nil {
		t.Fatal(err)
	}
	if got := write(copied); got.On() {
		t.Errorf("a copy goes on with %+v", got)
	}
	cfg.Backup.To = config.NoBackup
	write(cfg)
	cfg.Backup.To = ""
	if got := write(cfg); got.On() {
		t.Errorf("it was given up, and goes on with %+v", got)
	}
}
