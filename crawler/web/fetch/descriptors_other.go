//go:build !linux && !darwin && !freebsd

package fetch

// descriptors returns 0, since the limit is not known on this system.
func descriptors() uint64 { return 0 }
