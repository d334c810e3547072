package exec

import (
	"fmt"
	"io"
	"os"
)

// TempFile is a temporary file that is written at its end while it is read. It has no name, so it disappears with the
// process, and its bytes count against a Spill. Its methods must not be called concurrently.
type TempFile struct {
	space *Spill
	f     *os.File
	from  int64 // what is before it has been read
	to    int64
}

// Temp makes a temporary file. It returns nil if there are no temporary files.
func (s *Spill) Temp() (*TempFile, error) {
	if s == nil {
		return nil, nil
	}
	f, err := s.create()
	if err != nil {
		return nil, err
	}
	return &TempFile{space: s, f: f}, nil
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

// Append writes p after what the file has. It returns false, and writes nothing, if there is no room.
func (t *TempFile) Append(p []byte) (ok bool, err error) {
	n := int64(len(p))
	if t.space.used.Add(n) > t.space.limit {
		t.space.used.Add(-n)
		return false, nil
	}
	if _, err := t.f.WriteAt(p, t.to); err != nil {
		t.space.used.Add(-n)
		return false, fmt.Errorf("exec: write a %w: %w", ErrTemp, withoutPath(err))
	}
	t.to += n
	return true, nil
}

// Len returns how many bytes have not been read.
func (t *TempFile) Len() int64 { return t.to - t.from }

// Read reads the next bytes. It returns 0 if all have been read. Then their space is free again.
func (t *TempFile) Read(p []byte) (int, error) {
	p = p[:min(int64(len(p)), t.Len())]
	if len(p) == 0 {
		return 0, nil
	}
	n, err := t.f.ReadAt(p, t.from)
	if err != nil && err != io.EOF || n < len(p) {
		return n, fmt.Errorf("exec: read a %w: %w", ErrTemp, withoutPath(err))
	}
	if t.from += int64(n); t.from == t.to {
		if err := t.f.Truncate(0); err != nil {
			return n, fmt.Errorf("exec: empty a %w: %w", ErrTemp, withoutPath(err))
		}
		t.space.used.Add(-t.to)
		t.from, t.to = 0, 0
	}
	return n, nil
}

// Close removes the file. It may be called twice, and on nil.
func (t *TempFile) Close() {
	if t != nil && t.f != nil {
		t.f.Close() // nothing of it is needed any more
		t.f = nil
		t.space.used.Add(-t.to)
		t.from, t.to = 0, 0
	}
}
