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

// File is one file on its way. Write to it, Finish, then read; the methods that read may then be called concurrently.
type File struct {
	spool    *Spool
	memory   []byte
	disk     *os.File // nil while everything is in memory
	onDisk   int64    // counted in spool.disk
	checked  int64    // up to so many bytes the disk had room
	size     int64
	head     []byte // what Head shows of a file on disk
	sha      hash.Hash
	md5      hash.Hash
	crc      uint32
	digests  catalog.Digests
	finished bool
	removed  bool
}

// headKept is how much of a file on disk stays in memory, so that looking at its beginning costs no read.
const headKept = 64 << 10

// Create starts a file.
func (s *Spool) Create() *File {
	return &File{spool: s, sha: sha256.New(), md5: md5.New()}
}

// Expect makes room for so many bytes at once, if they are to stay in memory. It promises nothing.
func (f *File) Expect(n int64) {
	if f.memory == nil && f.disk == nil && n > 0 && n <= int64(f.spool.opts.MemoryPerFile) {
		f.memory = make([]byte, 0, n)
	}
}

var errFinished = errors.New("spool: write to a finished file")

// Write appends, and adds to the digests. ErrFull where the spool has no room left on disk.
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
	f.sha.Write(p)
	f.md5.Write(p)
	f.crc = crc32.Update(f.crc, crc32.IEEETable, p)
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

// checkEvery is after how many bytes the disk is asked for its free space again.
const checkEvery = 1 << 20

func (f *File) writeDisk(p []byte) error {
	if f.spool.disk.Add(int64(len(p))) > f.spool.opts.Disk {
		f.spool.disk.Add(-int64(len(p)))
		return fmt.Errorf("spool: %w: %d bytes are in use", ErrFull, f.spool.disk.Load())
	}
	f.onDisk += int64(len(p))
	if f.onDisk >= f.checked {
		f.checked = f.onDisk + checkEvery
		if err := f.spool.reserved(); err != nil {
			return err
		}
	}
	if _, err := f.disk.Write(p); err != nil {
		return diskError(err)
	}
	if room := headKept - len(f.head); room > 0 {
		f.head = append(f.head, p[:min(room, len(p))]...)
	}
	return nil
}

// Finish ends writing. It may be called twice.
func (f *File) Finish() error {
	if f.removed {
		return os.ErrClosed
	}
	if !f.finished {
		f.finished = true
		f.sha.Sum(f.digests.SHA256[:0])
		f.md5.Sum(f.digests.MD5[:0])
	}
	return nil
}

// Size in bytes.
func (f *File) Size() int64 { return f.size }

// Digests of a finished file.
func (f *File) Digests() catalog.Digests { return f.digests }

// CRC32 (IEEE) of what has been written.
func (f *File) CRC32() uint32 { return f.crc }

// Head is the first n bytes, or all of a shorter file. The slice must not be changed and is gone with Remove.
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

// ReadAt reads a finished file (io.ReaderAt).
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if f.removed {
		return 0, os.ErrClosed
	}
	if f.disk == nil {
		return bytes.NewReader(f.memory).ReadAt(p, off)
	}
	return f.disk.ReadAt(p, off)
}

// Reader reads a file from its beginning, at its own position.
type Reader interface {
	io.ReadSeekCloser
	io.ReaderAt
	io.WriterTo
}

// Open a finished file; readers are independent of each other, and useless after Remove.
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

// Remove frees what the file takes. It may be called twice, and on nil.
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
