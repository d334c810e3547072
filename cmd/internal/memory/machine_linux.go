package memory

import "golang.org/x/sys/unix"

// machine returns the bytes of memory of the machine; 0 if that is not known.
func machine() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
