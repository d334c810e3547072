package disktest

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"odarchive/triplestore/disk"
)

// ErrPowerOff is the error of every operation after a power failure.
var ErrPowerOff = errors.New("disktest: the power is off")

// Crash is a file system in memory that tracks what is durable. Bytes become durable with Sync of their file. Names
// become durable only with SyncDir of their directory, as POSIX promises; with Ext4 set, names become durable in order,
// and any Sync or SyncDir makes all earlier ones durable. A rename is durable completely or not at all.
//
// Without a power failure it is an ordinary file system. "/" and "." are its root, and directories cannot be opened as
// files. Methods may be called concurrently.
type Crash struct {
	Ext4 bool // set before the first operation

	mu      sync.Mutex // guards the fields below and all nodes
	rand    *rand.Rand
	root    *node
	journal journal
	changes int
	cutAt   int // 0 means never
	off     bool
}

var _ disk.FS = (*Crash)(nil)

// NewCrash returns an empty file system. The seed determines what power failures leave.
func NewCrash(seed uint64) *Crash {
	return &Crash{rand: rand.New(rand.NewPCG(seed, 0)), root: newDir(0o755)}
}

// Crash turns the power off and returns a file system with what is left. Of each file that is the durable bytes and, of
// the bytes written since, none, all, the first ones, or random pages of 4 KiB; of the names, the durable ones and some
// of the later changes. Afterwards all operations on c except Crash and Close return ErrPowerOff. Calling Crash again
// returns another outcome of the same failure.
func (c *Crash) Crash() *Crash {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = true
	left := NewCrash(c.rand.Uint64())
	left.Ext4 = c.Ext4
	left.root = copyDurable(c.root, c.journal.crashed(c.rand, c.Ext4), c.rand, map[*node]*node{})
	return left
}

// CutAt turns the power off during the n-th change, counted from the beginning: a write, truncation, sync, creation,
// rename or removal. That change and all later operations return ErrPowerOff. The change itself may be on the disk or
// not.
func (c *Crash) CutAt(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutAt = n
}

// Off reports whether the power has failed.
func (c *Crash) Off() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.off
}

// Changes returns the number of changes made.
func (c *Crash) Changes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// SyncAll makes everything durable.
func (c *Crash) SyncAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.journal = c.journal.sync(func(naming) bool { return true })
	var all func(*node)
	all = func(n *node) {
		n.sync()
		for _, child := range n.names {
			all(child)
		}
	}
	all(c.root)
}

// changed counts a change and returns ErrPowerOff if the power fails during it.
func (c *Crash) changed() error {
	if c.changes++; c.changes == c.cutAt {
		c.off = true
		return ErrPowerOff
	}
	return nil
}

// name makes a naming visible to programs.
func (c *Crash) name(op ...entry) {
	for _, e := range op {
		set(e.dir.names, e.name, e.node)
	}
	c.journal = append(c.journal, op)
}

// find returns the directory of a path's last element, that element, and the node it names, or nil if there is none.
// The root has no directory.
func (c *Crash) find(name string) (dir *node, base string, n *node, err error) {
	n = c.root
	for part := range strings.SplitSeq(strings.Trim(path.Clean("/"+filepath.ToSlash(name)), "/"), "/") {
		if part == "" {
			return nil, "", c.root, nil
		}
		if n == nil {
			return nil, "", nil, syscall.ENOENT
		}
		if !n.isDir() {
			return nil, "", nil, syscall.ENOTDIR
		}
		dir, base, n = n, part, n.names[part]
	}
	return dir, base, n, nil
}

