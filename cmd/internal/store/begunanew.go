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
	"odarchive/triplestore/kv"
)

// BegunAnew returns an error if another directory writes the backup that a directory wrote, and has not gone on where
// that one ended, but begun anew with what it had; or if it cannot be told, because the backup does not know the
// directory (vault.ErrForgotten). The error says what the other one has and lacks, and with which commands people
// decide, since whoever follows another one drops what only it had. It is nil if the other one is known to have all
// write sets of this directory, and the backup as many bytes.
func BegunAnew(ctx context.Context, cfg config.Config, log *slog.Logger, is vault.Standing) error {
	n, err := readNote(cfg.Data)
	if err != nil {
		return err
	}
	b, err := bucket.Open(ctx, cfg.Backup.To, bucket.Options{Logger: log})
	if err != nil {
		return err
	}
	h, err := vault.Open(ctx, b)
	if err != nil {
		return err
	}
	another, now := is.Who == vault.AnotherOne, h.Anew()
	begun := n.Vault != "" && n.Vault != now.ID
	if another {
		begun = n.Epoch != 0 && n.Epoch < now.Epoch
	}
	if another && !begun { // it has gone on
		return nil
	}
	db, err := kv.Open(cfg.Data, kv.Options{Log: log}) // one that is read only does not know the end of its log
	if err != nil {
		return err
	}
	a, err := h.CompareAnew(ctx, db)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if another && a.Has && a.Bytes {
		return nil
	}
	what := fmt.Sprintf("another directory%s has begun this backup anew on %s, after write set %d", at(is.URL),
		a.Began.Format(time.RFC3339), a.After)
	if !begun {
		what = fmt.Sprintf(
			"this backup is older than what this directory wrote (in epoch %d; it is at %d), or another directory%s has begun it anew",
			n.Epoch, is.Epoch, at(is.URL))
	}
	switch {
	case a.Has:
		what += ", and has all write sets of this directory"
	case a.More > 0:
		what += fmt.Sprintf("; this directory has %d write sets after %d that the other one lacks", a.More, a.After)
	default:
		what += ", and what it has cannot be compared with this directory"
	}
	if !a.Bytes {
		what += "; the backup lacks bytes of files that this directory has"
	}
	return fmt.Errorf(
		"%s. If the other one is to go on, and this one to follow it without what only this one has: see with 'odarchive check' whether "+
			"the other one lacks bytes of files, "+
			"then 'odarchive backup --detach --data %s', and start it again with --follow. "+
			"If this one is to replace the other one: start it once with --promote", what, cfg.Data)
}
