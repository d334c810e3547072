package disktest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"odarchive/triplestore/disk"
)

// Kind is a set of kinds of operations.
type Kind uint16

// The kinds of operations. Close is not among them: it never fails here.
const (
	Open  Kind = 1 << iota
	Read       // Read, ReadAt
	Write      // Write, WriteAt
	Sync
	Truncate
	Rename
	Remove
	Mkdir
	List // ReadDir, Stat, File.Stat
	SyncDir

	Changes = Write | Sync | Truncate | Rename | Remove | Mkdir | SyncDir // operations that a full or failing disk rejects
	All     = Changes | Open | Read | List
)

var kindNames = []string{"open", "read", "write", "sync", "truncate", "rename", "remove", "mkdir", "list", "syncdir"}

// String returns the names of the kinds.
func (k Kind) String() string {
	s := ""
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			s += "|" + name
		}
	}
	return s[min(1, len(s)):]
}

// Errors is a file system whose n-th operation fails. Operations that fail have no effect, except for a part of a write
// if Short is set. On top of a Crash, a failed Sync loses the unsynced bytes, as on Linux. Methods may be called
// concurrently.
type Errors struct {
	// Short makes a failing write write the first half of its bytes. Set it before the first operation.
	Short bool

	under disk.FS

	mu      sync.Mutex // guards the fields below
	kinds   Kind
	pattern string
	count   int
	at      map[int]error
	from    int // 0 means never
	fromErr error
	failed  []string
}

var _ disk.FS = (*Errors)(nil)

// NewErrors returns a file system on top of another. Nothing fails before FailAt or FailFrom is called.
func NewErrors(under disk.FS) *Errors {
	return &Errors{under: under, kinds: All, at: map[int]error{}}
}

// Only limits the operations that are counted, and may fail, to some kinds of operations on files whose path or base
// name matches a pattern of filepath.Match; "" matches all files. A rename matches with either name.
func (e *Errors) Only(kinds Kind, pattern string) {
	if _, err := filepath.Match(pattern, ""); err != nil {
		panic(fmt.Sprintf("disktest: pattern %q: %v", pattern, err))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kinds, e.pattern = kinds, pattern
}

// FailAt makes the n-th counted operation fail, counted from 1. It may be called for several n.
func (e *Errors) FailAt(n int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.at[n] = err
}

// FailFrom makes the n-th counted operation and all later ones fail.
func (e *Errors) FailFrom(n int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.from, e.fromErr = n, err
}

// Count returns the number of counted operations.
func (e *Errors) Count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.count
}

// Failed returns the operations that failed on purpose, in order, each as its kind and name.
func (e *Errors) Failed() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.failed)
}

// Reset clears the planned and past failures and the count. The settings of Only remain.
func (e *Errors) Reset() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count, e.at, e.from, e.fromErr, e.failed = 0, map[int]error{}, 0, nil, nil
}

// fail counts an operation and returns the error that it must fail with, or nil.
func (e *Errors) fail(kind Kind, names ...string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kinds&kind == 0 || !slices.ContainsFunc(names, e.matches) {
		return nil
	}
	e.count++
	err := e.at[e.count]
	if err == nil && e.from > 0 && e.count >= e.from {
		err = e.fromErr
	}
	if err == nil {
		return nil
	}
	e.failed = append(e.failed, fmt.Sprint(kind, " ", names[0]))
	return &fs.PathError{Op: kind.String(), Path: names[0], Err: err}
}

func (e *Errors) matches(name string) bool {
	if e.pattern == "" {
		return true
	}
	whole, _ := filepath.Match(e.pattern, name)
	base, _ := filepath.Match(e.pattern, filepath.Base(name))
	return whole || base
}

// OpenFile implements disk.FS.
func (e *Errors) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if err := e.fail(Open, name); err != nil {
		return nil, err
	}
	f, err := e.under.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &errorsFile{File: f, errors: e}, nil
}

// Rename implements disk.FS.
func (e *Errors) Rename(oldName, newName string) error {
	if err := e.fail(Rename, oldName, newName); err != nil {
		return &os.LinkError{Op: "rename", Old: oldName, New: newName, Err: err}
	}
	return e.under.Rename(oldName, newName)
}

// Remove implements disk.FS.
func (e *Errors) Remove(name string) error {
	if err := e.fail(Remove, name); err != nil {
		return err
	}
	return e.under.Remove(name)
}

// MkdirAll implements disk.FS.
func (e *Errors) MkdirAll(name string, perm fs.FileMode) error {
	if err := e.fail(Mkdir, name); err != nil {
		return err
	}
	return e.under.MkdirAll(name, perm)
}

// ReadDir implements disk.FS.
func (e *Errors) ReadDir(name string) ([]fs.DirEntry, error) {
	return try(e, List, name, func() ([]fs.DirEntry, error) { return e.under.ReadDir(name) })
}

// Stat implements disk.FS.
func (e *Errors) Stat(name string) (fs.FileInfo, error) {
	return try(e, List, name, func() (fs.FileInfo, error) { return e.under.Stat(name) })
}

// try runs an operation unless it must fail.
func try[T any](e *Errors, kind Kind, name string, do func() (T, error)) (result T, err error) {
	if err := e.fail(kind, name); err != nil {
		return result, err
	}
	return do()
}

// SyncDir implements disk.FS.
func (e *Errors) SyncDir(name string) error {
	if err := e.fail(SyncDir, name); err != nil {
		return err
	}
	return e.under.SyncDir(name)
}

// errorsFile is an open file of an Errors.
type errorsFile struct {
	disk.File
	errors *Errors
}

func (f *errorsFile) Read(p []byte) (int, error) {
	return try(f.errors, Read, f.Name(), func() (int, error) { return f.File.Read(p) })
}

func (f *errorsFile) ReadAt(p []byte, off int64) (int, error) {
	return try(f.errors, Read, f.Name(), func() (int, error) { return f.File.ReadAt(p, off) })
}

func (f *errorsFile) Write(p []byte) (int, error) {
	if err := f.errors.fail(Write, f.Name()); err != nil {
		return f.short(err, func() (int, error) { return f.File.Write(p[:len(p)/2]) })
	}
	return f.File.Write(p)
}

func (f *errorsFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.errors.fail(Write, f.Name()); err != nil {
		return f.short(err, func() (int, error) { return f.File.WriteAt(p[:len(p)/2], off) })
	}
	return f.File.WriteAt(p, off)
}

// short performs half of a failing write if Short is set.
func (f *errorsFile) short(err error, half func() (int, error)) (int, error) {
	if !f.errors.Short {
		return 0, err
	}
	n, halfErr := half()
	if halfErr != nil {
		err = halfErr
	}
	return n, err
}

// unsyncer is a file that can lose unsynced bytes, such as that of a Crash.
type unsyncer interface{ syncFailed() }

func (f *errorsFile) Sync() error {
	if err := f.errors.fail(Sync, f.Name()); err != nil {
		if u, ok := f.File.(unsyncer); ok {
			u.syncFailed()
		}
		return err
	}
	return f.File.Sync()
}

func (f *errorsFile) Truncate(size int64) error {
	if err := f.errors.fail(Truncate, f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *errorsFile) Stat() (fs.FileInfo, error) { return try(f.errors, List, f.Name(), f.File.Stat) }

// syncFailed passes the call on, for an Errors on top of an Errors.
func (f *errorsFile) syncFailed() {
	if u, ok := f.File.(unsyncer); ok {
		u.syncFailed()
	}
}
