//go:build amd64 || arm64

package apart

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls are the system calls of a process that computes, and reads and writes what is open. All others fail with EPERM.
var calls = append([]uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_RECVMSG, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_LSEEK, unix.SYS_FTRUNCATE,
	unix.SYS_FSTAT, unix.SYS_CLOSE,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MREMAP, unix.SYS_MADVISE, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
	unix.SYS_CLOCK_GETTIME, unix.SYS_RESTART_SYSCALL,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_GETPID, unix.SYS_GETTID,
	unix.SYS_SETITIMER, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PIPE2,
	unix.SYS_GETRUSAGE, unix.SYS_GETRLIMIT, unix.SYS_GETRANDOM, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, // with cgo
}, callsHere...)

// filter confines all threads of the process to calls. New threads are the only processes that it may make.
func filter() error {
	const nr, arch, firstArgument = 0, 4, 16 // offsets in struct seccomp_data
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	end := func(with uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: with} }
	equal := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	allow, deny := end(unix.SECCOMP_RET_ALLOW), end(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM))
	program := []unix.SockFilter{load(arch), equal(architecture, 1, 0), end(unix.SECCOMP_RET_KILL_PROCESS), load(nr)}
	for _, call := range calls {
		program = append(program, equal(call, 0, 1), allow)
	}
	// Of these an argument decides: they could send the server signals, or give it limits.
	only := func(call uint32, argument int, values ...uint32) {
		program = append(program, equal(call, 0, uint8(2+2*len(values))), load(uint32(firstArgument+8*argument)))
		for _, v := range values {
			program = append(program, equal(v, 0, 1), allow)
		}
		program = append(program, deny)
	}
	only(unix.SYS_TGKILL, 0, uint32(os.Getpid()))              // Go interrupts its own threads
	program = append(program, equal(unix.SYS_PRLIMIT64, 0, 6), // of its own processor time: root could raise the other limits, too
		load(firstArgument), equal(0, 0, 3), load(firstArgument+8), equal(unix.RLIMIT_CPU, 0, 1), allow, deny)
	only(unix.SYS_FCNTL, 1, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_DUPFD_CLOEXEC) // not F_SETOWN with F_SETSIG
	program = append(program,
		equal(unix.SYS_CLONE3, 0, 1), end(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)), // its flags are in memory: libc falls back to clone
		equal(unix.SYS_CLONE, 1, 0), deny, load(firstArgument),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jt: 0, Jf: 1, K: unix.CLONE_THREAD}, allow, deny)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	list := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&list)))
	if errno != 0 {
		return errno
	}
	if thread != 0 {
		return fmt.Errorf("thread %d could not be confined", thread)
	}
	return nil
}
