// Package shared finds the test data of others that is no part of the project: the W3C's suites, files of real portals.
//
// It looks where ODARCHIVE_SHARED says, else for a folder named shared beside the checkout. Where there is none, the test
// that asks is skipped and says so. For tests only.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// Data is the path of a file or folder below data/ of the shared folder.
func Data(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{root(), "data"}, elem...)...)
	if _, err := os.Stat(path); root() == "" || err != nil {
		t.Skipf("the shared test data %s is absent: set ODARCHIVE_SHARED to its folder", filepath.Join(elem...))
	}
	return path
}

func root() string {
	if dir := os.Getenv("ODARCHIVE_SHARED"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		if _, err := os.Stat(filepath.Join(dir, "shared", "CONTRACT.md")); err == nil {
			return filepath.Join(dir, "shared")
		}
	}
	return ""
}
