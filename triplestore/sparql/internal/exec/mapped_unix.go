//go:build unix

package exec

import (
	"os"
	"syscall"
)

// mapFile maps the first n bytes of a file into memory.
func mapFile(f *os.File, n int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmapFile(data []byte) { syscall.Munmap(data) } // fails for memory that is not mapped only
