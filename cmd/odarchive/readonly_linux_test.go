package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ownDisk mounts a small file system.
func ownDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("mounting a file system is not permitted here:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestReadingGoesOnWhereTheDiskIsFullOrReadOnly(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(disk string) error{
		"the archive cannot be written to: reading its last committed state": func(disk string) error {
			return syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
		},
		"the disk of the archive is full: reading its last committed state": func(disk string) error {
			f, err := os.Create(filepath.Join(disk, "filler"))
			if err != nil {
				return err
			}
			defer f.Close()
			for block := make([]byte, 64<<10); err == nil; {
				_, err = f.Write(block)
			}
			return nil
		},
	} {
		disk := ownDisk(t, "256m")
		data := filepath.Join(disk, "archive")
		file := archived(t, data)
		if err := spoil(disk); err != nil {
			t.Fatal(err)
		}
		for out, args := range readings(file) {
			status, got, stderr := says(t, append(args, "--data", data)...)
			if status != 0 || !strings.Contains(got, out) || !strings.Contains(stderr, want) {
				t.Errorf("%s: %d, %.300q, %q", args[0], status, got, stderr)
			}
		}
		if status, _, stderr := says(t, "update", "--data", data, "INSERT DATA { <http://x.example/s> <http://x.example/p> 1 }"); status != 1 {
			t.Errorf("an update: %d %s", status, stderr)
		}
	}
}
