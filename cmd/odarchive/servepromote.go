package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/copies/vault"
	"odarchive/sparqlapi/replica"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// serveFollower serves a replica, and the archive itself once this server shall be the writer. Where it cannot become
// that, or another server has become the writer at the same time, it is a replica again: readers are answered, but
// while the directory is promoted.
func (c *cli) serveFollower(cmd *cobra.Command, e *edge, hangups <-chan os.Signal) error {
	defer func() { e.close() }()
	renew := func() (err error) { // the edge ends with the server that used it
		e.close()
		e, err = c.openEdge(cmd.Flags())
		return err
	}
	for {
		promoted, followed, err := c.serveUntilPromoted(cmd.Context(), e, cmd.Flags())
		if !promoted {
			return err
		}
		if err == nil {
			if err := renew(); err != nil {
				return err
			}
			err = c.serveDirectory(cmd, e, hangups, true)
			for errors.Is(err, bucket.ErrUnavailable) { // that of --bytes is taken over first
				c.log.Warn("this server is the writer, and waits for the object store", "error", err)
				if !rest(cmd.Context(), bucketAgain) {
					return c.stoppedEarly()
				}
				if err := renew(); err != nil {
					return err
				}
				err = c.serveDirectory(cmd, e, hangups, true)
			}
		}
		if err == nil || !followed || c.cfg.Follow.Writer == "" || c.cfg.Backup.Promote || cmd.Context().Err() != nil {
			return err
		}
		if errors.Is(err, kv.ErrLocked) { // by this process itself, if the disk was full when it closed the database
			return fmt.Errorf("this server could not become the writer, and has to be started again: %w", err)
		}
		if !kv.IsReplica(c.cfg.Data) {
			if !errors.Is(err, vault.ErrFenced) && !errors.Is(err, vault.ErrNotOwner) && !errors.Is(err, vault.ErrInUse) {
				// nobody else is known to be the writer
				return err
			}
			if err := replica.Demote(c.cfg.Data, c.cfg.Follow.Address()); err != nil { // it has acknowledged nothing
				return err
			}
		}
		c.log.Warn("this server could not become the writer, and follows again", "error", err)
		if err := renew(); err != nil {
			return err
		}
	}
}

// bucketAgain is the pause between two attempts to open an archive whose bucket is away.
const bucketAgain = 5 * time.Second

// rest waits, and reports whether ctx has not ended.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// serveUntilPromoted serves a replica of the archive at --follow until ctx ends, or until this server shall be the
// writer: then promoted is true, and the directory can be written. A directory that was promoted before is that of a
// writer, whatever --follow says, so that a supervisor may start the same command again; one of a writer that was
// replaced becomes a replica. followed says that the directory was that of a follower, perhaps a new one.
func (c *cli) serveUntilPromoted(ctx context.Context, e *edge, flags *pflag.FlagSet) (promoted, followed bool, err error) {
	follows := kv.IsReplica(c.cfg.Data)
	if !follows && c.cfg.Backup.On() && store.BaseOf(c.cfg.Data) != "" {
		if writes, err := c.writes(ctx); err != nil || writes {
			return true, false, err
		}
	}
	if follows && c.cfg.Backup.Promote {
		return true, true, c.becomeWriter(ctx, flags, replacing{})
	}
	if c.cfg.Follow.Writer == "" {
		return false, false, fmt.Errorf(
			"%s is a replica: serve it with --follow and the address of its writer, with --backup-to and --promote as the writer "+
				"('odarchive promote'), or with --read-only", c.cfg.Data)
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	var waiting sync.WaitGroup
	var why occasion
	waiting.Go(func() {
		if why, promoted = c.awaitOccasion(following); promoted {
			stop()
		}
	})
	served := c.serveReplica(following, e)
	stop()
	waiting.Wait()
	if !promoted || served != nil {
		return false, true, served
	}
	return true, true, c.becomeWriter(ctx, flags, c.replacesBy(why))
}

// writes reports whether the archive's directory, with --follow and --backup-to, is that of the writer: it was promoted
// before. If another directory is the writer, this one becomes that of a replica, and what it has committed and the
// other one lacks will be dropped. That is done only if the backup says so:
//
//	ThisOne, Nobody     the writer
//	NoVault             the writer, unless the directory knows that there was a vault: opening it says so
//	AnotherOne          a replica, unless that one began the backup anew: then neither, without --promote
//	NobodyKnows         neither, without --promote
//	CannotAsk           neither
func (c *cli) writes(ctx context.Context) (bool, error) {
	is := store.AskWriter(ctx, c.cfg, c.log, c.cfg.Backup.To)
	if c.cfg.Backup.Promote && is.Who != vault.CannotAsk {
		return true, nil
	}
	switch is.Who {
	case vault.ThisOne:
		c.cfg.TakeBytes = true
		return true, nil
	case vault.Nobody, vault.NoVault:
		return true, nil
	case vault.NobodyKnows:
		why := is.Err
		if errors.Is(why, vault.ErrForgotten) {
			if err := c.sameArchive(ctx); err != nil {
				return false, err
			}
			why = store.BegunAnew(ctx, c.cfg, c.log, is)
		}
		return false, fmt.Errorf("--backup-to %s: %w", c.cfg.Backup.To, why)
	case vault.CannotAsk:
		return false, fmt.Errorf(
			"whether this server is the writer or follows, only the backup knows, which cannot be asked: start it again once it can be, "+
				"or without --follow if it is the writer: %w", is.Err)
	case vault.AnotherOne:
		if err := c.sameArchive(ctx); err != nil {
			return false, err
		}
		if err := store.BegunAnew(ctx, c.cfg, c.log, is); err != nil {
			return false, fmt.Errorf("--backup-to %s: %w", c.cfg.Backup.To, err)
		}
		c.log.Warn("another server has become the writer: this directory follows it, and what only this one had is dropped", "data",
			c.cfg.Data)
		return false, replica.Demote(c.cfg.Data, c.cfg.Follow.Address())
	}
	panic("a case of vault.Who is missing")
}

// sameArchive compares the archive in the directory with that in --backup-to.
func (c *cli) sameArchive(ctx context.Context) error {
	b, err := bucket.Open(ctx, c.cfg.Backup.To, bucket.Options{Logger: c.log})
	if err == nil {
		err = store.SameArchive(ctx, c.cfg.Data, b)
	}
	if err != nil {
		return fmt.Errorf("--backup-to %s: %w", c.cfg.Backup.To, err)
	}
	return nil
}

// becomeWriter makes the directory of a follower one that can be written. Without --base, the base stays that of the
// archive.
func (c *cli) becomeWriter(ctx context.Context, flags *pflag.FlagSet, what replacing) error {
	var mark struct{ Base string }
	raw, err := disk.ReadFile(disk.OS{}, filepath.Join(c.cfg.Data, kv.ReplicaFile), 64<<10)
	if err == nil {
		err = json.Unmarshal(raw, &mark)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(c.cfg.Data, kv.ReplicaFile), err)
	}
	if !flags.Changed("base") {
		c.cfg.Base = cmp.Or(mark.Base, c.cfg.Base)
	}
	if err := c.promoteFollower(ctx, what); err != nil {
		return err
	}
	c.cfg.TakeBytes = true // the one that was the writer may write no more: the backup has seen to that
	return nil
}
