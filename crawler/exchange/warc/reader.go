package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Limits bound what a Reader holds in memory and how far it inflates what belongs to no record.
type Limits struct {
	MaxHead  int   // bytes of one record's header; default 1 MiB
	MaxWaste int64 // bytes that are inflated to find the end of a damaged member; default 16 MiB
}

func (l Limits) withDefaults() Limits {
	if l.MaxHead == 0 {
		l.MaxHead = 1 << 20
	}
	if l.MaxWaste == 0 {
		l.MaxWaste = 16 << 20
	}
	return l
}

// Reader reads the records of a WARC or ARC file, plain or compressed with gzip (a member for each record, as the
// standard demands, or one for many). It is not safe for concurrent use.
type Reader struct {
	limits Limits
	src    *lookback
	file   *bufio.Reader // bytes of the file, over src
	in     *bufio.Reader // bytes of the records: file, or the content of the current member
	gz     *gzip.Reader  // nil if the file is not compressed
	probe  *gzip.Reader  // for startsRecord; nil before its first use

	started  bool
	member   int64 // offset of the current member
	inMember bool  // a member is open
	records  int   // records read from the current member

	rec    *Record  // current record; nil before the first and after Finish
	left   int64    // bytes of its block that were not read
	bad    *Fault   // why its block ends early; nil if it does not
	head   []byte   // its header
	lf     bool     // its header lines end in LF alone
	whole  bool     // the block of the record that was finished last was complete
	faults []*Fault // faults that Next must still return
	err    error    // final error
}

// NewReader returns a reader of a file. Offsets are counted from the first byte of r.
func NewReader(r io.Reader, l Limits) *Reader {
	src := &lookback{r: r}
	file := bufio.NewReaderSize(src, 64<<10)
	return &Reader{limits: l.withDefaults(), src: src, file: file, in: file}
}

// Next returns the next record. It skips the rest of the record before.
//
// After the last record, the error is io.EOF. For damage, it is a *Fault; the next call then continues at the next
// member of a compressed file, or at the next line that begins a record. Each fault is returned once. Any other error
// comes from the underlying reader and is final.
func (r *Reader) Next() (*Record, error) {
	if f := r.finish(); f != nil {
		r.faults = append([]*Fault{f}, r.faults...)
	}
	for {
		if len(r.faults) > 0 {
			f := r.faults[0]
			r.faults = r.faults[1:]
			return nil, f
		}
		if r.Failed() {
			return nil, fmt.Errorf("warc: read: %w", r.src.err)
		}
		if r.err != nil {
			return nil, r.err
		}
		if rec := r.read(); rec != nil {
			return rec, nil
		}
	}
}

// Finish reads the current record to its end and sets its Length. It returns a *Fault if the block is incomplete, or if
// the end of the record does not follow it. Only after Finish is it known that a record is sound; its block can then no
// longer be read.
func (r *Reader) Finish() error {
	if f := r.finish(); f != nil {
		return f
	}
	return nil
}

// Whole reports whether the block of the last finished record was complete. It may be true although Finish returned a
// fault, one behind the block.
func (r *Reader) Whole() bool { return r.whole }

// Failed reports whether the underlying reader returned an error, which the next call of Next returns. A block that
// ends early is not a fault of the file then.
func (r *Reader) Failed() bool { return r.src.err != nil && r.src.err != io.EOF }

// Position returns the offset after the last byte of the file that was used.
func (r *Reader) Position() int64 { return r.src.at - int64(r.file.Buffered()) }

// fault queues a fault of the record or member at an offset, for Next.
func (r *Reader) fault(at int64, format string, args ...any) {
	r.faults = append(r.faults, &Fault{Offset: at, Why: fmt.Sprintf(format, args...)})
}

// read reads the header of the next record. It returns nil if it did not find a record: it has queued faults, set
// r.err, or skipped a member without records.
func (r *Reader) read() *Record {
	if !r.started {
		r.started = true
		if magic, _ := r.file.Peek(2); bytes.Equal(magic, gzipMagic[:2]) {
			r.gz = new(gzip.Reader)
		}
	}
	if r.gz != nil && !r.inMember && !r.openMember() {
		return nil
	}
	at, err := r.skipBlank()
	if err != nil { // the end of the file or of the member
		r.closeMember(err)
		return nil
	}
	if r.gz != nil {
		at = r.member
	}
	rec, err := r.readHead()
	if err != nil {
		r.fault(at, "%s", r.reason(err))
		r.resync(at)
		return nil
	}
	r.records++
	rec.Offset = at
	rec.Block = (*block)(r)
	r.rec, r.left, r.bad = rec, rec.ContentLength, nil
	return rec
}

