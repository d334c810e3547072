package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive/vault"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// orderFile, in the directory of a follower, tells the server that follows to become the writer. It removes the file.
const orderFile = "promote"

// promoteSigns are what promoteWatch looks at, and how often.
const (
	orderEvery = 200 * time.Millisecond
	signEvery  = 2 * time.Second
)

// awaitPromotion returns when the follower in the archive's directory shall become the writer: somebody has ordered it
// ('odarchive promote'), or the writer's lease in --backup-to has not changed for --promote-after, by this process's own
// clock. Then silent is the sign of that writer, which is replaced only if it has not changed since. While the object store
// cannot be reached, the writer cannot be told from one that is away, and nothing happens.
func (c *cli) awaitPromotion(ctx context.Context) (silent string, err error) {
	b, err := bucket.Open(ctx, c.cfg.Backup.To, bucket.Options{Logger: c.log, Attempts: 1, Stall: 5 * time.Second})
	if err != nil {
		return "", usagef("--backup-to: %v", err)
	}
	orders, signs := time.NewTicker(orderEvery), time.NewTicker(signEvery)
	defer orders.Stop()
	defer signs.Stop()
	after := c.cfg.Backup.PromoteAfter
	watch := silence{after: after}
	trouble := ""
	isSilent := func() bool {
		asked := time.Now()
		sign, _, _, err := vault.Lives(ctx, b)
		if said := signTrouble(sign, err); said != trouble && ctx.Err() == nil {
			if trouble = said; said == "" {
				c.log.Info("the sign of the writer is seen")
			} else {
				c.log.Warn("this server cannot become the writer by itself, since it cannot see whether one lives", "backup", c.cfg.Backup.To, "why", said)
			}
		}
		return watch.heard(asked, sign, err)
	}
	if after > 0 {
		isSilent() // says at once if there is nothing to see
	}
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-orders.C:
			if _, err := os.Stat(filepath.Join(c.cfg.Data, orderFile)); err != nil {
				continue
			}
			if _, err := c.openVault(ctx, c.cfg.Backup.To); err != nil { // a mistyped address, first of all
				c.log.Warn("ordered to become the writer, and cannot", "error", err)
				if err := c.answerOrder(err); err != nil {
					return "", err
				}
				continue
			}
			c.log.Info("ordered to become the writer")
			return "", nil
		case <-signs.C:
			if after > 0 && isSilent() {
				c.log.Warn("the writer has not been heard of: this server becomes the writer", "for", after)
				return watch.sign, nil
			}
		}
	}
}

// orderLasts is how old an order may be when this server begins to look for orders. Whoever gave an older one has ended, and what it
// was to replace may have been replaced since.
const orderLasts = 30 * time.Second

// dropOldOrder removes an order that was left behind.
func (c *cli) dropOldOrder() error {
	name := filepath.Join(c.cfg.Data, orderFile)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && time.Since(info.ModTime()) < orderLasts {
		return nil
	}
	if err == nil {
		c.log.Warn("an order to become the writer was left behind, and is ignored: give it again if it still holds", "given", info.ModTime())
		err = os.Remove(name)
	}
	return err
}

// awaitBytes returns when the bucket of the packs, if the archive has one, answers. A writer cannot be opened without it, and until
// then this server goes on answering as a replica.
func (c *cli) awaitBytes(ctx context.Context) error {
	url, err := store.BytesOf(c.cfg)
	if err != nil || url == "" {
		return err
	}
	b, err := bucket.Open(ctx, url, bucket.Options{Logger: c.log, Attempts: 1, Stall: 5 * time.Second})
	if err != nil {
		return err
	}
	for said := false; ; said = true {
		for _, err = range b.List(ctx, "", "") {
			break
		}
		if !errors.Is(err, bucket.ErrUnavailable) {
			return nil // what else is wrong is found out, and said, by opening the archive
		}
		if !said {
			c.log.Warn("this server is to become the writer, and waits for the bucket of the packs; meanwhile it answers as a replica", "error", err)
		}
		if !rest(ctx, bucketAgain) {
			return context.Cause(ctx)
		}
	}
}

