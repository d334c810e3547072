package disktest

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"odarchive/triplestore/disk"
)

// crashFile is an open file of a Crash. It remains usable after its name is removed.
type crashFile struct {
	crash  *Crash
	node   *node
	name   string
	flag   int
	off    int64
	closed bool
}

var _ disk.File = (*crashFile)(nil)

// do runs an operation on the open file. Its errors are of type *fs.PathError, or io.EOF.
func (f *crashFile) do(op string, allowed bool, act func() error) error {
	f.crash.mu.Lock()
	defer f.crash.mu.Unlock()
	var err error
	switch {
	case f.crash.off:
		err = ErrPowerOff
	case f.closed:
		err = fs.ErrClosed
	case !allowed:
		err = syscall.EBADF
	default:
		err = act()
	}
	if err != nil && err != io.EOF {
		return &fs.PathError{Op: op, Path: f.name, Err: err}
	}
	return err
}

func (f *crashFile) reads() bool  { return f.flag&os.O_WRONLY == 0 }
func (f *crashFile) writes() bool { return f.flag&(os.O_WRONLY|os.O_RDWR) != 0 }

func (f *crashFile) Name() string { return f.name }

func (f *crashFile) Read(p []byte) (n int, err error) {
	err = f.do("read", f.reads(), func() (err error) {
		n, err = f.readAt(p, f.off)
		f.off += int64(n)
		if n > 0 {
			err = nil
		}
		return err
	})
	return n, err
}

func (f *crashFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do("read", f.reads(), func() (err error) { n, err = f.readAt(p, off); return err })
	return n, err
}

func (f *crashFile) readAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, syscall.EINVAL
	}
	if len(p) == 0 {
		return 0, nil
	}
	if off >= int64(len(f.node.now)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.now[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *crashFile) Write(p []byte) (n int, err error) {
	err = f.do("write", f.writes(), func() error {
		if f.flag&os.O_APPEND != 0 {
			f.off = int64(len(f.node.now))
		}
		n, err = f.writeAt(p, f.off)
		f.off += int64(n)
		return err
	})
	return n, err
}

func (f *crashFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.do("write", f.writes() && f.flag&os.O_APPEND == 0, func() error { n, err = f.writeAt(p, off); return err })
	return n, err
}

func (f *crashFile) writeAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, syscall.EINVAL
	}
	f.node.write(off, p)
	f.node.modified = time.Now()
	if err := f.crash.changed(); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (f *crashFile) Seek(offset int64, whence int) (at int64, err error) {
	err = f.do("seek", true, func() error {
		switch whence {
		case io.SeekStart:
			at = offset
		case io.SeekCurrent:
			at = f.off + offset
		case io.SeekEnd:
			at = int64(len(f.node.now)) + offset
		default:
			at = -1
		}
		if at < 0 {
			return syscall.EINVAL
		}
		f.off = at
		return nil
	})
	return at, err
}

// Sync makes the file's bytes durable and, with Ext4, all names. Bytes that an earlier Sync lost stay lost.
func (f *crashFile) Sync() error {
	return f.do("sync", true, func() error {
		if err := f.crash.changed(); err != nil {
			return err
		}
		f.node.sync()
		if f.crash.Ext4 {
			f.crash.journal = f.crash.journal.sync(func(naming) bool { return true })
		}
		return nil
	})
}

// syncFailed does what Linux does when a sync fails: it drops the unwritten bytes, except some pages. Reads still
// return them, and a later Sync returns nil.
func (f *crashFile) syncFailed() {
	f.crash.mu.Lock()
	defer f.crash.mu.Unlock()
	if !f.crash.off {
		f.node.syncFailed(f.crash.rand)
	}
}

func (f *crashFile) Truncate(size int64) error {
	return f.do("truncate", true, func() error {
		if size < 0 || !f.writes() { // Linux returns EINVAL for a file open for reading
			return syscall.EINVAL
		}
		f.node.truncate(size)
		f.node.modified = time.Now()
		return f.crash.changed()
	})
}

func (f *crashFile) Stat() (info fs.FileInfo, err error) {
	err = f.do("stat", true, func() error { info = f.node.info(f.name); return nil })
	return info, err
}

func (f *crashFile) Close() error {
	f.crash.mu.Lock()
	defer f.crash.mu.Unlock()
	if f.closed {
		return &fs.PathError{Op: "close", Path: f.name, Err: fs.ErrClosed}
	}
	f.closed = true
	return nil
}
