//go:build unix && !linux && !freebsd

package apart

// confine gives the process its limits: see confine_linux.go. These systems, macOS among them, keep no limit of memory:
// the child's own watch ends it.
func confine(_ int64, limits bool) (string, error) {
	if !limits {
		return unlimited, nil
	}
	if err := limitFiles(); err != nil {
		return "", err
	}
	return "files are examined in processes of their own; the kernel limits their processor time, and the processes watch their memory; " +
		"this system does not limit files and network", nil
}