// do runs an operation on a path. Its errors are of type *fs.PathError.
func (c *Crash) do(op, name string, f func(dir *node, base string, n *node) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := error(ErrPowerOff)
	if !c.off {
		var dir, n *node
		var base string
		if dir, base, n, err = c.find(name); err == nil {
			err = f(dir, base, n)
		}
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// OpenFile implements disk.FS.
func (c *Crash) OpenFile(name string, flag int, perm fs.FileMode) (file disk.File, err error) {
	writes := flag&(os.O_WRONLY|os.O_RDWR) != 0
	err = c.do("open", name, func(dir *node, base string, n *node) error {
		switch {
		case n == nil && flag&os.O_CREATE == 0:
			return syscall.ENOENT
		case n != nil && flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
			return syscall.EEXIST
		case n != nil && n.isDir():
			return syscall.EISDIR
		}
		if n == nil {
			n = &node{mode: perm.Perm(), modified: time.Now()}
			c.name(entry{place{dir, base}, n})
			if err := c.changed(); err != nil {
				return err
			}
		} else if flag&os.O_TRUNC != 0 && writes && len(n.now) > 0 {
			n.truncate(0)
			if err := c.changed(); err != nil {
				return err
			}
		}
		file = &crashFile{crash: c, node: n, name: name, flag: flag}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Rename implements disk.FS.
func (c *Crash) Rename(oldName, newName string) error {
	return c.do("rename", oldName, func(oldDir *node, oldBase string, n *node) error {
		newDir, newBase, old, err := c.find(newName)
		switch {
		case err != nil:
			return err
		case n == nil:
			return syscall.ENOENT
		case oldDir == nil || newDir == nil || n.isDir() && within(newDir, n):
			return syscall.EINVAL
		case old == n:
			return nil
		case old != nil && old.isDir(): // like os.Rename
			return syscall.EEXIST
		case old != nil && !old.isDir() && n.isDir():
			return syscall.ENOTDIR
		}
		c.name(entry{place{oldDir, oldBase}, nil}, entry{place{newDir, newBase}, n})
		return c.changed()
	})
}

// within reports whether dir is top or below it.
func within(dir, top *node) bool {
	if dir == top {
		return true
	}
	for _, n := range top.names {
		if n.isDir() && within(dir, n) {
			return true
		}
	}
	return false
}

// Remove implements disk.FS.
func (c *Crash) Remove(name string) error {
	return c.do("remove", name, func(dir *node, base string, n *node) error {
		switch {
		case n == nil:
			return syscall.ENOENT
		case dir == nil:
			return syscall.EBUSY
		case n.isDir() && len(n.names) > 0:
			return syscall.ENOTEMPTY
		}
		c.name(entry{place{dir, base}, nil})
		return c.changed()
	})
}

// MkdirAll implements disk.FS.
func (c *Crash) MkdirAll(name string, perm fs.FileMode) error {
	if parent := filepath.Dir(name); parent != name && parent != "." {
		if err := c.MkdirAll(parent, perm); err != nil {
			return err
		}
	}
	return c.do("mkdir", name, func(dir *node, base string, n *node) error {
		if n != nil {
			if !n.isDir() {
				return syscall.ENOTDIR
			}
			return nil
		}
		c.name(entry{place{dir, base}, newDir(perm)})
		return c.changed()
	})
}

// ReadDir implements disk.FS.
func (c *Crash) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = c.do("open", name, func(_ *node, _ string, n *node) error {
		if n == nil {
			return syscall.ENOENT
		}
		if !n.isDir() {
			return syscall.ENOTDIR
		}
		for _, base := range slices.Sorted(maps.Keys(n.names)) {
			entries = append(entries, fs.FileInfoToDirEntry(n.names[base].info(base)))
		}
		return nil
	})
	return entries, err
}

// Stat implements disk.FS.
func (c *Crash) Stat(name string) (info fs.FileInfo, err error) {
	err = c.do("stat", name, func(_ *node, base string, n *node) error {
		if n == nil {
			return syscall.ENOENT
		}
		info = n.info(base)
		return nil
	})
	return info, err
}

// SyncDir implements disk.FS.
func (c *Crash) SyncDir(name string) error {
	return c.do("sync", name, func(_ *node, _ string, n *node) error {
		if n == nil {
			return syscall.ENOENT
		}
		if !n.isDir() {
			return syscall.ENOTDIR
		}
		if err := c.changed(); err != nil {
			return err
		}
		c.journal = c.journal.sync(func(op naming) bool {
			return c.Ext4 || slices.ContainsFunc(op, func(e entry) bool { return e.dir == n })
		})
		return nil
	})
}
