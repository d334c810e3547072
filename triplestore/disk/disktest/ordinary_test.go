package disktest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"odarchive/triplestore/disk"
)

// below is a file system in a directory of the operating system.
type below struct {
	disk.OS
	dir string
}

func (b below) at(name string) string { return filepath.Join(b.dir, name) }
func (b below) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	return b.OS.OpenFile(b.at(name), flag, perm)
}
func (b below) Rename(o, n string) error                     { return b.OS.Rename(b.at(o), b.at(n)) }
func (b below) Remove(name string) error                     { return b.OS.Remove(b.at(name)) }
func (b below) MkdirAll(name string, perm fs.FileMode) error { return b.OS.MkdirAll(b.at(name), perm) }
func (b below) ReadDir(name string) ([]fs.DirEntry, error)   { return b.OS.ReadDir(b.at(name)) }
func (b below) Stat(name string) (fs.FileInfo, error)        { return b.OS.Stat(b.at(name)) }
func (b below) SyncDir(name string) error                    { return b.OS.SyncDir(b.at(name)) }

// errorName returns the kind of an error that callers may test for.
func errorName(err error) string {
	for _, e := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrClosed, io.EOF, syscall.EISDIR, syscall.ENOTDIR, syscall.ENOTEMPTY,
		syscall.EINVAL, syscall.EBADF} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	if err != nil {
		return "error"
	}
	return ""
}

// history runs random operations and returns the result of each.
func history(fsys disk.FS, seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	names := []string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "a/a", "none/a"}
	name := func() string { return names[r.IntN(len(names))] }
	flags := []int{os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC,
		os.O_RDWR | os.O_CREATE | os.O_EXCL, os.O_WRONLY | os.O_CREATE | os.O_APPEND}
	var files []disk.File
	var log []string
	add := func(err error, format string, args ...any) {
		log = append(log, fmt.Sprintf(format, args...)+": "+errorName(err))
	}
	for range 200 {
		act := r.IntN(16)
		if len(files) == 0 {
			act = r.IntN(9)
		}
		switch act {
		case 0, 1, 2, 3:
			n, flag := name(), flags[r.IntN(len(flags))]
			if info, err := fsys.Stat(n); err == nil && info.IsDir() {
				continue // directories cannot be opened
			}
			f, err := fsys.OpenFile(n, flag, 0o644)
			add(err, "open %s %x", n, flag)
			if err == nil {
				files = append(files, f)
			}
		case 4:
			o, n := name(), name()
			if n == "a/a" || n == "none/a" || strings.HasPrefix(n, o) || strings.HasPrefix(o, n) {
				continue // kernels differ in which of several errors they return
			}
			add(fsys.Rename(o, n), "rename %s %s", o, n)
		case 5:
			n := name()
			add(fsys.Remove(n), "remove %s", n)
		case 6:
			n := []string{"d", "d/e"}[r.IntN(2)]
			add(fsys.MkdirAll(n, 0o755), "mkdir %s", n)
		case 7:
			n := []string{".", "d", "d/e"}[r.IntN(3)]
			entries, err := fsys.ReadDir(n)
			add(err, "list %s %v", n, entries)
		case 8:
			n := name()
			info, err := fsys.Stat(n)
			if err == nil && !info.IsDir() {
				add(err, "stat %s %s %d", n, info.Name(), info.Size())
			} else {
				add(err, "stat %s", n)
			}
		default:
			i := r.IntN(len(files))
			log = append(log, fileOperation(files[i], act, r))
			if act == 9 {
				files = append(files[:i], files[i+1:]...)
			}
		}
	}
	for _, f := range files {
		f.Close()
	}
	return log
}

func fileOperation(f disk.File, act int, r *rand.Rand) string {
	at, size := r.Int64N(20), 1+r.IntN(9)
	data := []byte(strings.Repeat(string(rune('a'+r.IntN(26))), size))
	var n int
	var err error
	switch act {
	case 9:
		err = f.Close()
	case 10:
		n, err = f.Write(data)
	case 11:
		if n, err = f.WriteAt(data, at); err != nil {
			return "writeat error" // O_APPEND has its own error
		}
	case 12:
		data = make([]byte, size)
		n, err = f.ReadAt(data, at)
	case 13:
		data = make([]byte, size)
		n, err = f.Read(data)
	case 14:
		err = errors.Join(f.Sync(), f.Truncate(at))
	case 15:
		n64, seekErr := f.Seek(at, r.IntN(2))
		n, err = int(n64), seekErr
	}
	return fmt.Sprintf("file %d: %d %q %s", act, n, data, errorName(err))
}

func TestWithoutAFailureACrashIsAnOrdinaryFileSystem(t *testing.T) {
	for seed := range uint64(200) {
		want := history(below{dir: t.TempDir()}, seed)
		got := history(NewErrors(NewCrash(seed)), seed)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("seed %d, operation %d: got %s, the operating system has %s", seed, i, got[i], want[i])
			}
		}
	}
}

func TestACrashMayBeUsedConcurrently(t *testing.T) {
	c := NewCrash(1)
	c.CutAt(500)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 100 {
				disk.WriteFile(c, fmt.Sprint("f", i), []byte("x"), 0o644)
			}
		})
	}
	wg.Wait()
	if c.Changes() != 500 {
		t.Errorf("%d changes, the power failed in the 500th", c.Changes())
	}
	c.Crash()
}
