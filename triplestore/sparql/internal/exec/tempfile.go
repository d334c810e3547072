package exec

import (
	"fmt"
	"os"
)

// TempFile is a queue of bytes in a temporary file. The file has no name, so it disappears with the process, and its
// bytes count against a Spill. Its methods must not be called concurrently.
type TempFile struct {
	space *Spill
	f     *os.File
	max   int64 // of the file, which is used as a ring
	size  int64 // of the file, counted against space
	from  int64 // how many bytes have been read
	to    int64 // how many have been written
}

// Temp makes a temporary file that holds up to size bytes. It returns nil if there are no temporary files.
func (s *Spill) Temp(size int64) (*TempFile, error) {
	if s == nil {
		return nil, nil
	}
	f, err := s.create()
	if err != nil {
		return nil, fmt.Errorf("exec: %w: %w", ErrTemp, withoutPath(err))
	}
	return &TempFile{space: s, f: f, max: size}, nil
}

// create makes a file and removes its name.
func (s *Spill) create() (*os.File, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.dir, "query-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Append appends p to the queue. If there is no room for p, it appends nothing and returns false.
func (t *TempFile) Append(p []byte) (ok bool, err error) {
	n := int64(len(p))
	if t.Len()+n > t.max {
		return false, nil
	}
	more := max(0, min(t.max, t.to+n)-t.size)
	if t.space.used.Add(more) > t.space.limit {
		t.space.used.Add(-more)
		return false, nil
	}
	t.size += more
	for len(p) > 0 {
		at := t.to % t.max
		k := min(int64(len(p)), t.max-at)
		if _, err := t.f.WriteAt(p[:k], at); err != nil {
			return false, fmt.Errorf("exec: write %w: %w", ErrTemp, withoutPath(err))
		}
		p = p[k:]
		t.to += k
	}
	return true, nil
}

// Len returns the number of bytes in the queue, Size the length of the file.
func (t *TempFile) Len() int64  { return t.to - t.from }
func (t *TempFile) Size() int64 { return t.size }

// Read removes bytes from the queue. It returns 0 if the queue is empty. When the queue becomes empty, the file is
// truncated.
func (t *TempFile) Read(p []byte) (int, error) {
	at := t.from % max(t.max, 1)
	p = p[:min(int64(len(p)), t.Len(), t.max-at)]
	if len(p) == 0 {
		return 0, nil
	}
	if n, err := t.f.ReadAt(p, at); n < len(p) {
		return n, fmt.Errorf("exec: read %w: %w", ErrTemp, withoutPath(err))
	}
	if t.from += int64(len(p)); t.from == t.to {
		if err := t.f.Truncate(0); err != nil {
			return len(p), fmt.Errorf("exec: empty %w: %w", ErrTemp, withoutPath(err))
		}
		t.space.used.Add(-t.size)
		t.from, t.to, t.size = 0, 0, 0
	}
	return len(p), nil
}

// Close removes the file. It may be called twice, and on nil.
func (t *TempFile) Close() {
	if t != nil && t.f != nil {
		t.f.Close() // nothing of it is needed any more
		t.f = nil
		t.space.used.Add(-t.size)
		t.from, t.to, t.size = 0, 0, 0
	}
}
