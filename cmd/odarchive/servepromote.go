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

	"odarchive/cmd/internal/replica"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive/vault"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// serveFollower serves a replica, and the archive itself once this server shall be the writer. Where it cannot become that, or
// another server has become the writer at the same time, it is a replica again: readers are answered whatever happens.
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
		if !kv.IsReplica(c.cfg.Data) {
			if !vault.MustNotWrite(err) {
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

// serveUntilPromoted serves a replica of the archive at --follow until ctx ends, or until this server shall be the writer:
// then promoted is true, and the directory can be written. A directory that was promoted before is that of a writer,
// whatever --follow says, so that a supervisor may start the same command again; one of a writer that was replaced becomes a
// replica. followed says that the directory was that of a follower, perhaps a new one.
func (c *cli) serveUntilPromoted(ctx context.Context, e *edge, flags *pflag.FlagSet) (promoted, followed bool, err error) {
	follows := kv.IsReplica(c.cfg.Data)
	if _, err := os.Stat(filepath.Join(c.cfg.Data, "odarchive.json")); err == nil && !follows && c.cfg.Backup.On() {
		if writes, err := c.isWriter(ctx); err != nil || writes {
			return true, false, err
		}
	}
	if follows && c.cfg.Backup.Promote {
		return true, true, c.becomeWriter(ctx, flags, "")
	}
	if c.cfg.Follow.Writer == "" {
		return false, false, fmt.Errorf("%s is a replica: serve it with --follow and the address of its writer, with --backup-to and --promote as the writer ('odarchive promote'), or with --read-only", c.cfg.Data)
	}
	if !c.cfg.Backup.On() {
		return false, true, c.serveReplica(ctx, e)
	}
	if err := c.dropOldOrder(); err != nil {
		return false, true, err
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	var waiting sync.WaitGroup
	silent := ""
	waiting.Go(func() {
		for {
			var err error
			if silent, err = c.awaitPromotion(following); err == nil {
				err = c.awaitBytes(following)
			}
			if err == nil {
				promoted = true
				stop()
			}
			if following.Err() != nil {
				return
			}
			c.log.Error("cannot look for orders to become the writer, and whether the writer lives; trying again", "error", err)
			if !rest(following, bucketAgain) {
				return
			}
		}
	})
	served := c.serveReplica(following, e)
	stop()
	waiting.Wait()
	if !promoted || served != nil {
		return false, true, served
	}
	return true, true, c.becomeWriter(ctx, flags, silent)
}

// isWriter reports whether the archive's directory is that of the writer in --backup-to. If another one is, it makes the
// directory one of a replica: what this one has committed and the other lacks will be dropped.
func (c *cli) isWriter(ctx context.Context) (bool, error) {
	h, err := c.openVault(ctx, c.cfg.Backup.To)
	if errors.Is(err, vault.ErrNoVault) { // the directory knows what it was last
		return true, nil
	}
	if errors.Is(err, bucket.ErrUnavailable) {
		return false, fmt.Errorf("whether this server is the writer or follows, only the backup knows, which cannot be asked: start it again once it can be, or without --follow if it is the writer: %w", err)
	}
	if err != nil {
		return false, err
	}
	holder, err := store.HolderOf(c.cfg.Data)
	if err != nil || c.cfg.Backup.Promote {
		return true, err
	}
	if h.IsUnknown() { // taken for another one, the true writer would drop what only it has
		return false, fmt.Errorf("%w, and the others with --follow and its address", vault.ErrUnknownWriter)
	}
	if h.WrittenBy(holder) {
		c.cfg.TakeBytes = true
		return true, nil
	}
	if err := c.sameArchive(ctx); err != nil {
		return false, err
	}
	c.log.Warn("another server has become the writer: this directory follows it, and what only this one had is dropped", "data", c.cfg.Data)
	return false, replica.Demote(c.cfg.Data, c.cfg.Follow.Address())
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

// becomeWriter makes the directory of a follower one that can be written. Without --base, the base stays that of the archive. silent
// is what awaitPromotion returned.
func (c *cli) becomeWriter(ctx context.Context, flags *pflag.FlagSet, silent string) error {
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
	if err := c.promoteFollower(ctx, silent); err != nil {
		return err
	}
	c.cfg.TakeBytes = true // the one that was the writer may write no more: the backup has seen to that
	return nil
}
