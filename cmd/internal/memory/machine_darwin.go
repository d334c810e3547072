package memory

import "golang.org/x/sys/unix"

// machine returns the bytes of memory of the machine; 0 if that is not known.
func machine() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}
