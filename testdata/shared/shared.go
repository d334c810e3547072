// Package shared locates test data that is not part of the project: the W3C's test suites, files of real portals.
//
// It uses the folder $ODARCHIVE_SHARED, or else a folder named shared next to the checkout. If there is none, tests
// that need it are skipped. It is for tests only.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// Data returns the path of a file or folder in data/ of the shared folder. If it does not exist, Data skips the test.
func Data(t testing.TB, elem ...string) string {
	t.Helper()
	return below(t, "data", elem)
}

// Bench is Data for bench/, the benchmarks beside other programs.
func Bench(t testing.TB, elem ...string) string {
	t.Helper()
	return below(t, "bench", elem)
}

func below(t testing.TB, folder string, elem []string) string {
	t.Helper()
	path := filepath.Join(append([]string{root(), folder}, elem...)...)
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
