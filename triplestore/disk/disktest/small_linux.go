package disktest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Small mounts a file system of its own for a test and returns its directory. size is what tmpfs takes, such as "16m".
// The test is skipped where mounting is not permitted.
func Small(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("mounting a small file system is not permitted here:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Fill writes a file of zeros that leaves this many MiB free on its disk. Removing it makes room again.
func Fill(t *testing.T, name string, leave int64) {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(name), &fs); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err == nil {
		_, err = io.CopyN(f, zeros{}, max(int64(fs.Bavail)*fs.Bsize-leave<<20, 0))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
