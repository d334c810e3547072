package bagit

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// temporary is a file that is written, then read, then removed.
type temporary struct {
	*bufio.Writer
	file *os.File
}

func newTemporary(dir string) (*temporary, error) {
	f, err := os.CreateTemp(dir, "odarchive-bag-")
	if err != nil {
		return nil, err
	}
	return &temporary{bufio.NewWriterSize(f, 64<<10), f}, nil
}

// reader returns what was written.
func (t *temporary) reader() (io.Reader, error) {
	if err := t.Flush(); err != nil {
		return nil, err
	}
	_, err := t.file.Seek(0, io.SeekStart)
	return bufio.NewReaderSize(t.file, 64<<10), err
}

// remove removes the file. It may be called for nil, and twice.
func (t *temporary) remove() {
	if t != nil && t.file != nil {
		_ = errors.Join(t.file.Close(), os.Remove(t.file.Name())) // nobody needs it
		t.file = nil
	}
}
