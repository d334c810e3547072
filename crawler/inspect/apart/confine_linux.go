package apart

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// overhead is what a child has mapped when it is idle, as RLIMIT_DATA counts it: Go maps its heap in arenas of 64 MiB,
// and the limit counts what is mapped and was never touched.
const overhead = 96 << 20

// confine gives the process its limits, before it sees the first byte of a document. It returns a sentence about what
// the system grants. The error says that a limit which the system has could not be set: such a child must not work.
func confine(memory int64, limits bool) (string, error) {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // if the machine's memory is short, this process is the first to go
	if !limits {
		return unlimited, nil
	}
	var lacks []string
	if underRace {
		lacks = append(lacks, "memory (the race detector needs its own)")
	} else if err := limit(unix.RLIMIT_DATA, number(memory+overhead)); err != nil {
		return "", fmt.Errorf("examine: the limit of memory: %w", err)
	}
	if err := limitFiles(); err != nil {
		return "", err
	}
	if underRace {
		lacks = append(lacks, "system calls (the race detector needs others)")
	} else if err := filter(); errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) ||
		errors.Is(err, unix.EACCES) {
		lacks = append(lacks, "system calls ("+err.Error()+")") // a kernel, or a container, without such filters
	} else if err != nil {
		return "", fmt.Errorf("examine: the filter of system calls: %w", err)
	}
	if lacks != nil {
		return "files are examined in processes of their own; this system does not limit " + strings.Join(lacks, ", "), nil
	}
	return "files are examined in processes of their own; " +
		"the kernel limits their memory, processor time, files, network and system calls", nil
}

// startFrom starts a command on the calling thread, with whose end the child is killed, too.
func startFrom(cmd *exec.Cmd) (release func(), err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return func() {}, cmd.Start()
}

// executable returns the file to start: the one that was opened when the server began, so that a program that was
// replaced on disk starts no children of another build.
func executable(f *os.File) string {
	path := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if _, err := os.Stat(path); err != nil {
		return f.Name() // there is no /proc
	}
	return path
}
