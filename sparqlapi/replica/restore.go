package replica

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// A state is restored in restoreDir below the data directory. When it is whole and on disk, the file wholeFile says so,
// and its parts replace those of the data directory, now or at the next start.
const (
	restoreDir = "restore.new"
	wholeFile  = "WHOLE"
)

// databaseFiles are the parts of a database, which kv/FORMAT.md lists.
var databaseFiles = []string{"db", "tip", "readers.json", "snapshots", "log"}

// restore replaces the database by the writer's state. The old state is served until the new one is whole.
func (f *Follower) restore(ctx context.Context) error {
	began := time.Now()
	id, err := f.client.identity(ctx)
	if err != nil {
		return err
	}
	created, archive, err := archiveOf(id.Description)
	if err != nil {
		return err
	}
	if kv.IsReplica(f.dir) {
		if err := f.sameArchive(id); err != nil {
			return err
		}
	}
	dir := filepath.Join(f.dir, restoreDir)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	m := mark{Writer: f.opts.Writer, ID: f.client.name, Base: id.Base, Created: created, Archive: archive, Bytes: f.bytes}
	if err := m.write(f.fs, dir); err != nil {
		return err
	}
	if f.db == nil { // what follows may end at any time, and the next process must know the directory as its own
		if err := m.write(f.fs, f.dir); err != nil {
			return err
		}
	}
	if err := f.loadState(ctx, dir); err != nil {
		return err
	}
	if err := f.mirror.copyClosedSet(ctx); err != nil { // most of the time is spent here, and nothing is interrupted
		return err
	}
	if err := disk.WriteFile(f.fs, filepath.Join(dir, wholeFile), nil, 0o644); err != nil {
		return err
	}
	if err := f.shut(); err != nil { // requests wait from here on, until the new state is open
		f.log.Warn("the old state was not closed cleanly", "error", err)
	}
	if err := writeDescription(f.fs, f.dir, id.Description); err != nil {
		return err
	}
	if err := f.finishSwap(); err != nil {
		return err
	}
	db, err := kv.Open(f.dir, f.kvOptions())
	if err != nil {
		return err
	}
	f.db = db
	f.served.forget() // the numbers may go back
	f.log.Info("restored the writer's state", "write_set", db.Position().Number, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// loadState makes a database of the writer's state in a directory, and applies the log so far.
func (f *Follower) loadState(ctx context.Context, dir string) error {
	body, at, size, err := f.client.state(ctx)
	if err != nil {
		return err
	}
	f.log.Info("loading the writer's state", "bytes", size, "write_set", at.Number)
	err = kv.CreateReplica(ctx, dir, f.kvOptions(), body, at)
	if err = errors.Join(err, body.Close()); err != nil {
		return err
	}
	db, err := kv.Open(dir, f.kvOptions())
	if err != nil {
		return err
	}
	for err == nil {
		records, end, err2 := f.client.log(ctx, db.Position(), 0)
		if err = err2; err == nil && len(records) > 0 {
			err = db.Apply(ctx, records)
		}
		if err == nil && !end.More {
			break
		}
	}
	return errors.Join(err, db.Close())
}

// copyClosedSet copies the closed packs and parity files, which have the same bytes in any history.
func (m *mirror) copyClosedSet(ctx context.Context) error {
	m.refresh(ctx)
	list, err := m.client.packs(ctx)
	if err != nil {
		return err
	}
	if err := disk.MakeDir(m.fs, m.dir, 0o755); err != nil {
		return err
	}
	here, err := m.here()
	if err != nil {
		return err
	}
	for _, file := range list.Files {
		if file.Number() == 0 || file.IsOpen() || here[file.Name] || m.isStored(file) || file.Name != filepath.Base(file.Name) {
			continue
		}
		path := filepath.Join(m.dir, file.Name)
		if err := m.fetchNew(ctx, file, path); err != nil && !errors.Is(err, errGone) {
			return err
		}
	}
	return nil
}

// dropOpen removes the copies of open packs.
func (m *mirror) dropOpen() error {
	if err := m.close(); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(m.dir, "*.open"))
	for _, name := range names {
		err = errors.Join(err, m.fs.Remove(name))
	}
	return err
}

// finishSwap replaces the database by a restored one that is whole, and removes one that is not. It can be repeated
// wherever it was interrupted.
func (f *Follower) finishSwap() error {
	dir, from := f.dir, filepath.Join(f.dir, restoreDir)
	if _, err := f.fs.Stat(filepath.Join(from, wholeFile)); errors.Is(err, fs.ErrNotExist) {
		return os.RemoveAll(from)
	} else if err != nil {
		return err
	}
	if err := f.mirror.dropOpen(); err != nil { // they may be of the old history
		return err
	}
	made, err := filepath.Glob(filepath.Join(dir, "db.made*"))
	if err != nil {
		return err
	}
	for _, name := range made {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	for _, name := range append(databaseFiles, kv.ReplicaFile) {
		old, restored := filepath.Join(dir, name), filepath.Join(from, name)
		_, err := os.Stat(restored)
		switch {
		case err == nil:
			if err := os.RemoveAll(old); err != nil {
				return err
			}
			if err := f.fs.Rename(restored, old); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		case name == "readers.json":
			if err := os.RemoveAll(old); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(f.fs.SyncDir(dir), f.fs.SyncDir(from)); err != nil {
		return err
	}
	if err := f.fs.Remove(filepath.Join(from, wholeFile)); err != nil {
		return err
	}
	return os.RemoveAll(from)
}

// describe is what people read of a lag.
func (l Lag) describe() string {
	var b strings.Builder
	if l.Known {
		fmt.Fprintf(&b, "%.1f seconds behind the writer", l.Time.Seconds())
	} else {
		b.WriteString("never caught up with the writer yet")
	}
	if l.Records > 0 {
		fmt.Fprintf(&b, ", %d write sets", l.Records)
	}
	if l.Err != nil {
		fmt.Fprintf(&b, "; %v", l.Err)
	}
	return b.String()
}
