package kv

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/wal"
)

// State is the whole database as of a position, as a state file (FORMAT.md).
type State struct {
	io.ReaderAt
	Position Position
	Size     int64 // in bytes; 0 for an empty database, of Position.Number 0

	file disk.File
}

// OpenState opens the newest state file, and writes one first if there is none, unless the log has everything from the
// beginning: then the state is empty. The log reaches back to its position for as long as the caller holds it (Hold) or
// reads fast enough. The state stays readable until it is closed, also if newer ones replace the file.
func (db *DB) OpenState(ctx context.Context) (*State, error) {
	if db.log == nil || db.states == nil {
		return nil, errors.New("kv: a database in memory has no state files")
	}
	for range readTries {
		s, err := db.openState(ctx)
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, ErrLogTrimmed) { // otherwise a newer one has replaced it
			if err != nil {
				return nil, fmt.Errorf("kv: open state: %w", err)
			}
			return s, nil
		}
	}
	return nil, fmt.Errorf("kv: open state: %w", ErrLogTrimmed)
}

func (db *DB) openState(ctx context.Context) (*State, error) {
	newest := db.states.newest()
	if newest.number == 0 && db.log.First() == 1 && db.log.Size() <= maxLogOnly {
		return &State{Position: Position{Log: db.log.ID()}}, nil
	}
	if newest.number == 0 {
		if err := db.saveState(ctx, nil); err != nil {
			return nil, err
		}
		newest = db.states.newest()
	}
	f, err := db.opts.FS.OpenFile(db.states.path(newest), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	at := Position{Log: db.log.ID(), Number: newest.number}
	if at.Sum, err = db.log.SumOf(newest.number); err != nil {
		return nil, errors.Join(shipError(err), f.Close())
	}
	return &State{ReaderAt: f, Position: at, Size: newest.size, file: f}, nil
}

// maxLogOnly is the size of a log, in bytes, up to which it is a state by itself.
const maxLogOnly = 64 << 20

// Close closes the file.
func (s *State) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// CreateReplica makes a database in a directory that has none: a state, which r has the bytes of, and a log that
// continues that of another database. Every byte is compared with the checksums; a truncated or damaged state is
// ErrDamaged, and the directory must then be discarded. The caller has written the ReplicaFile, and opens the database
// with Options.Replica. A reader that is at Position{Log: id} has an empty state, and r is not read.
func CreateReplica(ctx context.Context, dir string, o Options, r io.Reader, at Position) error {
	o = o.withDefaults()
	if err := createReplica(ctx, dir, o, r, at); err != nil {
		return fmt.Errorf("kv: create replica %s: %w", dir, err)
	}
	return nil
}

func createReplica(ctx context.Context, dir string, o Options, r io.Reader, at Position) (err error) {
	if err := disk.MakeDir(o.FS, dir, 0o700); err != nil {
		return err
	}
	if at.Number > 0 {
		if err := copyState(ctx, o, filepath.Join(dir, statesDir), r, at.Number); err != nil {
			return err
		}
	}
	log, found, err := wal.Open(filepath.Join(dir, logDir),
		wal.Options{FS: o.FS, NoSync: o.NoSync, Witness: filepath.Join(dir, witnessName), Chained: true, Log: o.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if !found.Empty {
		return errors.New("there is a log already")
	}
	return log.Follow(at)
}

// copyState copies a state to a state file, which gets its name when it is whole and on disk.
func copyState(ctx context.Context, o Options, dir string, r io.Reader, number uint64) (err error) {
	if err := disk.MakeDir(o.FS, dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(dir, stateName(number))
	f, err := o.FS.OpenFile(name+stateTemp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.FS.Remove(name+stateTemp))
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	found, err := readStateFrom(ctx, io.TeeReader(r, w), nil, func(_, _ []byte, _ uint64) error { return nil })
	if err == nil && found != number {
		err = fmt.Errorf("%w: the state of write set %d, not %d", ErrDamaged, found, number)
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil && !o.NoSync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := o.FS.Rename(name+stateTemp, name); err != nil || o.NoSync {
		return err
	}
	return o.FS.SyncDir(dir)
}
