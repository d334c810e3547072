// Package ranges reads a file of the web at random, with range requests.
//
// The parts of the file that were received are kept until Close, so no byte is requested twice. Requests become longer
// while a reader reads sequentially, so that there are few of them. If the file changes between two requests, reading
// fails.
package ranges

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"odarchive/crawler/web/spool"
)

// Part is the answer to one request: the bytes of the file from From on.
type Part struct {
	Body  *spool.File // complete; the File removes it
	From  int64
	Total int64 // length of the file in bytes, negative if unknown
	// Whole reports that the host answered with the whole file instead of a part. Body is nil then if Get was called
	// with only.
	Whole bool

	ETag, LastModified string
}

// Get requests the bytes from from up to, but not including, to. condition is the value for If-Range, "" for none. If
// only is set and the host answers with the whole file, Get does not read it.
type Get func(ctx context.Context, from, to int64, condition string, only bool) (Part, error)

// The length of a request, in bytes.
const (
	minPart = 64 << 10
	maxPart = 64 << 20
)

// maxShort is the maximum number of answers that are shorter than both the request and minPart. A host that sends a few
// bytes at a time would otherwise cause endless requests.
const maxShort = 64

// ErrTooMuch is wrapped by the error of a read that needs more bytes than the limit.
var ErrTooMuch = errors.New("it takes more bytes than allowed")

// File is a file of the web. Its methods may be called concurrently; only one request is made at a time.
type File struct {
	name  string
	get   Get
	limit int64
	size  int64
	first Part // the first answer, without its body

	mu      sync.Mutex      // guards what follows
	ctx     context.Context // for requests; io.ReaderAt has no parameter for it
	parts   []Part          // in the order of From; they do not overlap
	fetched int64           // bytes of all parts
	window  int64           // length of the last part received
	end     int64           // offset after the last part received
	short   int             // answers that were too short, see maxShort
	err     error           // the first error, which all later reads return
}

// Open opens a file. It requests the bytes from from up to, but not including, to, and learns the length of the file
// from the answer. All requests together receive at most limit bytes. ctx applies to all requests. The caller must
// Close the file.
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

// Fetched returns the number of bytes received so far.
func (f *File) Fetched() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fetched
}

// Close removes the parts. Later reads fail.
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

// search returns the index of the first part that does not begin before an offset, and whether it begins there.
func (f *File) search(at int64) (int, bool) {
	return slices.BinarySearchFunc(f.parts, at, func(p Part, at int64) int { return cmp.Compare(p.From, at) })
}

// add adds a part that overlaps no other.
func (f *File) add(p Part) {
	i, _ := f.search(p.From)
	f.parts = slices.Insert(f.parts, i, p)
	f.fetched += p.Body.Size()
	f.window, f.end = p.Body.Size(), p.From+p.Body.Size()
}

// find returns the part with the byte at an offset. If there is none, p is nil, and the offset is in a gap from before
// up to, but not including, next.
func (f *File) find(at int64) (p *Part, before, next int64) {
	i, found := f.search(at)
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
			case at-before < minPart: // do not leave a small gap, which may need a request of its own later
				from = before
			case next-at < minPart: // readers of zips go backwards from the end in small steps
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

// request requests the bytes from at on, at least up to to but not beyond next, where the gap ends. The caller holds
// mu.
func (f *File) request(at, to, next int64) error {
	if f.err != nil {
		return f.err
	}
	length := max(minPart, f.fetched/32) // the number of requests grows with the logarithm of the bytes
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
		f.err = fmt.Errorf("%s: the host sends far less than it is asked for, the last time %d of %d bytes", f.name, part.Body.Size(),
			end-at)
	}
	return f.err
}

// condition returns the value of If-Range: the strong ETag of the first answer, or its date.
func (f *File) condition() string {
	if f.first.ETag != "" && !strings.HasPrefix(f.first.ETag, "W/") {
		return f.first.ETag
	}
	return f.first.LastModified
}

// ChangedError is the error of reading a file that changed since it was opened.
type ChangedError struct{ Name, Why string }

func (e *ChangedError) Error() string {
	return e.Name + " changed while it was read: " + e.Why + "; read it again from the start"
}

// same returns a *ChangedError if a part shows that the file has changed since the first request.
func (f *File) same(p Part) error {
	switch {
	case p.Total != f.size && p.Total >= 0:
		return &ChangedError{f.name, fmt.Sprintf("it had %d bytes and has %d now", f.size, p.Total)}
	case p.ETag != f.first.ETag && p.ETag != "" && f.first.ETag != "":
		return &ChangedError{f.name, fmt.Sprintf("its ETag was %.100s and is %.100s now", f.first.ETag, p.ETag)}
	case p.LastModified != f.first.LastModified && p.LastModified != "" && f.first.LastModified != "":
		return &ChangedError{f.name, fmt.Sprintf("its date was %.40s and is %.40s now", f.first.LastModified, p.LastModified)}
	}
	return nil
}
