package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/archive/vault"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

// Errors of directories that must not be written.
var (
	ErrReplaced = errors.New("another directory has become the writer of this archive")
	// ErrUnasked means that the backup has to be asked, and cannot be.
	ErrUnasked = errors.New("another directory may have become the writer of this archive, and its continuous backup, which knows, cannot be asked")
	// ErrMoved means that the directory is a copy of the one that wrote its backup, or was moved to another file system.
	ErrMoved = errors.New("this directory is not where it was when it wrote its continuous backup last")
)

// admit says why the directory must not be written, if it must not: another one is the writer of its continuous backup, or that
// cannot be known. It is asked before anything is opened, since what comes later may change a bucket that the other one
// uses. It changes the settings: without --backup-to, the backup is the one that the directory remembers. A server that is
// patient may begin while the object store is away, as with --backup-to.
func (s *Store) admit(ctx context.Context, patient bool) (why, err error) {
	to := &s.Config.Backup
	if to.To == config.NoBackup || to.Promote {
		return nil, nil // it is forgotten, or taken from whoever has it, once the directory is open
	}
	n, err := s.note()
	if err != nil {
		return nil, err
	}
	at, err := locationOf(s.Config.Data)
	if err != nil {
		return nil, err
	}
	here := n.location.is(at)
	if to.To == "" {
		if n.To == "" {
			return nil, nil
		}
		if n.Replaced.IsZero() && !here {
			return fmt.Errorf("%w (%s on %s): 'odarchive backup --attach' if it was moved, and 'odarchive backup --detach' if it is a copy that goes its own way", ErrMoved, n.Dir, n.Host), nil
		}
	}
	// The remembered backup first: whatever the settings name now, a directory that was replaced there is not the writer.
	if n.Begun && n.To != to.To {
		if why, err := s.askRemembered(ctx, n, here, patient && to.To == ""); why != nil || err != nil {
			return why, err
		}
	}
	if to.To == "" {
		if to.To, to.Days, to.Wait = n.To, n.Days, n.Wait; n.Begun {
			return nil, nil
		}
	}
	return s.askNamed(ctx, n, here)
}

// note returns what the directory knows of its backup. A damaged note is none if the settings name a backup.
func (s *Store) note() (backupNote, error) {
	n, err := readNote(s.Config.Data)
	if errors.Is(err, errNote) && s.Config.Backup.On() {
		s.Log.Warn("the note of the directory's continuous backup is damaged, and is made anew", "error", err)
		return backupNote{}, nil
	}
	return n, err
}

// askRemembered asks the backup whose writer the directory was last.
func (s *Store) askRemembered(ctx context.Context, n backupNote, here, patient bool) (why, err error) {
	last, err := askWriter(ctx, s.Config, s.Log, n.To)
	switch {
	case err != nil && !n.Replaced.IsZero():
		return replacedBy(n.To, n.By), nil
	case errors.Is(err, vault.ErrUnknownWriter):
		return fmt.Errorf("--backup-to %s: %w", n.To, err), nil
	case patient && isAway(err):
		return nil, ctx.Err()
	case err != nil:
		return fmt.Errorf("%w (%w): try again once it can be, or 'odarchive backup --detach' if that backup is not used any more", ErrUnasked, err), nil
	case last.other:
		s.keepInMind(n.To, last.url)
		return replacedBy(n.To, last.url), nil
	}
	s.Config.TakeBytes = s.Config.TakeBytes || here && last.mine
	return nil, nil
}

// askNamed asks the backup of the settings.
func (s *Store) askNamed(ctx context.Context, n backupNote, here bool) (why, err error) {
	to := s.Config.Backup.To
	last, err := askWriter(ctx, s.Config, s.Log, to)
	known := n.Begun && n.To == to // else the address may be that of another archive
	switch {
	case errors.Is(err, vault.ErrNoVault) && known && n.Replaced.IsZero(): // as where the file system of the backup is not mounted
		return fmt.Errorf("--backup-to %s: the backup that this directory has written is not there: if it was removed on purpose, 'odarchive backup --detach' once, and it begins anew", to), nil
	case errors.Is(err, vault.ErrNoVault) && !known: // it begins now
		return nil, nil
	case err != nil && known && !n.Replaced.IsZero():
		return replacedBy(to, n.By), nil
	case err != nil && s.Config.TakeBytes:
		return fmt.Errorf("--take-bytes: %w: %w", ErrUnasked, err), nil
	case isAway(err): // BeginBackup waits for it
		return nil, ctx.Err()
	case err != nil:
		return fmt.Errorf("--backup-to %s: %w", to, err), nil
	case !last.other:
		s.Config.TakeBytes = s.Config.TakeBytes || here && last.mine
		return nil, nil
	}
	if known {
		s.keepInMind(to, last.url)
	}
	return fmt.Errorf("--backup-to %s: %w, which wrote to it last on %s: if that one is to go on, let this one follow it (--follow); if this one is, start it with --promote", to, vault.ErrNotOwner, last.at), nil
}

