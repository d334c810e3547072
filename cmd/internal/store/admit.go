package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/copies/vault"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

// Errors of directories that must not be written.
var (
	ErrReplaced = errors.New("another directory has become the writer of this archive")
	// ErrUnasked means that the backup has to be asked, and cannot be.
	ErrUnasked = errors.New(
		"another directory may have become the writer of this archive, and its continuous backup, which knows, cannot be asked")
	// ErrMoved means that the directory is a copy of the one that wrote its backup, or was moved to another file
	// system.
	ErrMoved = errors.New("this directory is not where it was when it wrote its continuous backup last")
)

// admit says why the directory must not be written, if it must not: another one is the writer of its continuous backup,
// or that cannot be known. It is asked before anything is opened, since what comes later may change a bucket that the
// other one uses. It changes the settings: without --backup-to, the backup is the one that the directory remembers. A
// server that is patient may begin while the object store is away, as with --backup-to.
func (s *Store) admit(ctx context.Context, patient bool) (why, err error) {
	to := &s.Config.Backup
	if to.To == config.NoBackup || to.Promote {
		return nil, nil // it is forgotten, or taken from whoever has it, once the directory is open
	}
	n, damaged, err := s.note()
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
			return fmt.Errorf(
				"%w (%s on %s): 'odarchive backup --attach' if it was moved, and 'odarchive backup --detach' if it is a copy that goes "+
					"its own way", ErrMoved, n.Dir, n.Host), nil
		}
	}
	// The remembered backup first: whatever the settings name now, a directory that was replaced there is not the
	// writer.
	if n.Begun && n.To != to.To {
		q := question{to: n.To, begun: true, replaced: !n.Replaced.IsZero(), by: n.By, here: here, mayWait: patient && to.To == "",
			byName: false}
		if why, err := s.ask(ctx, q); why != nil || err != nil {
			return why, err
		}
	}
	if to.To == "" {
		if to.To, to.Days, to.Wait = n.To, n.Days, n.Wait; n.Begun {
			return nil, nil
		}
	}
	begun := n.Begun && n.To == to.To || damaged // else the address may be that of another archive
	return s.ask(ctx, question{to: to.To, begun: begun, replaced: begun && !n.Replaced.IsZero(), by: n.By, here: here, mayWait: !damaged &&
		!s.Config.TakeBytes, byName: true})
}

// note returns what the directory knows of its backup. A damaged note is none if the settings name a backup.
func (s *Store) note() (n backupNote, damaged bool, err error) {
	n, err = readNote(s.Config.Data)
	if errors.Is(err, errNote) && s.Config.Backup.On() {
		s.Log.Warn("the note of the directory's continuous backup is damaged, and is made anew", "error", err)
		return n, true, nil
	}
	return n, false, err
}

// question is what a directory has to know of a backup before it is written.
type question struct {
	to       string // the backup
	begun    bool   // the directory has been its writer
	replaced bool   // and knows that another one is
	by       string // that one's address
	here     bool   // the directory is where it was then
	mayWait  bool   // while the backup is away, the directory may be written: what asks it later stops that if it must
	byName   bool   // the settings name the backup
}

// ask asks a backup who writes it, and decides whether the directory may be written: it may if both results are nil.
// why is what is the case, and err also that it may pass.
func (s *Store) ask(ctx context.Context, q question) (why, err error) {
	is := AskWriter(ctx, s.Config, s.Log, q.to)
	switch is.Who {
	case vault.ThisOne:
		s.Config.TakeBytes = s.Config.TakeBytes || q.here
		return nil, nil
	case vault.Nobody:
		return nil, nil
	case vault.AnotherOne:
		if q.begun {
			s.keepInMind(q.to, is.URL)
		}
		if q.byName {
			return fmt.Errorf(
				"--backup-to %s: %w, which wrote to it last on %s%s: if that one is to go on, let this one follow it (--follow); if this "+
					"one is, start it with --promote",
				q.to, vault.ErrNotOwner, is.At.UTC().Format(time.RFC3339), at(is.URL)), nil
		}
		return replacedBy(q.to, is.URL), nil
	case vault.NobodyKnows:
		if q.replaced {
			return replacedBy(q.to, q.by), nil
		}
		return fmt.Errorf("--backup-to %s: %w", q.to, is.Err), nil
	case vault.NoVault:
		switch {
		case q.replaced:
			return replacedBy(q.to, q.by), nil
		case q.begun: // as where the file system of the backup is not mounted
			return nil, fmt.Errorf(
				"--backup-to %s: %w: try again once it is, or, if it was removed on purpose, 'odarchive backup --detach' once, and it "+
					"begins anew", q.to, vault.ErrNotThere)
		}
		return nil, nil // it begins now
	case vault.CannotAsk:
		switch {
		case q.replaced:
			return replacedBy(q.to, q.by), nil
		case q.mayWait && isAway(is.Err):
			return nil, ctx.Err()
		case q.byName && !isAway(is.Err):
			return fmt.Errorf("--backup-to %s: %w", q.to, is.Err), nil
		case s.Config.TakeBytes:
			return nil, fmt.Errorf("--take-bytes: %w: %w", ErrUnasked, is.Err)
		}
		return nil, fmt.Errorf("%w (%w): try again once it can be, or 'odarchive backup --detach' if that backup is not used any more",
			ErrUnasked, is.Err)
	}
	panic("store: a case of vault.Who is missing")
}

