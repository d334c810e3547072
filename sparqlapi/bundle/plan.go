package bundle

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"sort"
	"sync"
	"time"

	"odarchive/crawler/content"
	"odarchive/sparqlapi/problem"
)

// ErrEmpty says that a zip would hold no version.
var ErrEmpty = errors.New("no version is selected")

// Plan is a zip whose every byte is settled. It holds the list of entries and nothing else, and may be used by several
// goroutines.
type Plan struct {
	meta     Meta
	entries  []Entry
	leftOut  []Entry
	made     []file  // manifest and metadata
	offsets  []int64 // of the entries' local heads
	central  int64   // offset of the central directory
	marks    []int64 // offsets of every markEvery-th entry of the directory
	size     int64
	rawSize  int64
	modified time.Time // of the newest entry
	etag     string
}

var documents = [...]document{manifest, metadata}

// New settles a zip of the entries. It takes them over, drops those whose version stands in them already, and gives
// them safe and unique names. No entries: ErrEmpty; none but those that are left out: a problem of status 422.
func New(entries []Entry, meta Meta) (*Plan, error) {
	p := &Plan{meta: meta}
	entries = keep(unique(entries), func(e *Entry) bool {
		if e.LeftOut != "" {
			p.leftOut = append(p.leftOut, *e)
		}
		return e.LeftOut == ""
	})
	switch {
	case len(entries) > 0:
	case len(p.leftOut) > 0:
		return nil, problem.Newf(http.StatusUnprocessableEntity, "Nothing that is selected can be unpacked",
			"files that are selected: %d, and none can be had; the first is %s: %s", len(p.leftOut), p.leftOut[0].VersionIRI, p.leftOut[0].LeftOut)
	default:
		return nil, ErrEmpty
	}
	nameAll(entries)
	p.entries, p.offsets = entries, make([]int64, len(entries))
	for i := range entries {
		e := &entries[i]
		e.plain = isPlainASCII(e.URL) && isPlainASCII(e.VersionIRI) && isPlainASCII(e.MediaType) && isPlainASCII(e.Name)
		p.rawSize += e.Size
		if e.Modified.After(p.modified) {
			p.modified = e.Modified
		}
	}
	p.makeDocuments()
	at := p.made[len(p.made)-1].end()
	for i := range entries {
		p.offsets[i] = at
		f := p.file(i)
		at = f.end()
	}
	p.central = at
	for i := range p.count() {
		if i%markEvery == 0 {
			p.marks = append(p.marks, at)
		}
		f := p.listed(i)
		at += f.centralSize()
	}
	var buf [128]byte
	p.size = at + int64(len(appendEnd(buf[:0], p.count(), at-p.central, p.central)))
	return p, nil
}

// makeDocuments settles the first entries, and the tag: each runs through all entries, so they run beside one another.
func (p *Plan) makeDocuments() {
	newest := Entry{Modified: p.modified}
	var running sync.WaitGroup
	p.made = make([]file, len(documents))
	for i, name := range []string{manifestName, metadataName} {
		running.Go(func() {
			size, crc := measure(documents[i], p)
			p.made[i] = file{name: name, method: methodStore, crc: crc, size: size, packed: size, modified: newest.modified()}
		})
	}
	running.Go(func() { p.etag = p.hash() })
	running.Wait()
	at := int64(0)
	for i := range p.made {
		p.made[i].offset = at
		at = p.made[i].end()
	}
}

// hash covers everything that the zip's bytes depend on.
func (p *Plan) hash() string {
	sum := sha256.New()
	var b []byte
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	text("odarchive bundle 2") // raise the number with every change of how the bytes are made
	text(p.meta.Base)
	text(p.meta.Title)
	text(p.meta.Query)
	for i := range p.entries {
		e := &p.entries[i]
		text(e.Name)
		text(e.URL)
		text(e.VersionIRI)
		text(e.MediaType)
		b = append(b, e.SHA256[:]...)
		b = append(b, e.MD5[:]...)
		b = binary.AppendUvarint(b, uint64(e.DeflateSize))
		b = binary.AppendUvarint(b, e.Layout)
		b = binary.AppendVarint(b, e.Modified.UnixMilli())
		sum.Write(b)
		b = b[:0]
	}
	for i := range p.leftOut {
		text(p.leftOut[i].VersionIRI)
		text(p.leftOut[i].LeftOut)
	}
	sum.Write(b)
	return `"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`
}

func (p *Plan) count() int { return len(p.made) + len(p.entries) }

// markEvery is how many entries of the directory are made in vain, at most, for a range that begins in it.
const markEvery = 256

// listed is what stands at place i of the directory.
func (p *Plan) listed(i int) file {
	if i < len(p.made) {
		return p.made[i]
	}
	return p.file(i - len(p.made))
}

