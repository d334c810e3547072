package memory

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// The memory of a process that examines files: what the machine has less what the server needs, parted among them.
const (
	forServer = 400 << 20
	perChild  = 20 << 20 // that a process has beyond its limit at most
	minChild  = 96 << 20 // enough for nearly all files that people publish
	maxChild  = 1 << 30
	otherwise = 512 << 20 // where the system does not say what it has
)

// ForChild returns the limit of each of n processes that examine files, in bytes.
func ForChild(n int) int64 { return forChild(Available(), n) }

func forChild(available int64, n int) int64 {
	if available <= 0 {
		return otherwise
	}
	return min(max((available-forServer)/int64(max(n, 1))-perChild, minChild), maxChild)
}

// Available returns the bytes of memory that this process and its children may use: those of the machine, or fewer if a
// control group limits them. It returns 0 if that is not known.
func Available() int64 {
	most := machine()
	for _, limit := range limits("/sys/fs/cgroup", read1("/proc/self/cgroup")) {
		if most == 0 || limit < most {
			most = limit
		}
	}
	return most
}

func read1(name string) string {
	raw, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// limits returns the limits of memory of the control groups that a process is in, by the text of its /proc/self/cgroup:
// those of its group and of the ones above. In a container the group may be the root that the container sees.
func limits(root, groups string) (all []int64) {
	add := func(name string) {
		if n, err := strconv.ParseInt(read1(name), 10, 64); err == nil && n > 0 && n < math.MaxInt64/2 {
			all = append(all, n)
		}
	}
	add(root + "/memory.max")
	add(root + "/memory/memory.limit_in_bytes")
	for line := range strings.Lines(groups) {
		number, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		for ; ok && len(group) > 1; group = path.Dir(group) {
			if number == "0" && controllers == "" {
				add(root + path.Clean("/"+group) + "/memory.max")
			} else if controllers == "memory" {
				add(root + "/memory" + path.Clean("/"+group) + "/memory.limit_in_bytes")
			}
		}
	}
	return all
}
