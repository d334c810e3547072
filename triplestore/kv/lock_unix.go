//go:build unix

package kv

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ownLock disables Badger's lock, which ends only when the last descriptor of its file is closed.
const ownLock = true

// ownerName is the name of the locked file.
const ownerName = "OWNER"

// dirLock is an advisory lock on DIR/OWNER, held while the database is open. The file contains the process id.
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
		if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil { // closing f releases the lock
			return nil, fmt.Errorf("%w: it is reading the archive (--read-only); stop it first", ErrLocked)
		}
		who, _ := io.ReadAll(io.LimitReader(f, 32))
		if id, _, _ := strings.Cut(string(who), "\n"); id != "" {
			return nil, fmt.Errorf("%w: process %s", ErrLocked, id)
		}
		return nil, fmt.Errorf("%w: another process", ErrLocked) // which has not said yet, or had no room to say, which it is
	}
	// In place, so that there is room on a full disk, too, and the file of a new owner is not empty for a moment.
	if n, err := f.WriteString(strconv.Itoa(os.Getpid()) + "\n"); err == nil {
		_ = f.Truncate(int64(n)) // what is behind the line is of an older process, and only misleads people
	}
	return &dirLock{f}, nil
}

// lockForReading keeps writers out while a database is read, because Badger truncates the tables that it deletes while
// readers may have them mapped. If another process is writing, or there is no file to lock, it returns nil without an
// error.
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

// release unlocks explicitly: a forked child may hold the file for a moment after it is closed here.
func (l *dirLock) release() {
	_ = syscall.Flock(int(l.f.Fd()), syscall.LOCK_UN) // nothing to do about an error; closing follows
	l.f.Close()
}