// isAway reports whether an object store did not answer, and may do so later.
func isAway(err error) bool {
	return errors.Is(err, bucket.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// keepInMind notes that another directory is the writer of a backup. Where that cannot be noted, as on a full disk, the backup is
// asked again the next time.
func (s *Store) keepInMind(to, by string) {
	if err := noteReplaced(s.Config.Data, to, by); err != nil {
		s.Log.Warn("another directory is the writer of this archive, which could not be noted here", "error", err)
	}
}

// replacedBy returns the error for a directory that was replaced by the one at an address, if that is known.
func replacedBy(to, by string) error {
	if by != "" {
		by = " (" + by + ")"
	}
	with := "--follow"
	if to != unknownBackup {
		with += " and --backup-to " + to
	}
	return fmt.Errorf("%w%s: follow it with %s, or 'odarchive backup --detach' if this directory shall go its own way", ErrReplaced, by, with)
}

// lastWriter is who wrote a backup last.
type lastWriter struct {
	mine, other bool   // neither if nobody did
	url, at     string // of another one
}

// askTime bounds how long a backup is asked who writes it.
const askTime = 10 * time.Second

// askWriter asks a backup who writes it: the directory of the settings, or another one.
func askWriter(ctx context.Context, cfg config.Config, log *slog.Logger, url string) (last lastWriter, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	mine, err := HolderOf(cfg.Data)
	if err != nil {
		return last, err
	}
	b, err := bucket.Open(ctx, url, bucket.Options{Logger: log, Attempts: 2, Stall: askTime / 2})
	if err != nil {
		return last, err
	}
	w, err := vault.LastWriterOf(ctx, b)
	if err != nil {
		return last, err
	}
	last = lastWriter{mine: w.Holder == mine, other: w.Holder != "" && w.Holder != mine, url: w.URL, at: w.At.UTC().Format(time.RFC3339)}
	if w.URL == cfg.Base { // of both
		last.url = ""
	} else if w.URL != "" {
		last.at += " at " + w.URL
	}
	return last, nil
}

// SameArchive compares the archive in a directory with the one that a backup has. The error wraps vault.ErrOtherArchive if they differ; nil
// also means that the backup has none yet, or that one of the two was described by an older program.
func SameArchive(ctx context.Context, dir string, b bucket.Bucket) error {
	here, err := describe(disk.OS{}, dir, time.Time{})
	if err != nil || here.ID == "" {
		return err
	}
	for _, name := range []string{directoryFile, directoryCopy} {
		text, err := vault.LastFile(ctx, b, name)
		if err != nil {
			return err
		}
		if there, err := decodeDirectory(text); err == nil && there.ID != "" {
			if there.ID != here.ID {
				return fmt.Errorf("%w, which began on %s with IRIs below %s: each archive needs a prefix of its own", vault.ErrOtherArchive, there.Created.UTC().Format(time.DateOnly), there.Base)
			}
			return nil
		}
	}
	return nil
}

// IsWriter asks the backup of the settings whether a directory is that of its writer.
func IsWriter(ctx context.Context, cfg config.Config, log *slog.Logger) (bool, error) {
	if BaseOf(cfg.Data) == "" {
		return false, nil // no archive, whose identity would be made
	}
	last, err := askWriter(ctx, cfg, log, cfg.Backup.To)
	return last.mine, err
}

// NoteReplaced makes the directory remember that another one is the writer, if the error says so.
func (s *Store) NoteReplaced(why error) error {
	if !errors.Is(why, vault.ErrFenced) {
		return nil
	}
	var by *vault.FencedError
	url := ""
	if errors.As(why, &by) {
		url = by.URL
	}
	return noteReplaced(s.Config.Data, s.Config.Backup.To, url)
}
