// Package ranges reads a file of the web in parts, as its readers ask for them.
//
// What was read is kept until Close, so no byte is requested twice. A part is as long as the reader wants, and longer
// where it reads on and on, so that few requests are made. A file that changes between two requests is an error.
package ranges

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"odarchive/crawler/web/spool"
)

// Part is what a host sent: bytes of the file from From on.
type Part struct {
	Body  *spool.File // finished; belongs to the File
	From  int64
	Total int64 // bytes of the file, negative if the host does not say
	// Whole reports that the host answered with the whole file, whatever was asked for. There is no Body then if only
	// a part was wanted.
	Whole bool

	ETag, LastModified string
}

// Get requests bytes from from to to, without to. With only, the whole file is not wanted; condition is for If-Range.
type Get func(ctx context.Context, from, to int64, condition string, only bool) (Part, error)

// The length of a request, in bytes.
const (
	minPart = 64 << 10
	maxPart = 64 << 20
)

// maxShort is how many answers may be shorter than asked for, and than minPart. A host that sends a file byte
// by byte would be asked for ever.
const maxShort = 64

// ErrTooMuch is wrapped by the error of a read that needs more bytes than the limit.
var ErrTooMuch = errors.New("it takes more bytes than allowed")

// File is a file of the web. Its methods may be called concurrently; requests are made one after the other.
type File struct {
	name  string
	get   Get
	limit int64
	size  int64
	first Part // without its body: what the file was at the first request

	mu      sync.Mutex
	ctx     context.Context // of the command that reads, since io.ReaderAt has no parameter for it
	parts   []Part          // in the order of From; they do not overlap
	fetched int64           // bytes of all parts
	window  int64           // length of the request before, if the next one goes on behind it
	end     int64           // where the request before ended
	short   int             // answers that were too short
	err     error           // the first error; reading ends with it
}

// Open requests bytes from from to to, and learns from the answer how long the file is. Later requests together with this
// one take at most limit bytes. The context is that of all requests. The caller must close the file.
func Open(ctx context.Context, name string, from, to, limit int64, get Get) (*File, error) {
	f := &File{name: name, get: get, limit: limit, ctx: ctx}
	part, err := get(ctx, from, min(to, from+limit), "", false)
	if err != nil {
		return nil, err
	}
	if f.size = part.Total; part.Whole {
		f.size = part.Body.Size()
	}
	f.add(part)
	f.first = part
	f.first.Body = nil
	return f, nil
}

// Size returns the length of the file.
func (f *File) Size() int64 { return f.size }

// Fetched returns how many bytes of the file were transferred.
func (f *File) Fetched() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fetched
}

// Close removes what was read.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	for _, p := range f.parts {
		err = errors.Join(err, p.Body.Remove())
	}
	f.parts = nil
	f.err = errors.New("ranges: the file is closed")
	return err
}

func (f *File) add(p Part) {
	i, _ := slices.BinarySearchFunc(f.parts, p.From, func(o Part, at int64) int { return int(min(max(o.From-at, -1), 1)) })
	f.parts = slices.Insert(f.parts, i, p)
	f.fetched += p.Body.Size()
	f.window, f.end = p.Body.Size(), p.From+p.Body.Size()
}

// find returns the part that has the byte at an offset. If there is none, before is where the part before it ends, and next
// where the next one begins.
func (f *File) find(at int64) (p *Part, before, next int64) {
	i, found := slices.BinarySearchFunc(f.parts, at, func(o Part, at int64) int { return int(min(max(o.From-at, -1), 1)) })
	if found {
		return &f.parts[i], 0, 0
	}
	if i > 0 {
		if before = f.parts[i-1].From + f.parts[i-1].Body.Size(); at < before {
			return &f.parts[i-1], 0, 0
		}
	}
	if i < len(f.parts) {
		return nil, before, f.parts[i].From
	}
	return nil, before, f.size
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("ranges: negative offset")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for n < len(b) {
		at := off + int64(n)
		if at >= f.size {
			return n, io.EOF
		}
		p, before, next := f.find(at)
		if p == nil {
			from := at
			switch {
			case at-before < minPart: // a reader that skips a little reads on, and small gaps would need requests later
				from = before
			case next-at < minPart: // readers of zips begin at the end and go back in small steps
				from = max(before, next-minPart)
			}
			if err := f.request(from, off+int64(len(b)), next); err != nil {
				return n, err
			}
			continue
		}
		want := min(int64(len(b)-n), p.From+p.Body.Size()-at)
		read, err := p.Body.ReadAt(b[n:n+int(want)], at-p.From)
		n += read
		if err != nil && (err != io.EOF || int64(read) < want) {
			return n, err
		}
	}
	return n, nil
}

// request requests bytes from at on: up to to at least, as far as the file and the gap before next go. The caller holds
// mu.
func (f *File) request(at, to, next int64) error {
	if f.err != nil {
		return f.err
	}
	length := max(minPart, f.fetched/32) // so that the number of requests grows with the logarithm of the bytes
	if at == f.end {
		length = max(length, 4*f.window)
	}
	end := min(max(to, at+min(length, maxPart)), next)
	if room := f.limit - f.fetched; end-at > room {
		if end = at + room; end < min(to, next) {
			f.err = fmt.Errorf("%s: %w: the limit is %d", f.name, ErrTooMuch, f.limit)
			return f.err
		}
	}
	part, err := f.get(f.ctx, at, end, f.condition(), true)
	if err == nil {
		err = f.same(part)
	}
	if err == nil && part.Whole {
		err = fmt.Errorf("%s: the host does not send parts of the file any more", f.name)
	}
	if err == nil && (part.From != at || part.Body.Size() == 0 || part.Body.Size() > end-at) {
		err = fmt.Errorf("%s: the host did not send the bytes from %d to %d", f.name, at, end)
	}
	if err != nil {
		f.err = err
		if part.Body != nil {
			f.err = errors.Join(err, part.Body.Remove())
		}
		return f.err
	}
	f.add(part)
	if size := part.Body.Size(); size < end-at && size < minPart {
		f.short++
	}
	if f.short > maxShort {
		f.err = fmt.Errorf("%s: the host sends far less than it is asked for, %d bytes of %d at last", f.name, part.Body.Size(), end-at)
	}
	return f.err
}

// condition returns what identifies the file as it was at the first request: a strong ETag, or the date.
func (f *File) condition() string {
	if f.first.ETag != "" && !strings.HasPrefix(f.first.ETag, "W/") {
		return f.first.ETag
	}
	return f.first.LastModified
}

// ChangedError is the error of reading a file that changed since it was opened.
type ChangedError struct{ Name, Why string }

func (e *ChangedError) Error() string {
	return e.Name + " changed while it was read: " + e.Why + "; nothing of it can be relied on, read it again"
}

// same returns a *ChangedError if a part is not of the file as it was at the first request.
func (f *File) same(p Part) error {
	switch {
	case p.Total != f.size && p.Total >= 0:
		return &ChangedError{f.name, fmt.Sprintf("it had %d bytes and has %d now", f.size, p.Total)}
	case p.ETag != f.first.ETag && p.ETag != "" && f.first.ETag != "":
		return &ChangedError{f.name, fmt.Sprintf("its ETag was %.100s and is %.100s now", f.first.ETag, p.ETag)}
	case p.LastModified != f.first.LastModified && p.LastModified != "" && f.first.LastModified != "":
		return &ChangedError{f.name, fmt.Sprintf("it was of %.40s and is of %.40s now", f.first.LastModified, p.LastModified)}
	}
	return nil
}