// finish is Finish.
func (r *Reader) finish() *Fault {
	rec := r.rec
	if rec == nil {
		return nil
	}
	for r.left > 0 && r.bad == nil {
		n, err := r.in.Discard(int(min(r.left, 1<<30)))
		r.left -= int64(n)
		if err != nil {
			r.cut(err)
		}
	}
	r.rec, r.whole = nil, r.bad == nil
	if r.bad != nil {
		r.resync(rec.Offset)
		return r.bad
	}
	if !r.readTrailer(rec) {
		f := &Fault{rec.Offset, "the record does not end in CR LF CR LF after " + fmt.Sprint(rec.ContentLength) + " bytes of content"}
		if next, _ := r.in.Peek(5); string(next) != "WARC/" {
			r.resync(rec.Offset)
		}
		return f
	}
	if r.gz == nil {
		rec.Length = r.Position() - rec.Offset
		return nil
	}
	next, err := r.in.Peek(1)
	if len(next) == 0 {
		if f := r.closeMember(err); f != nil {
			return f
		}
		if r.records == 1 {
			rec.Length = r.Position() - rec.Offset
		}
		return nil
	}
	if _, err := r.skipBlank(); err != nil {
		r.closeMember(err)
	} else if next, _ := r.in.Peek(5); rec.Version != arcVersion && string(next) != "WARC/" {
		r.resync(rec.Offset)
		return &Fault{rec.Offset, "the gzip member holds more than its record"}
	} else if r.records == 1 {
		r.fault(rec.Offset, "the gzip member holds several records")
	}
	return nil
}

// readTrailer reads the two line ends after a block; in an ARC file, one line end, which may be missing.
func (r *Reader) readTrailer(rec *Record) bool {
	if rec.Version == arcVersion {
		if next, _ := r.in.Peek(1); len(next) == 1 && next[0] == '\n' {
			r.in.Discard(1)
		}
		return true
	}
	next, _ := r.in.Peek(4)
	switch {
	case string(next) == "\r\n\r\n":
		r.in.Discard(4)
	case r.lf && bytes.HasPrefix(next, []byte("\n\n")):
		r.in.Discard(2)
	default:
		return false
	}
	return true
}

// cut records that the current block ends early.
func (r *Reader) cut(err error) {
	have := r.rec.ContentLength - r.left
	if errors.Is(err, io.EOF) {
		r.bad = &Fault{r.rec.Offset, fmt.Sprintf("the block ends after %d of %d bytes", have, r.rec.ContentLength)}
		return
	}
	r.bad = &Fault{r.rec.Offset, fmt.Sprintf("after %d of %d bytes of the block: %s", have, r.rec.ContentLength, r.reason(err))}
}

// reason describes the error of a decoder in words.
func (r *Reader) reason(err error) string {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && r.gz != nil:
		return "the gzip member is cut off"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the header is cut off"
	case errors.Is(err, gzip.ErrChecksum):
		return "the gzip member's checksum is wrong"
	}
	return err.Error()
}

// skipBlank skips empty lines before a record and returns the offset of the first byte after them. The error is io.EOF
// at the end of the file or member.
func (r *Reader) skipBlank() (int64, error) {
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != '\r' && b != '\n' {
			r.in.UnreadByte()
			return r.Position(), nil
		}
	}
}

// block is the Block of a Reader's current record.
type block Reader

func (b *block) Read(p []byte) (int, error) {
	r := (*Reader)(b)
	if r.bad != nil {
		return 0, r.bad
	}
	if r.rec == nil || r.left == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > r.left {
		p = p[:r.left]
	}
	n, err := r.in.Read(p)
	r.left -= int64(n)
	if err != nil && r.left > 0 {
		r.cut(err)
		err = r.bad
	} else {
		err = nil
	}
	return n, err
}
