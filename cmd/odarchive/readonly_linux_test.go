package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"odarchive/triplestore/disk/disktest"
)

func TestReadingGoesOnWhereTheDiskIsFullOrReadOnly(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(disk string) error{
		"the archive cannot be written to: reading its last committed state": func(disk string) error {
			return syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
		},
		"the disk of the archive is full: reading its last committed state": func(disk string) error {
			disktest.Fill(t, filepath.Join(disk, "filler"), 0)
			return nil
		},
	} {
		disk := disktest.Small(t, "256m")
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
		if status, _, stderr := says(t, "update", "--data", data,
			"INSERT DATA { <http://x.example/s> <http://x.example/p> 1 }"); status != 1 {
			t.Errorf("an update: %d %s", status, stderr)
		}
	}
}
