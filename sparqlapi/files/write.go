package files

import (
	"errors"
	"io"
	"slices"
	"sort"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
)

// WriteTo writes the whole zip. It returns the number of bytes written.
func (p *Plan) WriteTo(w io.Writer, c BundleContents) (int64, error) {
	out := &section{w: w, left: p.size}
	err := p.write(out, c, 0)
	return out.done, err
}

// WriteRange writes length bytes from offset on, or fewer at the end. It returns the number of bytes written.
func (p *Plan) WriteRange(w io.Writer, c BundleContents, offset, length int64) (int64, error) {
	out := &section{w: w, left: min(length, p.size-offset)}
	err := p.write(out, c, offset)
	return out.done, err
}

// section skips some bytes, writes a number of bytes, and then returns errDone.
type section struct {
	w    io.Writer
	skip int64
	left int64
	done int64
}

var errDone = errors.New("bundle: the range is complete")

func (s *section) Write(b []byte) (int, error) {
	n := len(b)
	if s.skip > 0 {
		k := min(s.skip, int64(n))
		s.skip -= k
		b = b[k:]
	}
	if int64(len(b)) > s.left {
		b = b[:s.left]
	}
	if len(b) > 0 {
		k, err := s.w.Write(b)
		s.left -= int64(k)
		s.done += int64(k)
		if err != nil {
			return n, err
		}
	}
	if s.left == 0 {
		return n, errDone
	}
	return n, nil
}

// write writes the zip from offset on until the section is complete.
func (p *Plan) write(out *section, c BundleContents, offset int64) error {
	return out.complete(p.steps(out, c, offset))
}

// complete returns the error of a section after err ended its writing: nil if all of it is written.
func (s *section) complete(err error) error {
	if err == errDone || (err == nil && s.left == 0) {
		return nil
	}
	if err == nil {
		err = errors.New("bundle: the file ended before its planned length")
	}
	return err
}

func (p *Plan) steps(out *section, c BundleContents, offset int64) error {
	if out.left <= 0 {
		return nil
	}
	var scratch []byte
	for i := range p.made {
		f := &p.made[i]
		if offset >= f.end() {
			continue
		}
		out.skip = max(offset-f.offset, 0)
		scratch = appendLocal(scratch[:0], f)
		if _, err := out.Write(scratch); err != nil {
			return err
		}
		if err := documents[i].write(out, p); err != nil {
			return err
		}
	}
	first := sort.Search(len(p.offsets), func(i int) bool { return p.offsets[i] > offset }) - 1
	ahead := fetchAhead(c, p.entries[max(first, 0):])
	defer ahead.Close()
	for i := max(first, 0); i < len(p.entries) && offset < p.central; i++ {
		var err error
		if out.left > aheadFrom {
			ahead.At(i - max(first, 0))
		}
		if scratch, err = p.writeEntry(out, c, i, max(offset-p.offsets[i], 0), scratch); err != nil {
			return err
		}
	}
	return p.writeDirectory(out, offset, scratch)
}

// aheadFrom is the number of bytes that must be left to write, so that fetching further entries is worth it.
const aheadFrom = 1 << 20

// fetchAhead fetches the bytes of entries before they are read, if they are in a bucket. It returns nil if they are
// not.
func fetchAhead(c BundleContents, entries []Entry) *content.Ahead {
	store, ok := c.(*content.Store)
	if !ok {
		return nil
	}
	return store.Ahead(len(entries), func(i int) ([32]byte, uint64, bool) {
		e := &entries[i]
		return e.Ref.SHA256, e.Ref.Layout, e.Member == nil
	})
}

// ready returns the error of reading the first entry, if that is because its bytes are in a bucket that is away.
func ready(c BundleContents, entries []Entry) error {
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Member == nil })
	if i < 0 {
		return nil
	}
	d, err := c.Deflated(entries[i].Ref.SHA256, entries[i].Ref.Layout)
	if err == nil {
		defer d.Close()
		err = d.Ready()
	}
	if errors.Is(err, bucket.ErrUnavailable) {
		return err
	}
	return nil // any other error cuts the download off, as that of a later entry does
}