// file is the entry i as the zip's structures have it.
func (p *Plan) file(i int) file {
	e := &p.entries[i]
	method := uint16(methodDeflate)
	if e.Member != nil {
		method = methodStore
	}
	return file{name: e.Name, method: method, crc: e.CRC32, size: e.Size, packed: e.dataSize(), offset: p.offsets[i], modified: e.modified()}
}

// Entries of the zip, with their final names. They are the plan's own.
func (p *Plan) Entries() []Entry { return p.entries }

// LeftOut are the entries that the zip only names, each with the reason in LeftOut.
func (p *Plan) LeftOut() []Entry { return p.leftOut }

// Size of the zip in bytes.
func (p *Plan) Size() int64 { return p.size }

// RawSize is the size of all entries when they are unpacked.
func (p *Plan) RawSize() int64 { return p.rawSize }

// ETag is strong: the same tag means the same bytes.
func (p *Plan) ETag() string { return p.etag }

// Modified is the time of the newest entry.
func (p *Plan) Modified() time.Time { return p.modified }

// WriteTo writes the whole zip.
func (p *Plan) WriteTo(w io.Writer, c Contents) (int64, error) {
	out := &section{w: w, left: p.size}
	err := p.write(out, c, 0)
	return out.done, err
}

// WriteRange writes length bytes from offset on.
func (p *Plan) WriteRange(w io.Writer, c Contents, offset, length int64) (int64, error) {
	out := &section{w: w, left: min(length, p.size-offset)}
	err := p.write(out, c, offset)
	return out.done, err
}

// section passes a number of bytes on and then says errDone.
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

// write writes from offset on until the section is complete.
func (p *Plan) write(out *section, c Contents, offset int64) error {
	err := p.steps(out, c, offset)
	if err == errDone || (err == nil && out.left == 0) {
		return nil
	}
	if err == nil {
		err = errors.New("bundle: the zip ended before its planned length")
	}
	return err
}

func (p *Plan) steps(out *section, c Contents, offset int64) error {
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
	for i := max(first, 0); i < len(p.entries) && offset < p.central; i++ {
		var err error
		if scratch, err = p.writeEntry(out, c, i, max(offset-p.offsets[i], 0), scratch); err != nil {
			return err
		}
	}
	return p.writeDirectory(out, offset, scratch)
}

// writeEntry writes an entry without its first skip bytes.
func (p *Plan) writeEntry(out *section, c Contents, i int, skip int64, scratch []byte) ([]byte, error) {
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
		return scratch, writeMember(out, e)
	}
	if skip-headSize < f.packed-int64(len(content.Tail)) {
		if err := p.writeBody(out, c, &p.entries[i], skip-headSize); err != nil {
			return scratch, err
		}
		skip = headSize + p.entries[i].DeflateSize
	}
	out.skip = skip - headSize - p.entries[i].DeflateSize
	_, err := out.Write([]byte(content.Tail))
	return scratch, err
}

// writeMember unpacks a member, and compares it with what was planned.
func writeMember(out *section, e *Entry) error {
	sum := &meter{}
	err := e.Member.Write(io.MultiWriter(sum, out))
	if errors.Is(err, errDone) {
		return errDone
	}
	if err == nil && (sum.size != e.Size || sum.crc != e.CRC32) {
		err = errors.New("it unpacks to other bytes than before")
	}
	if err != nil {
		return &EntryError{Name: e.Name, Version: e.VersionIRI, Err: err}
	}
	return nil
}

func (p *Plan) writeBody(out *section, c Contents, e *Entry, from int64) error {
	d, err := c.Deflated(e.SHA256, e.Layout)
	if err != nil {
		return &EntryError{Name: e.Name, Version: e.VersionIRI, Err: err}
	}
	defer d.Close()
	if d.Size() != e.DeflateSize {
		return &EntryError{Name: e.Name, Version: e.VersionIRI, Err: errors.New("its stored size has changed")}
	}
	if _, err := d.Seek(from, io.SeekStart); err != nil {
		return &EntryError{Name: e.Name, Version: e.VersionIRI, Err: err}
	}
	if _, err := d.WriteTo(out); err != nil {
		if errors.Is(err, content.ErrDamaged) || errors.Is(err, content.ErrNotFound) {
			err = &EntryError{Name: e.Name, Version: e.VersionIRI, Err: err}
		}
		return err
	}
	return nil
}

// writeDirectory writes the directory, or what of it is behind an offset of the zip.
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
	size := p.size - p.central // with the end, whose length depends on the rest only by being zip64 or not
	short := int64(len(appendEnd(buf[:0], 0, 0, 0)))
	if p.count() >= max16 || p.central >= max32 || size-short >= max32 {
		return size - int64(len(appendEnd(buf[:0], p.count(), max32, max32)))
	}
	return size - short
}

// EntryError says which entry kept a zip from being written.
type EntryError struct {
	Name    string
	Version string
	Err     error
}

func (e *EntryError) Error() string {
	return "bundle: entry " + e.Name + " (" + e.Version + "): " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *EntryError) Unwrap() error { return e.Err }
