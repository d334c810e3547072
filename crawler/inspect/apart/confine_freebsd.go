package apart

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// overhead is address space that Go reserves and does not use.
const overhead = 2 << 30

// confine gives the process its limits: see confine_linux.go. In capability mode a process can open nothing by name.
func confine(memory int64, limits bool) (string, error) {
	if !limits {
		return unlimited, nil
	}
	if err := limit(unix.RLIMIT_AS, memory+overhead); err != nil {
		return "", fmt.Errorf("examine: the limit of memory: %w", err)
	}
	if err := limitFiles(); err != nil {
		return "", err
	}
	if err := unix.CapEnter(); err != nil {
		return "files are examined in processes of their own; this system does not limit files and network (" + err.Error() + ")", nil
	}
	return "files are examined in processes of their own; the kernel limits their memory, processor time, files and network", nil
}
