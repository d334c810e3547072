package apart

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_AARCH64

// callsHere are those of calls that only this architecture has.
var callsHere []uint32
