package listen

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// firstPassed is the number of the first file descriptor that systemd passes.
const firstPassed = 3

// maxPassed bounds how many descriptors are believed to be passed.
const maxPassed = 1024

// Passed reports whether systemd has passed sockets to this process.
func Passed() bool {
	n, _ := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	return n > 0 && os.Getenv("LISTEN_PID") == strconv.Itoa(os.Getpid())
}

// passed returns the sockets with a name that systemd has passed, or all of them if the name is "". It takes the
// variables from the environment, and the sockets that it does not return stay open and unused.
func passed(name string) (listeners []net.Listener, err error) {
	if !Passed() {
		return nil, errors.New("--listen systemd: systemd has passed no sockets; is there a .socket unit for this service?")
	}
	n, _ := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	names := strings.Split(os.Getenv("LISTEN_FDNAMES"), ":")
	for _, variable := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(variable) // it fails for malformed names only
	}
	for i := range min(n, maxPassed) {
		fd := firstPassed + i
		syscall.CloseOnExec(fd)
		if name != "" && (i >= len(names) || names[i] != name) {
			continue
		}
		file := os.NewFile(uintptr(fd), "socket of systemd")
		l, err := net.FileListener(file)
		file.Close() // FileListener has a copy
		if err != nil {
			for _, l := range listeners {
				l.Close()
			}
			return nil, fmt.Errorf("--listen systemd: file descriptor %d: %w", fd, err)
		}
		listeners = append(listeners, l)
	}
	if len(listeners) == 0 {
		return nil, fmt.Errorf("--listen systemd:%s: systemd has passed %d sockets, of the names %s", name, n,
			strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", "))
	}
	return listeners, nil
}

// monotonic is the clock with which systemd compares times.
func monotonic() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
