//go:build unix

package kv

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ownLock: Badger's lock is left out, because it ends only when the last descriptor is closed.
const ownLock = true

// ownerName is the file that is locked.
const ownerName = "OWNER"

// dirLock is an advisory lock on DIR/OWNER, held while the database is open. The file names the process.
type dirLock struct{ f *os.File }

func lockDir(dir string) (*dirLock, error) {
	f, err := os.OpenFile(filepath.Join(dir, ownerName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, err
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil { // closing gives it up
			return nil, fmt.Errorf("%w: it reads the archive (--read-only) and keeps it as it is; stop it first", ErrLocked)
		}
		who, _ := io.ReadAll(io.LimitReader(f, 32))
		return nil, fmt.Errorf("%w: process %s", ErrLocked, strings.TrimSpace(string(who)))
	}
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &dirLock{f}, nil
}

// lockForReading keeps writers out while a database is read: Badger empties the tables that it deletes, under whoever has them
// mapped. It returns nil, and no error, if a process writes, or if there is no lock to take.
func lockForReading(dir string) (*dirLock, error) {
	f, err := os.Open(filepath.Join(dir, ownerName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return nil, f.Close()
	}
	return &dirLock{f}, nil
}

// release gives the lock up by itself, not by closing: a child that was just forked may hold the file for a moment longer.
func (l *dirLock) release() {
	_ = syscall.Flock(int(l.f.Fd()), syscall.LOCK_UN) // closing is what is left
	l.f.Close()
}
