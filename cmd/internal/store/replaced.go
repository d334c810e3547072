package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/archive/vault"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

// Files in the data directory of an archive that has, or had, a continuous backup. Without them, the directory would be one
// that may be written as soon as it is opened without --backup-to.
const (
	replacedFile = "replaced"          // another directory is the writer now: since when, and the backup's URL
	backupFile   = "continuous-backup" // remembered
)

// Errors of directories that must not be written.
var (
	ErrReplaced = errors.New("another directory has become the writer of this archive")
	// ErrUnasked means that the backup has to be asked, and cannot be.
	ErrUnasked = errors.New("another directory may have become the writer of this archive, and its continuous backup, which knows, cannot be asked")
)

// remembered is the continuous backup whose writer a directory was last.
type remembered struct {
	To   string `json:"to"` // its URL
	Days int    `json:"days"`
	Wait bool   `json:"wait,omitempty"`
	// Dir and Host are where the directory was then. A copy of it has another place, and is no writer of the backup.
	Dir  string `json:"dir"`
	Host string `json:"host"`
}

// toRemember returns what noteWriter notes.
func (s *Store) toRemember() (r remembered, err error) {
	to := s.Config.Backup
	r = remembered{To: to.To, Days: to.Days, Wait: to.Wait}
	if r.Dir, err = filepath.Abs(s.Config.Data); err == nil {
		r.Host, err = os.Hostname()
	}
	return r, err
}

// NoteReplaced makes the directory remember that another one is the writer, if the error says so.
func (s *Store) NoteReplaced(why error) error {
	if !errors.Is(why, vault.ErrFenced) {
		return nil
	}
	return s.noteReplaced(s.Config.Backup.To)
}

func (s *Store) noteReplaced(backup string) error {
	text := time.Now().UTC().Format(time.RFC3339) + " " + backup + "\n"
	if err := disk.WriteFile(disk.OS{}, filepath.Join(s.Config.Data, replacedFile), []byte(text), 0o640); err != nil {
		return fmt.Errorf("note that another directory is the writer: %w", err)
	}
	return nil
}

// noteWriter notes that this directory is the writer of the archive in --backup-to.
func (s *Store) noteWriter() error {
	if err := os.Remove(filepath.Join(s.Config.Data, replacedFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	is, err := s.toRemember()
	if err != nil {
		return fmt.Errorf("note the continuous backup: %w", err)
	}
	if had, err := s.rememberedBackup(); err == nil && had == is {
		return nil
	}
	text, err := json.Marshal(is)
	if err == nil {
		err = disk.WriteFile(disk.OS{}, filepath.Join(s.Config.Data, backupFile), append(text, '\n'), 0o640)
	}
	if err != nil {
		return fmt.Errorf("note the continuous backup: %w", err)
	}
	return nil
}

// rememberedBackup returns what noteWriter noted. It is zero if there was never a backup, or it was given up.
func (s *Store) rememberedBackup() (r remembered, err error) {
	text, err := s.line(backupFile)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &r)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", filepath.Join(s.Config.Data, backupFile), err)
	}
	return r, nil
}

// useBackup makes the remembered backup the one of the settings, if they name none, or forgets it, as they say. A directory
// that was moved or copied has to be told.
func (s *Store) useBackup() error {
	to := &s.Config.Backup
	if to.To == config.NoBackup {
		to.To = ""
		for _, name := range []string{replacedFile, backupFile} {
			if err := os.Remove(filepath.Join(s.Config.Data, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	}
	if to.To != "" {
		return nil
	}
	known, err := s.rememberedBackup()
	if err != nil || known.To == "" {
		return err
	}
	here, err := s.toRemember()
	if err == nil && known.Dir == here.Dir && known.Host == here.Host {
		to.To, to.Days, to.Wait = known.To, known.Days, known.Wait
	}
	return err
}

// line returns the text of a small file of the directory; "" if there is none.
func (s *Store) line(name string) (string, error) {
	text, err := disk.ReadFile(disk.OS{}, filepath.Join(s.Config.Data, name), 4<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// replaced returns why the directory must not be written: another one is the writer, or that cannot be known. The backup is
// asked before anything is opened, since what comes later may change a bucket that the other one uses.
func (s *Store) replaced(ctx context.Context) (why, err error) {
	to := s.Config.Backup
	if to.Promote || to.To == config.NoBackup {
		return nil, nil
	}
	noted, err := s.rememberedBackup()
	if err != nil {
		return nil, err
	}
	known := noted.To
	if to.To == "" {
		text, err := s.line(replacedFile)
		if err != nil {
			return nil, err
		}
		if text != "" {
			since, backup, _ := strings.Cut(text, " ")
			return s.replacedBy(since, backup), nil
		}
		if known == "" {
			return nil, nil
		}
	}
	backup := cmp.Or(to.To, known)
	other, at, err := s.otherWriter(ctx, backup)
	switch {
	case errors.Is(err, vault.ErrNoVault) && to.To != "": // it begins now
		return nil, nil
	case err != nil && to.To != "" && !s.Config.TakeBytes: // BeginBackup waits for it
		return nil, nil
	case err != nil && to.To != "":
		return fmt.Errorf("--take-bytes: %w: %w", ErrUnasked, err), nil
	case err != nil:
		return fmt.Errorf("%w (%w): try again once it can be, or serve with --backup-to none if that backup is not used any more", ErrUnasked, err), nil
	case !other:
		return nil, nil
	}
	if known == backup { // else the address may be that of another archive
		if err := s.noteReplaced(backup); err != nil {
			return nil, err
		}
	}
	if to.To == "" {
		return s.replacedBy(at, backup), nil
	}
	return fmt.Errorf("--backup-to %s: %w, which wrote to it last on %s: if that one is to go on, let this one follow it (--follow); if this one is, start it with --promote", backup, vault.ErrNotOwner, at), nil
}

func (s *Store) replacedBy(since, backup string) error {
	return fmt.Errorf("%w, since %s: follow it with --follow and --backup-to %s, or serve with --backup-to none if that one is not used any more", ErrReplaced, since, backup)
}

// askTime bounds how long a backup is asked who writes it.
const askTime = 10 * time.Second

// otherWriter asks a backup whether its writer is another directory than this one, and when and where that wrote last.
func (s *Store) otherWriter(ctx context.Context, url string) (other bool, at string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	mine, err := HolderOf(s.Config.Data)
	if err != nil {
		return false, "", err
	}
	b, err := bucket.Open(ctx, url, bucket.Options{Logger: s.Log, Attempts: 2, Stall: askTime / 2})
	if err != nil {
		return false, "", err
	}
	last, err := vault.LastWriterOf(ctx, b)
	if err != nil {
		return false, "", err
	}
	at = last.At.UTC().Format(time.RFC3339)
	if last.URL != "" {
		at += " at " + last.URL
	}
	return last.Holder != "" && last.Holder != mine, at, nil
}
