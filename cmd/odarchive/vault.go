package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/copies/vault"
	"odarchive/triplestore/bucket"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// openVault reads what a continuous backup has.
func (c *cli) openVault(ctx context.Context, url string) (*vault.History, error) {
	b, err := bucket.Open(ctx, url, bucket.Options{Logger: c.log})
	if err != nil {
		return nil, usagef("%v", err)
	}
	h, err := vault.Open(ctx, b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return h, nil
}

// exactly as far as the times of commits go
const timeOfCommit = "2006-01-02T15:04:05.000Z07:00"

// momentsLine is a line of 'backup --list --json'.
type momentsLine struct {
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	First     uint64    `json:"first"`
	Last      uint64    `json:"last"`
	Snapshots int       `json:"snapshots"`
	Log       int64     `json:"log"`
	Writers   int       `json:"writers"`
}

// listMoments prints which moments a continuous backup can restore.
func (c *cli) listMoments(ctx context.Context, url string) error {
	h, err := c.openVault(ctx, url)
	if err != nil {
		return err
	}
	list := h.Moments()
	for _, m := range list {
		line := momentsLine{m.From, m.To, m.First, m.Last, m.Snapshots, m.Bytes, m.Epochs}
		err := c.print(line, "from %s to %s: write sets %d to %d, %s, %s of log, %s", m.From.Format(timeOfCommit),
			m.To.Format(timeOfCommit), m.First, m.Last,
			english.Plural(m.Snapshots, "state file", ""), humanize.IBytes(uint64(max(m.Bytes, 0))),
			english.Plural(m.Epochs, "start of a writer", "starts of writers"))
		if err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return fmt.Errorf("%s: the first complete copy is not finished: no moment can be restored yet", url)
	}
	return nil
}

// verifyVault reads and verifies a continuous backup.
func (c *cli) verifyVault(ctx context.Context, url string) error {
	h, err := c.openVault(ctx, url)
	if err != nil {
		return err
	}
	bar := c.progress(-1, "bytes")
	var read int64
	v, err := h.Verify(ctx, func(step string, n int64) { read += n; bar.set(read, "verifying "+step) })
	bar.done()
	if err != nil {
		return err
	}
	if c.json {
		err = c.print(v, "")
	} else {
		for _, fault := range v.Faults {
			if _, err := fmt.Fprintln(c.stdout, fault); err != nil {
				return err
			}
		}
		for _, gap := range v.Gaps {
			if _, err := fmt.Fprintf(c.stdout, "moments that cannot be restored, of before the backup was mended: %s\n", gap); err != nil {
				return err
			}
		}
		err = c.print(v, "%s, %s, %s read: %s", english.Plural(v.Objects, "object", ""), english.Plural(int(v.Records), "record", ""),
			humanize.IBytes(uint64(max(v.Bytes, 0))), english.Plural(len(v.Faults), "fault", ""))
	}
	if err == nil && len(v.Faults) > 0 {
		err = fmt.Errorf("%s: the backup is damaged", url)
	}
	return err
}

// restored is what 'restore --json' prints of a continuous backup.
type restored struct {
	Data   string    `json:"data"`
	Time   time.Time `json:"time"`
	Number uint64    `json:"write_set"`
}

// restoreTries is how often restore begins again because a writer has merged objects that it was about to read.
const restoreTries = 5

// restoreVault restores the archive from a continuous backup.
func (c *cli) restoreVault(ctx context.Context, url, at, withdrawals string, goOn bool) (err error) {
	for range restoreTries {
		if err = c.restoreVaultOnce(ctx, url, at, withdrawals, goOn); !errors.Is(err, bucket.ErrNotFound) {
			break
		}
		c.log.Debug("restore begins again", "error", err)
	}
	return err
}

func (c *cli) restoreVaultOnce(ctx context.Context, url, at, withdrawals string, goOn bool) error {
	var when time.Time
	if at != "" {
		var err error
		if when, err = time.Parse(time.RFC3339Nano, at); err != nil {
			return usagef("--at %q: expected a time such as 2026-11-24T16:30:00Z", at)
		}
	}
	h, err := c.openVault(ctx, url)
	if err != nil {
		return err
	}
	target, err := h.At(ctx, when)
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	if target.GoOn = goOn; !goOn && len(target.Holes) > 0 {
		for _, hole := range target.Holes {
			fmt.Fprintf(c.stderr, "odarchive: %s\n", hole)
		}
		return fmt.Errorf(
			"%s: the backup lacks what was acknowledged: an archive as of %s, write set %d, can be restored with --incomplete", url,
			target.Time.Format(timeOfCommit), target.Number)
	}
	bar := c.progress(-1, "bytes")
	var read int64
	err = h.Restore(ctx, target, c.cfg.Data, c.log, func(step string, n int64) { read += n; bar.set(read, "restore "+step) })
	bar.done()
	if err != nil {
		return err
	}
	if withdrawals != "" {
		if err := c.withdrawAgain(ctx, withdrawals); err != nil {
			return err
		}
	}
	return c.print(restored{c.cfg.Data, target.Time, target.Number}, "%s: the archive as of %s, write set %d", c.cfg.Data,
		target.Time.Format(timeOfCommit), target.Number)
}
