//go:build !linux

package disktest

import "testing"

// Small skips the test: small file systems are mounted on Linux only.
func Small(t *testing.T, _ string) string {
	t.Skip("small file systems are mounted on Linux only")
	return ""
}
