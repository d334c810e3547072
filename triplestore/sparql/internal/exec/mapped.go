package exec

import (
	"runtime/debug"
	"unsafe"

	"odarchive/triplestore/term"
)

// mapped is memory for values of a fixed size that lies in a temporary file: the operating system writes it out when it
// needs the room. It is not counted against the budget of the query, but against the space of files. Whoever reads it
// must not outlive it.
type mapped struct {
	space *Spill
	data  []byte
}

// mapped returns n zero bytes, n > 0. All of the file is written at once, because a disk that is full later would end
// the process.
func (s *Spill) mapped(n int) (m *mapped, err error) {
	if s.used.Add(int64(n)) > s.limit {
		s.used.Add(-int64(n))
		return nil, &LimitError{Limit: ErrMemory, Value: s.limit, Disk: true}
	}
	defer func() {
		if err != nil {
			s.used.Add(-int64(n))
			err = tempError(err)
		}
	}()
	f, err := s.create()
	if err != nil {
		return nil, err
	}
	defer f.Close() // the mapping keeps it
	zeros := make([]byte, min(n, 1<<20))
	for left := n; left > 0; left -= len(zeros) {
		if _, err := f.Write(zeros[:min(left, len(zeros))]); err != nil {
			return nil, err
		}
	}
	data, err := mapFile(f, n)
	if err != nil {
		return nil, err
	}
	return &mapped{space: s, data: data}, nil
}

// ids and numbers return the memory as values. It begins at a page, so that values are aligned.
func (m *mapped) ids() []term.ID {
	return unsafe.Slice((*term.ID)(unsafe.Pointer(unsafe.SliceData(m.data))), len(m.data)/8)
}

func (m *mapped) numbers() []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(m.data))), len(m.data)/4)
}

// free gives the memory back. It may be called twice, and on nil.
func (m *mapped) free() {
	if m != nil && m.data != nil {
		m.space.used.Add(-int64(len(m.data)))
		unmapFile(m.data)
		m.data = nil
	}
}

// guardMapped makes a disk that fails to read a mapped file a panic of this goroutine, which ends the query, instead of
// the end of the process. The caller defers the result.
func guardMapped() func() {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}
