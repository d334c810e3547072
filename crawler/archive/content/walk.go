package content

import (
	"errors"
	"io"
	"syscall"
)

// walkBlock is the number of bytes of a pack that are read at once.
const walkBlock = 1 << 20

// found is a record, or a damaged place, that walk found.
type found struct {
	head
	offset int64
	bytes  []byte // head and body, valid during the call
	wrong  string // what is wrong with it, "" if it matches its checksum
}

// walker reads the records of a pack in order, up to the byte end. After a damaged record it searches for the next
// sound one.
type walker struct {
	r     io.ReaderAt
	end   int64
	limit func(after int64) (int64, error) // returns where a search that starts at an offset ends, if not nil
	tired bool                             // a search reached maxSearch and ended

	searched int64
}

// maxSearch bounds the bytes whose checksums are computed while searching, since a file may be made to look like the
// heads of many records. It takes a few seconds.
const maxSearch = 16 << 30

// walk calls f with every record and every damaged place.
func (w *walker) walk(f func(found) error) error {
	block := make([]byte, walkBlock)
	var have []byte // the bytes that start at at
	for at := int64(packHead); at < w.end; {
		if len(have) < segmentHead+maxStored && at+int64(len(have)) < w.end {
			n, err := w.r.ReadAt(block[:min(walkBlock, w.end-at)], at)
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			have = block[:n]
		}
		s := inspect(have)
		s.offset = at
		if err := f(s); err != nil {
			return err
		}
		if s.wrong == "" {
			at, have = at+int64(len(s.bytes)), have[len(s.bytes):]
			continue
		}
		limit := w.end
		if w.limit != nil {
			var err error
			if limit, err = w.limit(at); err != nil {
				return err
			}
		}
		to, err := w.resync(at+1, min(limit, w.end))
		if err != nil {
			return err
		}
		at, have = to, nil
	}
	return nil
}

// inspect returns the record at the start of b.
func inspect(b []byte) (s found) {
	h, ok := parseHead(b)
	size := segmentHead + h.deflated
	s.head = h
	switch {
	case !ok:
		s.wrong = "no record begins there"
	case size > len(b):
		s.wrong = "the pack ends inside it"
	default:
		s.bytes = b[:size]
		_, _, s.wrong = checkSegment(s.bytes)
	}
	return s
}

// resync returns the offset of the first sound record between two offsets, or the second offset if there is none.
func (w *walker) resync(from, limit int64) (int64, error) {
	buf := make([]byte, walkBlock+segmentHead+maxStored)
	for ; from < limit; from += walkBlock {
		n, err := w.r.ReadAt(buf[:min(int64(len(buf)), w.end-from)], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if n == 0 { // the file ends earlier
			return limit, nil
		}
		b := buf[:n]
		for i := 0; i < min(len(b), walkBlock) && from+int64(i) < limit; i++ {
			if !isMark(b[i]) {
				continue
			}
			h, ok := parseHead(b[i:])
			if !ok || segmentHead+h.deflated > len(b)-i {
				continue
			}
			if w.searched += int64(segmentHead + h.deflated); w.searched > maxSearch {
				w.tired = true
				return limit, nil
			}
			if inspect(b[i:]).wrong == "" {
				return from + int64(i), nil
			}
		}
	}
	return limit, nil
}

// tolerant reads bad sectors of a file as zeros, which match no checksum.
type tolerant struct {
	r          io.ReaderAt
	unreadable int   // the number of bad sectors that were read
	failed     error // why bytes could not be read at the time, which says nothing about them
}

// ReadAt implements io.ReaderAt. Bad sectors are no error.
func (t *tolerant) ReadAt(b []byte, at int64) (n int, err error) {
	n, err = t.r.ReadAt(b, at)
	if !isUnreadable(err) {
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.failed = err
		}
		return n, err
	}
	for n = 0; n < len(b); {
		part := b[n:min(len(b), n+int(parityBlock-(at+int64(n))%parityBlock))]
		k, err := t.r.ReadAt(part, at+int64(n))
		switch {
		case err == nil || k == len(part):
		case isUnreadable(err):
			clear(part)
			t.unreadable++
		default:
			return n + k, err
		}
		n += len(part)
	}
	return n, nil
}

// isUnreadable reports whether an error is caused by a bad sector.
func isUnreadable(err error) bool { return errors.Is(err, syscall.EIO) }
