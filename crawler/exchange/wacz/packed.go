package wacz

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// room has the one compressed file of a package that is currently unpacked. There is only one because a package may
// have more files than a process may open.
type room struct {
	mu    sync.Mutex // guards what follows
	entry *zip.File  // the unpacked file; nil if there is none
	file  *os.File   // temporary file with its content
}

// packedFile is a compressed file of a package. It is unpacked when it is read.
type packedFile struct {
	room  *room
	entry *zip.File
	temp  string // folder for the temporary file
}

// DamagedError is the error about a file of a package that is damaged. Other files of the package may be sound.
type DamagedError struct {
	Name string // of the file in the package
	Err  error
}

func (e *DamagedError) Error() string { return fmt.Sprintf("unpack %.200q: %v", e.Name, e.Err) }

func (e *DamagedError) Unwrap() error { return e.Err }

// damaged is the reader of a file that is not where the package says.
type damaged struct{ err *DamagedError }

func (d damaged) ReadAt([]byte, int64) (int, error) { return 0, d.err }

// isDamage reports whether an error of unpacking means that the package is damaged, and not that reading or writing
// failed.
func isDamage(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrAlgorithm) || errors.Is(err, zip.ErrChecksum) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}

// ReadAt implements io.ReaderAt. Do not read two files of a package in turns: each change unpacks a file again.
func (p *packedFile) ReadAt(b []byte, off int64) (int, error) {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	if p.room.entry != p.entry {
		err := p.room.unpack(p.entry, p.temp)
		if isDamage(err) {
			return 0, &DamagedError{p.entry.Name, err}
		}
		if err != nil {
			return 0, fmt.Errorf("unpack %.200q: %w", p.entry.Name, err)
		}
	}
	return p.room.file.ReadAt(b, off)
}

// unpack replaces the file in the room. The caller holds mu.
func (r *room) unpack(entry *zip.File, temp string) error {
	if err := r.remove(); err != nil {
		return err
	}
	in, err := entry.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	if r.file, err = os.CreateTemp(temp, "odarchive-wacz-"); err != nil {
		return err
	}
	n, err := io.Copy(r.file, io.LimitReader(in, maxUnpacked+1))
	if err == nil && n > maxUnpacked {
		err = fmt.Errorf("it is longer than %d bytes", int64(maxUnpacked))
	}
	if err != nil {
		return errors.Join(err, r.remove())
	}
	r.entry = entry
	return nil
}

// remove removes the file in the room, if there is one. The caller holds mu.
func (r *room) remove() error {
	if r.file == nil {
		return nil
	}
	err := errors.Join(r.file.Close(), os.Remove(r.file.Name()))
	r.entry, r.file = nil, nil
	return err
}

// empty removes the file in the room. The caller must not hold mu.
func (r *room) empty() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.remove()
}
