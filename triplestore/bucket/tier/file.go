package tier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

// handle is a finished file that is open for reading. ReadAt and Read get cold bytes from the bucket without keeping
// them, for those who read whole files once; ReadRange keeps them.
type handle struct {
	f    *FS
	o    *object
	path string

	once sync.Once // of Close

	mu   sync.Mutex // guards the fields below, while cold bytes are read
	at   int64      // of Read
	win  []byte     // bytes of the file from winAt on
	from int64
	next int64 // the end of what was fetched last
	size int64 // of the last fetch
}

// File is what OpenFile returns for a finished file, beside disk.File.
type File interface {
	disk.File
	// ReadRange reads like ReadAt. Of a file that is only in the bucket, it fetches the bytes up to until at once, and
	// keeps them in the cache.
	ReadRange(b []byte, at, until int64) (int, error)
	// Distrust discards local copies of a range that is wrong. It reports whether there were any, so that another read
	// may return other bytes.
	Distrust(from, to int64) bool
}

var _ File = (*handle)(nil)

// Sizes of what ReadAt fetches of a cold file: at least the first, and up to the second if the file is read in order.
const (
	minFetch = 64 << 10
	maxFetch = 4 << 20
)

// ReadAt implements io.ReaderAt.
func (h *handle) ReadAt(b []byte, at int64) (int, error) {
	if n, err, ok := h.readLocal(b, at); ok {
		return n, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.readThrough(b, at)
}

// readLocal reads the local file, if there is one.
func (h *handle) readLocal(b []byte, at int64) (n int, err error, ok bool) {
	o := h.o
	o.reading.RLock()
	defer o.reading.RUnlock()
	h.f.mu.Lock()
	file, local := o.file, o.local
	if file != nil || local {
		h.f.stats.Hits++
	}
	h.f.mu.Unlock()
	if file == nil {
		if !local {
			return 0, nil, false
		}
		if file, err = h.f.openLocal(o, h.path); errors.Is(err, fs.ErrNotExist) { // removed, or dropped by another process
			if h.f.o.ReadOnly {
				h.f.mu.Lock()
				o.local = false
				h.f.mu.Unlock()
				h.f.reload()
			}
			return 0, nil, false
		}
		if err != nil {
			return 0, err, true
		}
	}
	n, err = file.ReadAt(b, at)
	return n, err, true
}

// openLocal opens the local file of an object for all its handles. The caller holds o.reading.
func (f *FS) openLocal(o *object, path string) (disk.File, error) {
	file, err := f.local.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.file != nil { // another reader was faster
		return o.file, file.Close()
	}
	o.file = file
	return file, nil
}

// readThrough reads cold bytes into the window. The caller holds mu.
func (h *handle) readThrough(b []byte, at int64) (n int, err error) {
	size := h.f.sizeOf(h.o)
	for n < len(b) && at < size {
		if at < h.from || at >= h.from+int64(len(h.win)) {
			if err := h.fill(at, int64(len(b)-n), size); errors.Is(err, io.ErrUnexpectedEOF) { // as of a local file that is too short
				return n, io.EOF
			} else if err != nil {
				return n, err
			}
		}
		c := copy(b[n:], h.win[at-h.from:])
		n, at = n+c, at+int64(c)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) fill(at, want, size int64) error {
	length := max(want, minFetch)
	if at == h.next && h.next > 0 {
		length = max(length, min(2*h.size, maxFetch))
	}
	length = min(length, size-at)
	win, err := h.f.get(h.o, at, length, h.win[:0])
	if errors.Is(err, io.ErrUnexpectedEOF) && len(win) > 0 { // the next fill fails
		err = nil
	}
	if err != nil {
		h.win = h.win[:0]
		return err
	}
	h.win, h.from, h.next, h.size = win, at, at+length, length
	return nil
}

// Read implements io.Reader.
func (h *handle) Read(b []byte) (int, error) {
	h.mu.Lock()
	at := h.at
	h.mu.Unlock()
	n, err := h.ReadAt(b, at)
	h.mu.Lock()
	h.at = at + int64(n)
	h.mu.Unlock()
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Seek implements io.Seeker.
func (h *handle) Seek(offset int64, whence int) (int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += h.at
	case io.SeekEnd:
		offset += h.f.sizeOf(h.o)
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek %s: %w", h.o.name, fs.ErrInvalid)
	}
	h.at = offset
	return offset, nil
}

// Close implements io.Closer. It may be called twice.
func (h *handle) Close() error {
	h.once.Do(func() { h.f.release(h.o) })
	return nil
}

// release closes the local file with the last handle.
func (f *FS) release(o *object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.handles--; o.handles == 0 && o.file != nil {
		o.file.Close() // it was only read
		o.file = nil
	}
}

// Stat implements disk.File.
func (h *handle) Stat() (fs.FileInfo, error) { return fileInfo{h.o.name, h.f.sizeOf(h.o)}, nil }

// Name implements disk.File.
func (h *handle) Name() string { return h.path }

// Sync implements disk.File.
func (h *handle) Sync() error { return nil }

// Write implements disk.File. A finished file does not change.
func (h *handle) Write([]byte) (int, error) { return 0, fs.ErrPermission }

// WriteAt implements disk.File. A finished file does not change.
func (h *handle) WriteAt([]byte, int64) (int, error) { return 0, fs.ErrPermission }

// Truncate implements disk.File. A finished file does not change.
func (h *handle) Truncate(int64) error { return fs.ErrPermission }

func (f *FS) sizeOf(o *object) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return o.size
}

// get reads length bytes of an object from the bucket, appended to b. It ends within Options.Limit, and fails at once
// if the bucket has not answered lately. Of an object that is too short, it returns what there is, and
// io.ErrUnexpectedEOF.
func (f *FS) get(o *object, at, length int64, b []byte) ([]byte, error) {
	f.mu.Lock()
	away, why, stored, ended := time.Until(f.away) > 0, f.why, o.stored, f.ended
	f.touch(o)
	f.stats.Misses++
	f.mu.Unlock()
	if ended {
		return nil, fmt.Errorf("read %s: %w", o.name, fs.ErrClosed)
	}
	if !stored {
		return nil, fmt.Errorf("read %s: %w", o.name, fs.ErrNotExist)
	}
	if away {
		return nil, fmt.Errorf("read %s: %w", o.name, why)
	}
	ctx, cancel := context.WithTimeout(f.ctx, f.o.Limit)
	defer cancel()
	var err error
	for attempt := 0; attempt < 2; attempt++ { // of a download that was cut off, the rest is fetched
		var n int64
		if b, n, err = f.getOnce(ctx, o, at, length, b); err == nil && n == length {
			f.mu.Lock()
			f.stats.Read += n
			if f.why != nil {
				f.why, f.stats.Problem = nil, ""
			}
			f.mu.Unlock()
			return b, nil
		}
		at, length = at+n, length-n
		if errors.Is(err, bucket.ErrNotFound) {
			return nil, fmt.Errorf("read %s: its object is missing: %w", o.name, fs.ErrNotExist)
		}
		if err == nil {
			return b, fmt.Errorf("read %s: its object is too short: %w", o.name, io.ErrUnexpectedEOF)
		}
	}
	err = fmt.Errorf("%w: %w", bucket.ErrUnavailable, err)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.ReadFailures++
	if f.ctx.Err() == nil {
		f.away, f.why = time.Now().Add(f.o.Pause), err
		f.stats.Problem = err.Error()
	}
	return nil, fmt.Errorf("read %s: %w", o.name, err)
}

func (f *FS) getOnce(ctx context.Context, o *object, at, length int64, b []byte) ([]byte, int64, error) {
	r, _, err := f.o.Bucket.Get(ctx, o.name, at, length)
	if err != nil {
		return b, 0, err
	}
	have := len(b)
	if need := have + int(length); cap(b) < need {
		b = append(make([]byte, 0, need), b...)
	}
	n, err := io.ReadFull(r, b[have:have+int(length)])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, bucket.ErrUnavailable) {
		err = nil // the object is shorter
	}
	return b[:have+n], int64(n), errors.Join(err, r.Close())
}

// download copies a whole object to a local file, durably, without the time limit of reads.
func (f *FS) download(o *object, path string) error {
	file, err := f.local.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	size := f.sizeOf(o)
	buf := make([]byte, 0, maxFetch)
	for at := int64(0); at < size && err == nil; {
		n := min(maxFetch, size-at)
		if buf, err = f.get(o, at, n, buf[:0]); err == nil {
			_, err = file.WriteAt(buf, at)
			at += n
		}
	}
	if err == nil && !f.o.NoSync {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// open opens the local file of an object for an upload. It is not shared.
func (f *FS) openWhole(o *object) (disk.File, error) {
	return f.local.OpenFile(filepath.Join(f.o.Dir, o.name), os.O_RDONLY, 0)
}
