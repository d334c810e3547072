package spool

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"

	"odarchive/crawler/catalog"
)

// File is one spooled file. Write it, call Finish, then read it. After Finish, methods that read may be called
// concurrently.
type File struct {
	spool    *Spool
	memory   []byte
	disk     *os.File // nil while all bytes are in memory
	onDisk   int64    // counted in spool.disk
	checked  int64    // the free space is checked again when onDisk reaches this
	size     int64
	head     []byte // the beginning of a file on disk, for Head
	sha      hash.Hash
	md5      hash.Hash
	crc      uint32
	digests  catalog.Digests
	finished bool
	removed  bool
}

// maxHead is how many bytes of the beginning of a file on disk stay in memory, so that Head need not read the disk.
const maxHead = 64 << 10

// Create returns an empty file. The caller must remove it.
func (s *Spool) Create() *File {
	return &File{spool: s, sha: sha256.New(), md5: md5.New()}
}

// CreatePlain returns an empty file that computes no digests and no CRC-32. The caller must remove it.
func (s *Spool) CreatePlain() *File { return &File{spool: s} }

// Described returns a file of which only size, digests and CRC-32 are known, because another process has its bytes: it
// is finished, and cannot be read. It need not be removed.
func Described(size int64, d catalog.Digests, crc uint32) *File {
	return &File{size: size, digests: d, crc: crc, finished: true, removed: true}
}

// Expect allocates memory for a file of n bytes, if such a file may stay in memory. It is a hint: the file may have any
// length.
func (f *File) Expect(n int64) {
	if f.memory == nil && f.disk == nil && n > 0 && n <= int64(f.spool.opts.MemoryPerFile) {
		f.memory = make([]byte, 0, n)
	}
}

var errFinished = errors.New("spool: write to a finished file")

// Write appends p and updates the digests. The error wraps ErrFull if there is no room on the disk.
func (f *File) Write(p []byte) (int, error) {
	if f.finished || f.removed {
		return 0, errFinished
	}
	if f.disk == nil && !f.fitsInMemory(len(p)) {
		if err := f.moveToDisk(); err != nil {
			return 0, err
		}
	}
	if f.disk == nil {
		f.memory = append(f.memory, p...)
		f.spool.memory.Add(int64(len(p)))
	} else if err := f.writeDisk(p); err != nil {
		return 0, err
	}
	f.size += int64(len(p))
	if f.sha != nil {
		f.sha.Write(p)
		f.md5.Write(p)
		f.crc = crc32.Update(f.crc, crc32.IEEETable, p)
	}
	return len(p), nil
}

func (f *File) fitsInMemory(n int) bool {
	return len(f.memory)+n <= f.spool.opts.MemoryPerFile && f.spool.memory.Load()+int64(n) <= f.spool.opts.Memory
}

func (f *File) moveToDisk() error {
	disk, err := os.CreateTemp(f.spool.dir, prefix)
	if err != nil {
		return diskError(err)
	}
	f.disk = disk
	memory := f.memory
	f.memory = nil
	f.spool.memory.Add(-int64(len(memory)))
	return f.writeDisk(memory)
}

// checkEvery is how many bytes are written between two checks of the free space.
const checkEvery = 1 << 20

func (f *File) writeDisk(p []byte) error {
	if f.spool.disk.Add(int64(len(p))) > f.spool.opts.Disk {
		f.spool.disk.Add(-int64(len(p)))
		return fmt.Errorf("spool: %w: %d bytes are in use", ErrFull, f.spool.disk.Load())
	}
	f.onDisk += int64(len(p))
	if f.onDisk >= f.checked {
		f.checked = f.onDisk + checkEvery
		if err := f.spool.checkReserve(); err != nil {
			return err
		}
	}
	if _, err := f.disk.Write(p); err != nil {
		return diskError(err)
	}
	if room := maxHead - len(f.head); room > 0 {
		f.head = append(f.head, p[:min(room, len(p))]...)
	}
	return nil
}

// Finish ends writing and computes the digests. A second call does nothing.
func (f *File) Finish() error {
	if f.removed {
		return os.ErrClosed
	}
	if !f.finished {
		f.finished = true
		if f.sha == nil {
			return nil
		}
		f.sha.Sum(f.digests.SHA256[:0])
		f.md5.Sum(f.digests.MD5[:0])
	}
	return nil
}

// Size returns the number of bytes written.
func (f *File) Size() int64 { return f.size }

// Digests returns the digests of a finished file.
func (f *File) Digests() catalog.Digests { return f.digests }

// CRC32 returns the CRC-32 (IEEE) of the bytes written.
func (f *File) CRC32() uint32 { return f.crc }

// Head returns the first n bytes, or all of a shorter file. The caller must not change the slice, nor use it after
// Remove.
func (f *File) Head(n int) ([]byte, error) {
	if f.disk == nil {
		return f.memory[:min(n, len(f.memory))], nil
	}
	if n <= len(f.head) {
		return f.head[:n], nil
	}
	p := make([]byte, min(int64(n), f.size))
	if _, err := f.disk.ReadAt(p, 0); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	return p, nil
}

// ReadAt implements io.ReaderAt for a finished file.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if f.removed {
		return 0, os.ErrClosed
	}
	if f.disk == nil {
		return bytes.NewReader(f.memory).ReadAt(p, off)
	}
	return f.disk.ReadAt(p, off)
}

// Reader reads a file at its own position.
type Reader interface {
	io.ReadSeekCloser
	io.ReaderAt
	io.WriterTo
}

// Open returns a reader at the beginning of a finished file. Readers are independent of each other. They fail after
// Remove.
func (f *File) Open() Reader {
	if f.disk == nil && !f.removed {
		return reader{bytes.NewReader(f.memory)}
	}
	s := io.NewSectionReader(f, 0, f.size)
	return &sectionReader{SectionReader: s}
}

type reader struct{ *bytes.Reader }

func (reader) Close() error { return nil }

type sectionReader struct{ *io.SectionReader }

func (*sectionReader) Close() error { return nil }

func (r *sectionReader) WriteTo(w io.Writer) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r.SectionReader}, make([]byte, 128<<10))
}

// Reopen opens a file on disk for reading only, for a process that must not be able to change it. The error is
// ErrInMemory for other files.
func (f *File) Reopen() (*os.File, error) {
	if f.removed {
		return nil, os.ErrClosed
	}
	if f.disk == nil {
		return nil, ErrInMemory
	}
	return os.Open(f.disk.Name())
}

// ErrInMemory says that a file has no name.
var ErrInMemory = errors.New("spool: the file is in memory")

// Remove frees the memory or disk space of the file. It does nothing on nil, or if called again.
func (f *File) Remove() error {
	if f == nil || f.removed {
		return nil
	}
	f.removed = true
	if f.disk == nil {
		f.spool.memory.Add(-int64(len(f.memory)))
		f.memory = nil
		return nil
	}
	f.spool.disk.Add(-f.onDisk)
	f.head = nil
	closing := f.disk.Close()
	if err := errors.Join(closing, os.Remove(f.disk.Name())); err != nil {
		return fmt.Errorf("spool: remove: %w", err)
	}
	return nil
}
