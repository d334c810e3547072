package kv

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// stampFile returns the stamp of a file. ok is false if there is no file, or if the system does not say all of it:
// Linux names mounts uniquely since version 6.8.
func stampFile(path string) (stamp tableStamp, ok bool) {
	const wanted = unix.STATX_SIZE | unix.STATX_MTIME | unix.STATX_CTIME | unix.STATX_INO | unix.STATX_MNT_ID_UNIQUE
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_SYNC_AS_STAT, wanted, &s); err != nil || s.Mask&wanted != wanted {
		return stamp, false
	}
	return tableStamp{
		Size:     int64(s.Size),
		Modified: s.Mtime.Sec*1e9 + int64(s.Mtime.Nsec),
		Changed:  s.Ctime.Sec*1e9 + int64(s.Ctime.Nsec),
		Inode:    s.Ino,
		Device:   unix.Mkdev(s.Dev_major, s.Dev_minor),
		Mount:    s.Mnt_id,
	}, true
}

// bootID identifies the time since the machine was started; it is empty if that is unknown.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
