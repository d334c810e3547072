package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"odarchive/triplestore/disk"
)

// states are the state files of a database. Each holds the whole database as of a number of the log. The newest two are
// kept.
type states struct {
	fs  disk.FS
	dir string

	mu   sync.Mutex // guards list
	list []stateFile
}

type stateFile struct {
	name   string
	number uint64 // of the last write set in it
	size   int64
}

const (
	statesKept  = 2
	stateSuffix = ".state"
	stateTemp   = ".new"
)

func stateName(number uint64) string { return fmt.Sprintf("%020d", number) + stateSuffix }

// openStates lists the state files in a directory, which may be missing. With clean it deletes unfinished ones.
func openStates(fsys disk.FS, dir string, clean bool) (*states, error) {
	s := &states{fs: fsys, dir: dir}
	entries, err := fsys.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), stateTemp) && clean { // left by a killed process
			if err := fsys.Remove(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
		}
		base, ok := strings.CutSuffix(e.Name(), stateSuffix)
		number, err := strconv.ParseUint(base, 10, 64)
		if !ok || err != nil {
			continue
		}
		info, err := fsys.Stat(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		s.list = append(s.list, stateFile{e.Name(), number, info.Size()})
	}
	return s, nil
}

// files returns the state files, oldest first.
func (s *states) files() []stateFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// newest returns the newest state file. Its number is 0 if there is none.
func (s *states) newest() stateFile {
	list := s.files()
	if len(list) == 0 {
		return stateFile{}
	}
	return list[len(list)-1]
}

func (s *states) size() (n int64) {
	for _, f := range s.files() {
		n += f.size
	}
	return n
}

func (s *states) path(f stateFile) string { return filepath.Join(s.dir, f.name) }

// save writes a state file with the entries that each adds, in ascending order of keys. The file gets its name, and
// becomes valid, after it is on disk and check, called then, has returned nil.
func (s *states) save(number uint64, sync bool, each func(add func(key, val []byte, version uint64) error) error,
	check func() error) (err error) {
	if err := disk.MakeDir(s.fs, s.dir, 0o700); err != nil {
		return err
	}
	file := stateFile{name: stateName(number), number: number}
	temp := s.path(file) + stateTemp
	f, err := s.fs.OpenFile(temp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.fs.Remove(temp))
		}
	}()
	w, err := newStateWriter(f, number)
	if err == nil {
		err = each(w.add)
	}
	if err == nil {
		err = w.finish(sync)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	if err := s.fs.Rename(temp, s.path(file)); err != nil {
		return err
	}
	if sync {
		if err := s.fs.SyncDir(s.dir); err != nil {
			return err
		}
	}
	file.size = w.size
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(slices.DeleteFunc(s.list, func(o stateFile) bool { return o.name == file.name }), file)
	slices.SortFunc(s.list, func(a, b stateFile) int { return strings.Compare(a.name, b.name) })
	return nil
}

// keepNewest removes all state files except the newest n.
func (s *states) keepNewest(n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.list) > n {
		if err := s.removeLocked(s.list[0]); err != nil {
			return err
		}
	}
	return nil
}

// remove removes one state file.
func (s *states) remove(f stateFile) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removeLocked(f)
}

func (s *states) removeLocked(f stateFile) error {
	if err := s.fs.Remove(s.path(f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.list = slices.DeleteFunc(s.list, func(o stateFile) bool { return o.name == f.name })
	return nil
}

// read calls visit with every entry of a state file. If visit is nil, it only verifies the checksums.
func (s *states) read(ctx context.Context, f stateFile, throttle *disk.Throttle, visit func(key, val []byte, version uint64) error) error {
	number, err := readState(ctx, s.fs, s.path(f), throttle, visit)
	if err == nil && number != f.number {
		err = fmt.Errorf("%w: a state file of number %d has the wrong name", ErrDamaged, number)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
