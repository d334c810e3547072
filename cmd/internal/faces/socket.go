package faces

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// socketFile is the socket of the process that holds an archive. The mode of the file lets only its user in, so requests
// need no token.
const socketFile = "odarchive.sock"

// ListenSocket opens the archive's socket, and replaces one that a killed process has left: this process holds the
// directory. Close removes the file.
func (a *Faces) ListenSocket() (net.Listener, error) {
	name := filepath.Join(a.store.Config.Data, socketFile)
	aside := name + ".new" // a directory of mode 0700: nobody can connect before the socket has its mode
	for _, stale := range []string{aside, name} {
		if err := os.RemoveAll(stale); err != nil {
			return nil, fmt.Errorf("socket: %w", err)
		}
	}
	if err := os.Mkdir(aside, 0o700); err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	defer os.Remove(aside)
	l, err := listenUnix(filepath.Join(aside, "s"))
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	err = os.Chmod(filepath.Join(aside, "s"), 0o600)
	if err == nil {
		err = os.Rename(filepath.Join(aside, "s"), name)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("socket: %w", err), l.Close())
	}
	return &socket{l, name}, nil
}

// socket removes its file when it is closed.
type socket struct {
	net.Listener
	name string
}

func (s *socket) Close() error {
	err := s.Listener.Close()
	if gone := os.Remove(s.name); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// maxSocketPath is the longest path that every system accepts as the address of a socket.
const maxSocketPath = 100

// shortPath calls f with a name of the file that is at most maxSocketPath bytes long.
func shortPath(name string, f func(short string) error) error {
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
	err = shortPath(name, func(short string) error {
		u, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		if err == nil {
			u.SetUnlinkOnClose(false) // it is renamed
			l = u
		}
		return err
	})
	return l, err
}