// signTrouble returns why no sign of a writer was seen; "" if one was.
func signTrouble(sign string, err error) string {
	switch {
	case errors.Is(err, bucket.ErrNotFound) || err == nil && sign == "":
		return "there is no backup of an archive, or no writer has begun one"
	case errors.Is(err, bucket.ErrUnavailable):
		return "the object store cannot be reached"
	case err != nil:
		return err.Error()
	}
	return ""
}

// answerOrder removes the order to become the writer, if there is one. failed is why it was not followed; nil if it was.
func (c *cli) answerOrder(failed error) (err error) {
	name := filepath.Join(c.cfg.Data, orderFile)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if failed != nil {
		err = disk.WriteFile(disk.OS{}, name+".failed", []byte(failed.Error()+"\n"), 0o640)
	}
	return errors.Join(err, os.Remove(name))
}

// silence measures for how long the sign of a writer has not changed. A time in which nobody could look does not count.
type silence struct {
	after time.Duration
	sign  string
	total time.Duration
	last  time.Time // of the last look that succeeded; zero after one that failed
}

// heard takes the sign that was read at a time, and reports whether the writer has been silent for long enough.
func (s *silence) heard(at time.Time, sign string, err error) bool {
	if err != nil || sign == "" {
		s.last = time.Time{}
		return false
	}
	if sign != s.sign {
		s.sign, s.total, s.last = sign, 0, at
		return false
	}
	if !s.last.IsZero() {
		s.total += min(at.Sub(s.last), 2*signEvery) // this process may have been stopped
	}
	s.last = at
	return s.total >= s.after
}

// abandonedAfter is how often in a row no process has the directory, by looks of abandonedEvery, before the server that was
// told to become the writer counts as dead. It leaves the directory for a moment on its way.
const (
	abandonedEvery = 3 * time.Second
	abandonedAfter = 2
)

// orderPromotion tells the server that follows in the archive's directory to become the writer, and waits until it is.
func (c *cli) orderPromotion(ctx context.Context) error {
	fmt.Fprintf(c.stderr, "waiting for the server of %s to become the writer\n", c.cfg.Data)
	abandoned, look := 0, time.NewTicker(abandonedEvery)
	defer look.Stop()
	name := filepath.Join(c.cfg.Data, orderFile)
	if err := os.Remove(name + ".failed"); err != nil && !errors.Is(err, fs.ErrNotExist) { // the answer to another order
		return err
	}
	if err := disk.WriteFile(disk.OS{}, name, nil, 0o640); err != nil {
		return err
	}
	for {
		if !kv.IsReplica(c.cfg.Data) {
			return nil
		}
		if text, err := os.ReadFile(name + ".failed"); err == nil {
			return errors.Join(fmt.Errorf("the server of %s says: %s", c.cfg.Data, bytes.TrimSpace(text)), os.Remove(name+".failed"))
		}
		select {
		case <-ctx.Done():
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return context.Cause(ctx)
		case <-look.C:
			if abandoned++; kv.Held(c.cfg.Data) != nil {
				abandoned = 0
			}
			if abandoned == abandonedAfter && kv.IsReplica(c.cfg.Data) {
				if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				return fmt.Errorf("the server of %s ended before it was the writer: give the command again, which then does it itself, or start the server again", c.cfg.Data)
			}
		case <-time.After(orderEvery):
		}
	}
}

// promoteFollower makes the archive's directory, in which this process has followed, one that can be written. silent is what
// awaitPromotion returned.
func (c *cli) promoteFollower(ctx context.Context, silent string) error {
	done, err := c.promoteDirectory(ctx, silent)
	if err == nil {
		c.log.Info("this server is the writer now", "epoch", done.Epoch, "write_set", done.Number, "fetched", done.Fetched)
	}
	return errors.Join(err, c.answerOrder(err))
}
