//go:build unix && !freebsd && !dragonfly

package apart

type number = uint64 // in limits of the system
