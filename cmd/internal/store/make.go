package store

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/disk"
)

// lookEvery is how often Make looks whether the disk has room for more. A second of writing is far less than Room
// leaves.
const lookEvery = time.Second

// PutDump makes the dump of one kind from what write writes.
type PutDump func(kind string, write func(io.Writer) error) error

// Make makes dumps, which replace those before once all are complete: keep dumps of each of the kinds stay. all takes a
// snapshot, and calls put for each kind. Of a kind whose put has failed, the older dumps stay; the others are replaced,
// unless all returns an error. Make ends with the cause if ctx ends, with ErrHeld for Hold, and with the error of Room
// if the disk has too little space. There must be one call at a time.
func (d *DumpDir) Make(ctx context.Context, now time.Time, keep int, kinds []string,
	all func(ctx context.Context, put PutDump) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{cancel: cancel, done: make(chan struct{})}
	d.mu.Lock()
	if d.held > 0 || d.running != nil {
		d.mu.Unlock()
		return ErrDumpHeld
	}
	d.running = r
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.running = nil
		d.mu.Unlock()
		close(r.done)
	}()
	if err := d.prepare(); err != nil {
		return err
	}
	go d.watch(ctx, cancel) // ends with ctx

	var made []catalog.Dump
	put := func(kind string, write func(io.Writer) error) error {
		one := catalog.Dump{Name: prefix + now.UTC().Format("20060102T150405Z") + "." + kind, Kind: kind,
			Made: now.UTC().Truncate(time.Second)}
		err := d.write(ctx, &one, write)
		if err == nil {
			made = append(made, one)
		}
		return err
	}
	err := all(ctx, put)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return errors.Join(err, d.publish(ctx, err, made, keep, kinds))
}

// prepare makes the directory, removes what is left of interrupted calls, and returns an error if the disk has no room
// for dumps as large as the last ones beside these.
func (d *DumpDir) prepare() error {
	if err := disk.MakeDir(d.o.FS, d.o.Path, 0o700); err != nil {
		return fmt.Errorf("dumps: %w", err)
	}
	if err := d.Clean(); err != nil {
		return err
	}
	list, _, err := d.List()
	if err != nil {
		return err
	}
	expected := map[string]int64{} // bytes by kind
	for _, one := range list {
		expected[one.Kind] = max(expected[one.Kind], one.Size)
	}
	var sum int64
	for _, n := range expected {
		sum += n
	}
	if err := d.o.Room(sum); err != nil {
		return fmt.Errorf("dumps: %w", err)
	}
	return nil
}

// watch cancels a call of Make when the disk becomes too full, also because of its temporary files.
func (d *DumpDir) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := d.o.Room(0); err != nil {
				cancel(fmt.Errorf("dumps: %w", err))
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// write writes the file of a dump, and sets its size and digest. The file is durable after it returns nil; nothing is
// left of it after an error.
func (d *DumpDir) write(ctx context.Context, one *catalog.Dump, write func(io.Writer) error) (err error) {
	name := filepath.Join(d.o.Path, one.Name)
	f, err := d.o.FS.OpenFile(name+tempSuffix, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("dumps: %w", err)
	}
	digest := sha256.New()
	counted := &counter{ctx: ctx, w: io.MultiWriter(f, digest)}
	buffered := bufio.NewWriterSize(counted, 256<<10)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.o.FS.Rename(name+tempSuffix, name)
	}
	if err == nil {
		err = d.o.FS.SyncDir(d.o.Path)
	}
	if err != nil {
		_ = d.o.FS.Remove(name + tempSuffix) // Clean removes what stays
		return fmt.Errorf("dumps: %s: %w", one.Name, err)
	}
	one.Size, one.SHA256 = counted.n, hex.EncodeToString(digest.Sum(nil))
	return nil
}

// counter counts what is written, until a context ends.
type counter struct {
	ctx context.Context
	w   io.Writer
	n   int64
}

func (c *counter) Write(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// publish names the dumps that were made in the index and removes those that they replace. After a failure, or if the
// call was ended, it removes those that were made.
func (d *DumpDir) publish(ctx context.Context, failed error, made []catalog.Dump, keep int, kinds []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.readIndex()
	if err != nil {
		return err
	}
	if failed != nil || ctx.Err() != nil || len(made) == 0 {
		err := d.removeExcept(i.Dumps)
		switch {
		case failed == nil && ctx.Err() != nil: // Hold came after the last look
			err = errors.Join(context.Cause(ctx), err)
		case failed == nil:
			err = errors.Join(errors.New("dumps: no dump could be made"), err)
		}
		return err
	}
	next := index{Last: made[0].Made}
	count := map[string]int{}
	older := slices.DeleteFunc(i.Dumps, func(one catalog.Dump) bool {
		return slices.ContainsFunc(made, func(m catalog.Dump) bool { return m.Name == one.Name })
	})
	for _, one := range append(made, older...) {
		if count[one.Kind]++; count[one.Kind] <= keep && slices.Contains(kinds, one.Kind) {
			next.Dumps = append(next.Dumps, one)
		}
	}
	if err := d.writeIndex(next); err != nil {
		return err
	}
	return d.removeExcept(next.Dumps)
}
