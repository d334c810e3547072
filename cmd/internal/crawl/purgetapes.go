package crawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/web/fetch"
)

// refuses reports whether bytes were withdrawn, or whether their host asks not to keep them, so that no WARC file may
// have them. If the former cannot be read, they are written: the transaction of the visit fails, too.
func (c *Crawl) refuses(ex *fetch.Exchange) bool {
	return c.Pipeline.OptOut(ex) != "" || errors.Is(c.store.Archive.Refused(ex.Body.Digests().SHA256), catalog.ErrWithdrawn)
}

// answersPrefix is the prefix of the names of files with what interfaces answered.
const answersPrefix = "answers"

// purgeTapes removes the records of withdrawn bytes from the WARC files in all directories that this archive has
// written to. Directories that are gone are skipped with a warning.
func (c *Crawl) purgeTapes(ctx context.Context, list []archive.Purging) error {
	dirs, err := c.store.Copies()
	if err != nil {
		return err
	}
	pick, err := c.withdrawnRecords(ctx, list)
	if err != nil {
		return err
	}
	own := catalog.CopyElsewhere{Kind: store.AnswersCopy, Name: filepath.Join(c.store.Config.Data, "answers")}
	if own.Name, err = filepath.Abs(own.Name); err != nil {
		return err
	}
	if !slices.ContainsFunc(dirs, func(d catalog.CopyElsewhere) bool { return d.Kind == own.Kind && d.Name == own.Name }) {
		dirs = append(dirs, own) // the data directory was moved, or there is none
	}
	for _, d := range dirs {
		prefix := ""
		switch d.Kind {
		case store.WARCCopy:
		case store.AnswersCopy:
			prefix = answersPrefix
		default:
			continue
		}
		if _, err := os.Stat(d.Name); errors.Is(err, fs.ErrNotExist) {
			if d == own {
				continue
			}
			c.store.Log.Warn("a directory of WARC files is gone; if it was moved, remove withdrawn records there", "directory", d.Name)
			continue
		}
		if err := c.purgeTape(ctx, d.Name, prefix, pick); err != nil {
			return fmt.Errorf("remove withdrawn records from WARC files: %w", err)
		}
	}
	return nil
}

func (c *Crawl) purgeTape(ctx context.Context, path, prefix string, pick *warc.Withdrawn) error {
	dir := c.openedTape(path, prefix)
	if dir == nil {
		var err error
		if dir, err = warc.OpenDir(path, warc.DirOptions{Prefix: prefix, Now: c.store.Clock, Log: c.store.Log}); err != nil {
			return err
		}
		defer dir.Close() // it has no open file: nothing was appended
	}
	n, err := dir.Remove(ctx, pick)
	if n > 0 {
		c.store.Log.Info("records of withdrawn bytes removed from WARC files", "directory", path, "records", n)
	}
	return err
}

// openedTape returns the directory that this process writes to, nil if it does not.
func (c *Crawl) openedTape(path, prefix string) *warc.Dir {
	c.answersMu.Lock()
	defer c.answersMu.Unlock()
	for _, d := range c.warcs {
		if full, err := filepath.Abs(d.Path()); err == nil && full == path && d.Prefix() == warc.DirPrefix(prefix) {
			return d
		}
	}
	return nil
}

// withdrawnRecords returns which WARC records have withdrawn bytes or describe them.
func (c *Crawl) withdrawnRecords(ctx context.Context, list []archive.Purging) (*warc.Withdrawn, error) {
	pick := &warc.Withdrawn{Payloads: map[[32]byte]bool{}, URLs: map[string]bool{}, Decode: warc.DecodePayload}
	for _, p := range list {
		pick.Payloads[p.SHA256] = true
		for _, v := range p.Versions {
			pick.URLs[v.URL] = true
			e, err := c.store.Archive.Exchange(ctx, v)
			if err != nil {
				return nil, err
			}
			if e == nil {
				continue
			}
			for _, hop := range e.Hops {
				pick.URLs[hop.URL] = true
			}
		}
	}
	return pick, nil
}
