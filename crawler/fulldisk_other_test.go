//go:build !linux

package crawler

import "testing"

func smallDisk(t *testing.T, _ string) string {
	t.Skip("small file systems are mounted on Linux only")
	return ""
}
