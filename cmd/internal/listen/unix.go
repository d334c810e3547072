package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Unix listens on a unix socket, whose file gets a mode before anybody can connect. It replaces a socket that a killed
// process has left, but none that is in use, and no other file. Close removes the file.
func Unix(name string, mode fs.FileMode) (net.Listener, error) {
	if err := checkFree(name); err != nil {
		return nil, err
	}
	aside, err := os.MkdirTemp(filepath.Dir(name), ".odarchive-") // of mode 0700
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	defer os.RemoveAll(aside)
	file := filepath.Join(aside, "s")
	l, err := listenUnix(file)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	var info fs.FileInfo
	if err = os.Chmod(file, mode); err == nil {
		info, err = os.Lstat(file)
	}
	if err == nil {
		err = os.Rename(file, name)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("socket: %w", err), l.Close())
	}
	return &socket{l, name, info}, nil
}

// checkFree returns an error unless there is no file with a name, or a socket at which nobody listens.
func checkFree(name string) error {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("socket %s: there is a file with this name that is not a socket", name)
	}
	var c net.Conn
	err = ShortPath(name, func(short string) (err error) {
		c, err = net.DialTimeout("unix", short, time.Second)
		return err
	})
	switch {
	case err == nil:
		c.Close()
		return fmt.Errorf("socket %s is in use by another program: choose another one with --listen", name)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("socket %s may be in use by another program: %w", name, err)
}

// socket removes its file when it is closed, unless another has taken its place.
type socket struct {
	net.Listener
	name string
	info fs.FileInfo
}

func (s *socket) Close() error {
	err := s.Listener.Close()
	now, gone := os.Lstat(s.name)
	if gone == nil && os.SameFile(now, s.info) {
		gone = os.Remove(s.name)
	}
	if gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// maxSocketPath is the longest path that every system accepts as the address of a socket.
const maxSocketPath = 100

// ShortPath calls f with a name of the file that is at most maxSocketPath bytes long.
func ShortPath(name string, f func(short string) error) error {
	if len(name) <= maxSocketPath {
		return f(name)
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(name)))
}

func listenUnix(name string) (l net.Listener, err error) {
	err = ShortPath(name, func(short string) error {
		u, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		if err == nil {
			u.SetUnlinkOnClose(false) // it is renamed
			l = u
		}
		return err
	})
	return l, err
}
