package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"odarchive/crawler/copies/vault"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// orderFile, in the directory of a follower, tells the server that follows to become the writer. The server removes it
// when that is done, or has failed, which it says in orderFile.failed. It counts while the command that gave it waits,
// and renews its time.
const orderFile = "promote"

const (
	failedSuffix  = ".failed"
	waitingSuffix = ".waiting" // what the server waits for, for people
)

// order is the content of orderFile. It names the writer that it replaces, so that it replaces no other.
type order struct {
	Backup string `json:"backup"` // the URL that the command was given
	Epoch  uint64 `json:"epoch"`  // of the writer there (vault.Standing.Epoch)
	AsItIs bool   `json:"as_it_is,omitempty"`
}

// How often an order is looked at and renewed, and how old the last renewal may be.
const (
	orderEvery = 200 * time.Millisecond
	orderLapse = 10 * time.Second
)

func (c *cli) orderName(suffix string) string { return filepath.Join(c.cfg.Data, orderFile+suffix) }

// readOrder reads the order to become the writer. ok is false if there is none that somebody waits for: one of a
// command that has ended is removed. The error says why one that stands cannot be followed.
func (c *cli) readOrder() (o order, ok bool, err error) {
	info, err := os.Stat(c.orderName(""))
	if err != nil {
		return o, false, nil
	}
	if age := time.Since(info.ModTime()); age > orderLapse || age < -orderLapse {
		c.log.Warn("an order to become the writer is dropped, since nobody waits for it any more", "given",
			info.ModTime().UTC().Format(time.RFC3339))
		_ = os.Remove(c.orderName(""))
		return o, false, nil
	}
	text, err := disk.ReadFile(disk.OS{}, c.orderName(""), 64<<10)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	switch {
	case err != nil || o.Backup == "":
		return o, true, errors.New("the order names no writer: the command is of another version than this server")
	case !c.cfg.Backup.On():
		return o, true, errors.New(
			"this server was started without --backup-to, and cannot become the writer: start it with the backup of the writer")
	case o.Backup != c.cfg.Backup.To:
		return o, true, fmt.Errorf("this server's backup is %s: give the command the same --backup-to", c.cfg.Backup.To)
	}
	return o, true, nil
}

// orderStands returns errTakenBack if nobody waits for an order any more.
func (c *cli) orderStands() error {
	if _, ok, err := c.readOrder(); !ok || err != nil {
		return errTakenBack
	}
	return nil
}

// answerOrder removes the order to become the writer, if there is one. failed is why it was not followed; nil if it
// was.
func (c *cli) answerOrder(failed error) (err error) {
	_ = os.Remove(c.orderName(waitingSuffix))
	if _, err := os.Stat(c.orderName("")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if failed != nil { // where that cannot be written, the order is removed all the same
		err = disk.WriteFile(disk.OS{}, c.orderName(failedSuffix), []byte(failed.Error()+"\n"), 0o600)
	}
	return errors.Join(err, os.Remove(c.orderName("")))
}

// sayWaiting tells the command that gave an order what this server waits for.
func (c *cli) sayWaiting(what string) {
	if err := disk.WriteFile(disk.OS{}, c.orderName(waitingSuffix), []byte(what+"\n"), 0o600); err != nil {
		c.log.Debug("not said to the command", "error", err)
	}
}

// abandonedAfter is how often in a row no process has the directory, by looks of abandonedEvery, before the server that
// was told to become the writer counts as dead. It leaves the directory for a moment on its way.
const (
	abandonedEvery = 3 * time.Second
	abandonedAfter = 2
)

// orderPromotion tells the server that follows in the archive's directory to become the writer in place of the one of
// an epoch, and waits until it is.
func (c *cli) orderPromotion(ctx context.Context, o order) error {
	fmt.Fprintf(c.stderr, "waiting for the server of %s to become the writer\n", c.cfg.Data)
	if err := c.giveOrder(o); err != nil {
		return err
	}
	abandoned, look := 0, time.NewTicker(abandonedEvery)
	defer look.Stop()
	said := ""
	for {
		if !kv.IsReplica(c.cfg.Data) {
			return nil
		}
		if text, err := os.ReadFile(c.orderName(waitingSuffix)); err == nil && string(text) != said {
			said = string(text)
			fmt.Fprintf(c.stderr, "the server waits for %s\n", bytes.TrimSpace(text))
		}
		now := time.Now()
		gone := os.Chtimes(c.orderName(""), now, now)
		if text, err := os.ReadFile(c.orderName(failedSuffix)); err == nil {
			return errors.Join(fmt.Errorf("the server of %s says: %s", c.cfg.Data, bytes.TrimSpace(text)),
				os.Remove(c.orderName(failedSuffix)))
		}
		if errors.Is(gone, fs.ErrNotExist) && kv.IsReplica(c.cfg.Data) {
			return fmt.Errorf("the server of %s has dropped the order, and its log says why: give it again", c.cfg.Data)
		}
		select {
		case <-ctx.Done():
			fmt.Fprintf(c.stderr, "the order is taken back: the server of %s goes on following, unless it has replaced the writer by now\n",
				c.cfg.Data)
			return errors.Join(c.takeBack(), context.Cause(ctx))
		case <-look.C:
			if abandoned++; kv.Held(c.cfg.Data) != nil {
				abandoned = 0
			}
			if abandoned == abandonedAfter && kv.IsReplica(c.cfg.Data) {
				return errors.Join(c.takeBack(),
					fmt.Errorf(
						"the server of %s ended before it was the writer: give the command again, which then does it itself, or start "+
							"the server again", c.cfg.Data))
			}
		case <-time.After(orderEvery):
		}
	}
}

func (c *cli) giveOrder(o order) error {
	for _, suffix := range []string{failedSuffix, waitingSuffix} { // of an earlier order
		if err := os.Remove(c.orderName(suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return disk.WriteFile(disk.OS{}, c.orderName(""), text, 0o600)
}

func (c *cli) takeBack() error {
	if err := os.Remove(c.orderName("")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaces returns the order for replacing the writer that a backup names now. The error says that it cannot be asked,
// or has nothing.
func (c *cli) replaces(is vault.Standing, asItIs bool) (o order, err error) {
	o = order{Backup: c.cfg.Backup.To, Epoch: is.Epoch, AsItIs: asItIs}
	switch is.Who {
	case vault.ThisOne, vault.AnotherOne, vault.Nobody:
		return o, nil
	case vault.NobodyKnows, vault.NoVault:
		if !asItIs {
			return o, vault.WithAsItIs(is.Err)
		}
		return o, nil
	case vault.CannotAsk:
		return o, fmt.Errorf("nothing was ordered, since the backup has to say who is replaced, and cannot be asked: %w", is.Err)
	}
	panic("a case of vault.Who is missing")
}
