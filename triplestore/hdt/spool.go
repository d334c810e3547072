package hdt

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
)

// spool keeps bytes until they are copied: in memory if there are few, otherwise in a temporary file. Like a
// bufio.Writer it keeps its first error; copyTo and open return it.
type spool struct {
	dir  string // for the temporary file
	mem  []byte // bytes that are not in the file yet
	file *os.File
	n    int64  // number of all bytes
	sum  uint32 // CRC-32C of all bytes
	err  error
}

// spoolMemory is the maximum number of bytes that a spool keeps in memory.
const spoolMemory = 256 << 10

func (s *spool) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	s.n += int64(len(b))
	s.sum = crc32.Update(s.sum, castagnoli(), b)
	if len(s.mem)+len(b) > spoolMemory {
		if s.flush(); s.err != nil {
			return 0, s.err
		}
	}
	s.mem = append(s.mem, b...)
	return len(b), nil
}

// flush moves the bytes in memory to the file.
func (s *spool) flush() {
	if s.file == nil {
		if s.file, s.err = os.CreateTemp(s.dir, "part-*"); s.err != nil {
			return
		}
	}
	_, s.err = s.file.Write(s.mem)
	s.mem = s.mem[:0]
}

// open returns a reader of all bytes. The spool must not be written to afterwards.
func (s *spool) open() (io.Reader, error) {
	if s.err == nil && s.file != nil {
		if s.flush(); s.err == nil {
			_, s.err = s.file.Seek(0, io.SeekStart)
		}
	}
	switch {
	case s.err != nil:
		return nil, s.err
	case s.file != nil:
		return s.file, nil
	}
	return bytes.NewReader(s.mem), nil
}

// copyTo writes all bytes and their checksum to w.
func (s *spool) copyTo(w io.Writer) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		return err
	}
	_, err = w.Write(binary.LittleEndian.AppendUint32(nil, s.sum))
	return err
}

// close removes the temporary file. It may be called twice.
func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
		s.file = nil
	}
	s.mem = nil
}
