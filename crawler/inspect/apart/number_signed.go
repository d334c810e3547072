//go:build freebsd || dragonfly

package apart

type number = int64 // in limits of the system
