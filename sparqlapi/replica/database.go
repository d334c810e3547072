package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/sparqlapi/replicate"
	"odarchive/triplestore/kv"
)

// openDatabase opens the replica's database, if there is one, and serves its state.
func (f *Follower) openDatabase(ctx context.Context) error {
	if !hasDatabase(f.dir) {
		return nil
	}
	fresh := lastContact(f.dir)
	db, err := kv.Open(f.dir, f.kvOptions())
	if err != nil {
		return err
	}
	if err := content.TruncateOpenPacks(f.fs, f.mirror.dir, db); err != nil {
		return errors.Join(err, db.Close()) // and try that again, before anything is appended to them
	}
	f.db = db
	if err := keepContact(f.dir, fresh); err != nil {
		return err
	}
	f.status.since(fresh)
	return f.openState(ctx)
}

// hasDatabase reports whether a directory has a log. That of a replica has none until the first state is restored.
func hasDatabase(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "log"))
	return err == nil || !errors.Is(err, os.ErrNotExist)
}

func (f *Follower) kvOptions() kv.Options {
	return kv.Options{Replica: true, FS: f.fs, MinFree: f.opts.MinFree, Log: f.log}
}

// shut closes the states and the database. Requests in progress have some time to end.
func (f *Follower) shut() error {
	err := f.served.retireAll(shutPatience)
	if f.db != nil {
		err = errors.Join(err, f.db.Close(), keepContact(f.dir, f.status.newest()))
		f.db = nil
	}
	if f.purging != nil {
		<-f.purging
		f.purging = nil
	}
	return errors.Join(err, f.mirror.close())
}

const shutPatience = 10 * time.Second

func (f *Follower) close() error {
	err := f.shut()
	if f.mirror.bucket != nil {
		err = errors.Join(err, f.mirror.bucket.Close())
	}
	f.client.http.CloseIdleConnections()
	return err
}

// sameArchive checks that the writer is the archive that this is a replica of, and follows changes of its description.
func (f *Follower) sameArchive(id replicate.Identity) error {
	marked, err := readMark(f.fs, f.dir)
	if err != nil {
		return err
	}
	created, archive, err := archiveOf(id.Description)
	if err != nil {
		return err
	}
	if !marked.isOf(created, archive) {
		return fmt.Errorf(
			"%w: %s holds a replica of %s (created %s), and the archive at %s is %s (created %s): give an empty --data directory", ErrOther,
			f.dir, marked.Base, marked.Created, f.opts.Writer, id.Base, created)
	}
	marked.Writer, marked.Base, marked.Archive, marked.Bytes = f.opts.Writer, id.Base, archive, f.bytes
	return errors.Join(marked.write(f.fs, f.dir), writeDescription(f.fs, f.dir, id.Description))
}

// ErrOther means that the directory is that of another archive.
var ErrOther = errors.New("not a replica of this archive")

// checkEmpty returns an error if the directory holds something that is no replica.
func (f *Follower) checkEmpty() error {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case restoreDir, "OWNER", "tmp", "lost+found", "odarchive.sock":
		default:
			if inside, err := os.ReadDir(filepath.Join(f.dir, e.Name())); err == nil && len(inside) == 0 {
				continue // of a follower that ended before it had anything, such as a folder for packs
			}
			return fmt.Errorf("%w: %s holds %s, and no replica: --follow needs an empty --data directory, or that of a replica", ErrOther,
				f.dir, e.Name())
		}
	}
	return nil
}
