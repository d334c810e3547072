package apart

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_X86_64

// callsHere are those of calls that only this architecture has.
var callsHere = []uint32{unix.SYS_EPOLL_WAIT, unix.SYS_ARCH_PRCTL}