// writeEntry writes an entry without its first skip bytes. It returns scratch, which may have grown.
func (p *Plan) writeEntry(out *section, c BundleContents, i int, skip int64, scratch []byte) ([]byte, error) {
	f := p.file(i)
	headSize := f.localSize()
	if skip < headSize {
		out.skip = skip
		scratch = appendLocal(scratch[:0], &f)
		if _, err := out.Write(scratch); err != nil {
			return scratch, err
		}
		skip = headSize
	}
	if e := &p.entries[i]; e.Member != nil {
		out.skip = skip - headSize
		return scratch, p.writeMember(out, e)
	}
	if skip-headSize < f.packed-int64(len(content.Tail)) {
		if err := writeBody(out, c, &p.entries[i], p.iri(&p.entries[i]), skip-headSize); err != nil {
			return scratch, err
		}
		skip = headSize + p.entries[i].Ref.DeflateSize
	}
	out.skip = skip - headSize - p.entries[i].Ref.DeflateSize
	_, err := out.Write([]byte(content.Tail))
	return scratch, err
}

// writeMember unpacks a member, and returns an error if its bytes are not those planned.
func (p *Plan) writeMember(out *section, e *Entry) error {
	sum := &meter{}
	err := e.Member.Write(io.MultiWriter(sum, out))
	if errors.Is(err, errDone) {
		return errDone
	}
	if err == nil && (sum.size != e.Ref.Size || sum.crc != e.Ref.CRC32) {
		err = errors.New("it unpacks to other bytes than before")
	}
	if err != nil {
		return &EntryError{Name: e.Name, Version: p.iri(e), Err: err}
	}
	return nil
}

// writeBody writes the segments of a version from an offset on. iri is for errors.
func writeBody(out *section, c BundleContents, e *Entry, iri string, from int64) error {
	failed := func(err error) error { return &EntryError{Name: e.Name, Version: iri, Err: err} }
	d, err := c.Deflated(e.Ref.SHA256, e.Ref.Layout)
	if err != nil {
		return failed(err)
	}
	defer d.Close()
	if d.Size() != e.Ref.DeflateSize {
		return failed(errors.New("its stored size has changed"))
	}
	if _, err := d.Seek(from, io.SeekStart); err != nil {
		return failed(err)
	}
	if _, err := d.WriteTo(out); err != nil {
		if errors.Is(err, content.ErrDamaged) || errors.Is(err, content.ErrNotFound) {
			err = failed(err)
		}
		return err
	}
	return nil
}

// writeDirectory writes the part of the directory behind an offset of the zip.
func (p *Plan) writeDirectory(out *section, offset int64, scratch []byte) error {
	const enough = 32 << 10
	scratch = scratch[:0]
	mark := max(0, sort.Search(len(p.marks), func(i int) bool { return p.marks[i] > offset })-1)
	out.skip = max(offset-p.marks[mark], 0)
	for i := mark * markEvery; i < p.count(); i++ {
		f := p.listed(i)
		scratch = appendCentral(scratch, &f)
		if len(scratch) >= enough {
			if _, err := out.Write(scratch); err != nil {
				return err
			}
			scratch = scratch[:0]
		}
	}
	scratch = appendEnd(scratch, p.count(), p.directorySize(), p.central)
	_, err := out.Write(scratch)
	return err
}

func (p *Plan) directorySize() int64 {
	var buf [128]byte
	size := p.size - p.central // with the end record, whose length depends only on whether it has zip64 fields
	short := int64(len(appendEnd(buf[:0], 0, 0, 0)))
	if p.count() >= max16 || p.central >= max32 || size-short >= max32 {
		return size - int64(len(appendEnd(buf[:0], p.count(), max32, max32)))
	}
	return size - short
}

// EntryError is a failure to write an entry.
type EntryError struct {
	Name    string
	Version string
	Err     error
}

func (e *EntryError) Error() string {
	return "bundle: entry " + e.Name + " (" + e.Version + "): " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *EntryError) Unwrap() error { return e.Err }