// isAway reports whether an object store did not answer, and may do so later.
func isAway(err error) bool {
	return errors.Is(err, bucket.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// keepInMind notes that another directory is the writer of a backup. Where that cannot be noted, as on a full disk, the
// backup is asked again the next time.
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
	return fmt.Errorf(
		"%w%s: follow it with --follow and --backup-to %s, or 'odarchive backup --detach' if this directory shall go its own way",
		ErrReplaced, by, to)
}

// at returns " at " and an address, if it is known.
func at(url string) string {
	if url == "" {
		return ""
	}
	return " at " + url
}

// askTime bounds how long a backup is asked who writes it.
const askTime = 10 * time.Second

// AskWriter asks a backup who writes it, for the directory of the settings, which gets an identity if it has none.
func AskWriter(ctx context.Context, cfg config.Config, log *slog.Logger, url string) (is vault.Standing) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	mine, err := HolderOf(cfg.Data)
	if err != nil {
		return vault.Standing{Err: err}
	}
	b, err := bucket.Open(ctx, url, bucket.Options{Logger: log, Attempts: 2, Stall: askTime / 2})
	if err != nil {
		return vault.Standing{Err: err}
	}
	epoch := uint64(0)
	if n, err := readNote(cfg.Data); err == nil && n.To == url && n.Begun && n.Replaced.IsZero() {
		epoch = n.Epoch
	}
	is = vault.Ask(ctx, b, mine, epoch)
	if is.Who == vault.AnotherOne && is.URL == cfg.Base { // of both
		is.URL = ""
	}
	return is
}

// Leave tells the backup that a directory has written, which is not that of the settings any more, that it is left:
// followers that watch it must not take the silence for the end of the writer. A directory that is not where it was,
// such as a copy, or that was replaced, has nothing to tell. instead is what it writes from now on.
func Leave(ctx context.Context, cfg config.Config, log *slog.Logger, instead string) error {
	n, err := readNote(cfg.Data)
	if err != nil || !n.Begun || !n.Replaced.IsZero() || n.To == instead {
		return nil
	}
	if at, err := locationOf(cfg.Data); err != nil || !n.location.is(at) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	holder, err := HolderOf(cfg.Data)
	if err != nil {
		return err
	}
	b, err := bucket.Open(ctx, n.To, bucket.Options{Logger: log, Attempts: 2, Stall: askTime / 2})
	if err == nil {
		err = vault.Leave(ctx, b, holder, instead)
	}
	if errors.Is(err, vault.ErrNotOwner) {
		return replacedBy(n.To, "")
	}
	if err != nil {
		return fmt.Errorf(
			"the continuous backup %s could not be told that this directory has left it: a follower that watches it (--promote-after) "+
				"may take that for the end of the writer; "+
				"stop such a follower, or give it other settings: %w", n.To, err)
	}
	return nil
}

// leave is Leave with the settings of a directory that was opened for writing. Where another backup is named, it is
// written only if the former one knows; who says that there is none any more, or takes one over, is warned.
func (s *Store) leave(ctx context.Context) error {
	to := s.Config.Backup
	if to.To == "" {
		return nil
	}
	err := Leave(ctx, s.Config, s.Log, to.To)
	if err != nil && (to.To == config.NoBackup || to.Promote) {
		if !errors.Is(err, ErrReplaced) { // then its way is another one anyway
			s.Log.Warn("the directory leaves its continuous backup", "error", err)
		}
		return nil
	}
	return err
}

// SameArchive compares the archive in a directory with the one that a backup has. The error wraps vault.ErrOtherArchive
// if they differ; nil also means that the backup has none yet, or that one of the two was described by an older
// program.
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
				return fmt.Errorf("%w, which began on %s with IRIs below %s: each archive needs a prefix of its own", vault.ErrOtherArchive,
					there.Created.UTC().Format(time.DateOnly), there.Base)
			}
			return nil
		}
	}
	return nil
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
