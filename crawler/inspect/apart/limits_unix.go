//go:build unix

package apart

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxFileSize = 2 << 30
	maxFiles    = 64
)

// limitProcessorTime lets the process end when it has used more processor time from now on, or up to a second more.
func limitProcessorTime(t time.Duration) {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		os.Exit(exitUnsafe)
	}
	var want, got unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CPU, &want) != nil {
		os.Exit(exitUnsafe)
	}
	// The hard limit stays: below it, the next job can have more.
	cur := min(want.Max, number(used.Utime.Sec+used.Stime.Sec)+number(t/time.Second)+1)
	if want.Cur == cur {
		return
	}
	want.Cur = cur
	if unix.Setrlimit(unix.RLIMIT_CPU, &want) != nil || unix.Getrlimit(unix.RLIMIT_CPU, &got) != nil || got.Cur != want.Cur {
		os.Exit(exitUnsafe)
	}
}

// endOnSignals lets the signals of the limits end the process with a status that says so.
func endOnSignals() {
	signal.Ignore(syscall.SIGXFSZ) // a write beyond the limit is an error then
	late := make(chan os.Signal, 1)
	signal.Notify(late, syscall.SIGXCPU) // Go ignores it unless somebody asks for it
	go func() {
		<-late
		os.Exit(exitTime)
	}()
}

// endedBy returns the signal that ended a process, "" for none, and whether somebody else may have sent it.
func endedBy(state *os.ProcessState) (name string, byOthers bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return "", false
	}
	s := status.Signal()
	return s.String(), s == syscall.SIGKILL || s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGHUP || s == syscall.SIGQUIT
}

// limit sets a limit of the process, and makes sure that it is there.
func limit(what int, n number) error {
	var has, got unix.Rlimit
	if err := unix.Getrlimit(what, &has); err != nil {
		return err
	}
	if has.Max <= n && has.Cur <= n { // a smaller one, which perhaps cannot be raised
		return nil
	}
	want := unix.Rlimit{Cur: n, Max: n}
	if err := unix.Setrlimit(what, &want); err != nil {
		return err
	}
	if err := unix.Getrlimit(what, &got); err != nil {
		return err
	}
	if got != want {
		return errors.New("it is not there after it was set")
	}
	return nil
}

// limitFiles sets the limits of files that all of these systems have.
func limitFiles() error {
	for _, l := range []struct {
		of string
		is int
		n  number
	}{{"core files", unix.RLIMIT_CORE, 0}, {"files' sizes", unix.RLIMIT_FSIZE, maxFileSize}, {"open files", unix.RLIMIT_NOFILE, maxFiles}} {
		if err := limit(l.is, l.n); err != nil {
			return fmt.Errorf("examine: the limit of %s: %w", l.of, err)
		}
	}
	return nil
}

// unlimited is what a child says that has no limits of the kernel.
const unlimited = "files are examined in processes of their own, without limits of the kernel"

// peakOf returns the most memory that a process has had, in bytes; 0 if that is not known.
func peakOf(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss) // in bytes there
	}
	return int64(usage.Maxrss) << 10
}
