package content

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// spoolDir holds copies of files that Put cannot read twice and that are too big for memory. Open empties it.
const spoolDir = "tmp"

const copyBlock = 256 << 10

// source is a file that can be read more than once.
type source struct {
	r    io.ReaderAt
	size int64
	data []byte // all of it, for files up to Options.inMemory
	drop func()
}

// openSource returns a source of the reader itself if it can seek, else of a copy.
func (s *Store) openSource(ctx context.Context, r io.Reader) (*source, error) {
	if f, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		return seekable(f, s.opts.inMemory)
	}
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(contextReader{ctx, r}, s.opts.inMemory+1))
	if err != nil {
		return nil, fmt.Errorf("content: read: %w", err)
	}
	if n <= s.opts.inMemory {
		return &source{r: bytes.NewReader(buf.Bytes()), size: n, data: buf.Bytes(), drop: func() {}}, nil
	}
	return s.spool(io.MultiReader(&buf, contextReader{ctx, r}))
}

// seekable returns a source of the rest of a reader that can seek.
func seekable(f interface {
	io.ReaderAt
	io.Seeker
}, inMemory int64) (*source, error) {
	start, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	src := &source{r: io.NewSectionReader(f, start, end-start), size: max(end-start, 0), drop: func() {}}
	if src.size <= inMemory {
		src.data = make([]byte, src.size)
		if n, err := src.r.ReadAt(src.data, 0); int64(n) < src.size {
			return nil, fmt.Errorf("content: read: %w", err)
		}
	}
	return src, nil
}

// spool returns a source of a copy on disk.
func (s *Store) spool(r io.Reader) (*source, error) {
	name := filepath.Join(s.dir, spoolDir, fmt.Sprintf("%s%d", spoolPrefix, s.spooled.Add(1)))
	f, err := s.fs.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, diskError("spool", err)
	}
	src := &source{r: f, drop: func() { f.Close(); s.fs.Remove(name) }}
	if src.size, err = io.Copy(f, r); err != nil {
		src.drop()
		return nil, diskError("spool", err)
	}
	return src, nil
}

const spoolPrefix = "put-"

// emptySpool removes the copies that a crash left.
func (s *Store) emptySpool() error {
	dir := filepath.Join(s.dir, spoolDir)
	entries, err := s.fs.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), spoolPrefix) {
			err = errors.Join(err, s.fs.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// digests of a file.
type digests struct {
	sha Digest
	md5 [16]byte
	crc uint32
}

// digest computes the digests of the source, in one pass. It does not compute an MD5 that is known.
func (src *source) digest(ctx context.Context, known *Digests) (d digests, err error) {
	sha, sum := sha256.New(), md5.New()
	hashes := []hash.Hash{sha, sum}
	if known != nil {
		hashes, d.md5 = hashes[:1], known.MD5
	}
	err = src.each(ctx, func(b []byte) {
		d.crc = crc32.Update(d.crc, crc32.IEEETable, b)
		for _, h := range hashes {
			h.Write(b)
		}
	})
	sha.Sum(d.sha[:0])
	if known == nil {
		sum.Sum(d.md5[:0])
	} else if err == nil && d.sha != Digest(known.SHA256) {
		err = fmt.Errorf("content: %w: expected %s, got %s", ErrDigest, Digest(known.SHA256), d.sha)
	}
	return d, err
}

// each calls f with the source piece by piece.
func (src *source) each(ctx context.Context, f func([]byte)) error {
	var buf []byte
	if src.data == nil {
		buf = make([]byte, copyBlock)
	}
	for off := int64(0); off < src.size; off += copyBlock {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := min(copyBlock, src.size-off)
		if src.data != nil {
			f(src.data[off : off+n])
			continue
		}
		if k, err := src.r.ReadAt(buf[:n], off); int64(k) < n {
			return fmt.Errorf("content: read: %w", err)
		}
		f(buf[:n])
	}
	return nil
}

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// view returns slices of a file that may be bigger than memory.
type view struct {
	r      io.ReaderAt
	size   int64
	blocks [viewBlocks]viewBlock
	tick   int64
	err    error // the first; afterwards every slice is empty
}

type viewBlock struct {
	at   int64
	data []byte
	used int64
}

const (
	viewBlocks   = 8
	viewBlockLen = 1 << 20
)

func newView(r io.ReaderAt, size int64, data []byte) *view {
	v := &view{r: r, size: size}
	if data != nil {
		v.blocks[0] = viewBlock{data: data}
	}
	return v
}

// from returns some bytes that begin at off, none at the end of the file or after an error.
func (v *view) from(off int64) []byte {
	b, at := v.block(off)
	if b == nil {
		return nil
	}
	return b[off-at:]
}

// upTo returns some bytes that end before off.
func (v *view) upTo(off int64) []byte {
	b, at := v.block(off - 1)
	if b == nil {
		return nil
	}
	return b[:off-at]
}

// block returns the block that contains off and its offset.
func (v *view) block(off int64) ([]byte, int64) {
	if off < 0 || off >= v.size || v.err != nil {
		return nil, 0
	}
	v.tick++
	oldest := &v.blocks[0]
	for i := range v.blocks {
		b := &v.blocks[i]
		if off >= b.at && off < b.at+int64(len(b.data)) {
			b.used = v.tick
			return b.data, b.at
		}
		if b.used < oldest.used {
			oldest = b
		}
	}
	at := off - off%viewBlockLen
	n := int(min(viewBlockLen, v.size-at))
	if cap(oldest.data) < n {
		oldest.data = make([]byte, n)
	}
	oldest.at, oldest.used, oldest.data = at, v.tick, oldest.data[:n]
	if k, err := v.r.ReadAt(oldest.data, at); k < n {
		v.err, oldest.data = fmt.Errorf("content: read: %w", err), nil
		return nil, 0
	}
	return oldest.data, at
}

// slice returns the bytes from a to b, at most maxRaw of them, copied to buf unless they are consecutive in memory.
func (v *view) slice(a, b int64, buf []byte) ([]byte, error) {
	part := v.from(a)
	if int64(len(part)) >= b-a {
		return part[:b-a], nil
	}
	buf = buf[:0]
	for a < b {
		part := v.from(a)
		if len(part) == 0 {
			if v.err != nil {
				return nil, v.err
			}
			return nil, io.ErrUnexpectedEOF
		}
		part = part[:min(int64(len(part)), b-a)]
		buf = append(buf, part...)
		a += int64(len(part))
	}
	return buf, nil
}
