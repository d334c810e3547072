// Package listen opens what a server listens on: TCP addresses, unix sockets, and sockets that systemd has opened. It
// has the server's own certificates, which may be renewed while it runs, and tells systemd how the server is.
package listen

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
)

// Forms of an address that are not HOST:PORT.
const (
	unixPrefix    = "unix:"
	systemd       = "systemd"
	systemdPrefix = "systemd:"
)

// Open opens what an address names: HOST:PORT, unix:PATH, or the sockets that systemd passes, as systemd for all of
// them or systemd:NAME for those with a FileDescriptorName. mode is that of the file of a unix socket. The caller
// closes the listeners. Errors say what to do.
func Open(address string, mode fs.FileMode) ([]net.Listener, error) {
	var l net.Listener
	var err error
	name, isUnix := strings.CutPrefix(address, unixPrefix)
	fds, isNamed := strings.CutPrefix(address, systemdPrefix)
	switch {
	case isUnix && name == "":
		return nil, fmt.Errorf("--listen %q: expected unix:PATH", address)
	case isUnix:
		l, err = Unix(name, mode)
	case address == systemd:
		return passed("")
	case isNamed:
		return passed(fds)
	default:
		l, err = TCP(address)
	}
	if err != nil {
		return nil, err
	}
	return []net.Listener{l}, nil
}

// TCP listens on a TCP address. The error says what to do if the address is in use.
func TCP(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf(
			"address %s is in use by another program: choose another one with --listen, or --listen 127.0.0.1:0 for any free port", address)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("address %s needs more rights than this user has: choose a port above 1023 with --listen", address)
	case err != nil:
		return nil, fmt.Errorf("--listen %q: expected HOST:PORT, unix:PATH or systemd: %w", address, err)
	}
	return l, nil
}
