// Package disk is the file system used by the log, the state files and the packs, as an interface. It also records
// damage found in them and throttles scrubs. It is this project's own and makes no promise of stability to anyone else.
//
// FS has the operations that these need: files that are appended to, read, synced and truncated, and directories whose
// entries become durable with SyncDir. OS implements it with the operating system. Package disktest has implementations
// for tests, in which operations fail and unsynced data is lost.
//
// WriteFile is the only way to replace a small file: readers see either the old contents or the new ones, even after a
// power failure.
package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// File is an open file. Its methods behave like those of *os.File.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Seeker
	io.Closer
	// Sync returns nil only if everything written before the call survives a power failure. After an error, the state
	// of everything written since the last successful Sync is unknown.
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Name() string
}

// FS is a file system. Names are paths in the operating system's syntax. Methods may be called concurrently.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Rename(oldName, newName string) error
	Remove(name string) error
	MkdirAll(name string, perm fs.FileMode) error
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes the creations, renames and removals in a directory durable.
	SyncDir(name string) error
}

// OS is the file system of the operating system.
type OS struct{}

// OpenFile calls os.OpenFile.
func (OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not a File that holds a nil *os.File
	}
	return f, nil
}

// Rename calls os.Rename.
func (OS) Rename(oldName, newName string) error { return os.Rename(oldName, newName) }

// Remove calls os.Remove.
func (OS) Remove(name string) error { return os.Remove(name) }

// MkdirAll calls os.MkdirAll.
func (OS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }

// ReadDir calls os.ReadDir.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Stat calls os.Stat.
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// SyncDir opens the directory and syncs it.
func (OS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// tempSuffix is the suffix of a file that WriteFile has not finished.
const tempSuffix = ".new"

// WriteFile replaces the contents of a file and returns when they are durable. It writes name + ".new" and renames it.
// After an error the file has its old contents or, if only the last sync failed, possibly the new ones.
func WriteFile(fsys FS, name string, data []byte, perm fs.FileMode) error {
	temp := name + tempSuffix
	f, err := fsys.OpenFile(temp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, fsys.Remove(temp))
	}
	if err := fsys.Rename(temp, name); err != nil {
		return errors.Join(err, fsys.Remove(temp))
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// ReadFile returns the contents of a file. It fails if the file is longer than limit bytes.
func ReadFile(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: longer than %d bytes", name, limit)
	}
	return data, errors.Join(err, f.Close())
}

// IsFull reports whether an error means that a disk or a quota is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// MakeDir creates a directory and its missing parents, and returns when their names are durable. It also makes the name
// of an existing directory durable, whose creator may have been killed before doing so.
func MakeDir(fsys FS, name string, perm fs.FileMode) error {
	name = filepath.Clean(name)
	parent := filepath.Dir(name)
	if _, err := fsys.Stat(parent); errors.Is(err, fs.ErrNotExist) && parent != name {
		if err := MakeDir(fsys, parent, perm); err != nil {
			return err
		}
	}
	if err := fsys.MkdirAll(name, perm); err != nil {
		return err
	}
	return fsys.SyncDir(parent)
}
