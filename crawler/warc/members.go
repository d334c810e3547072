package warc

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// gzipMagic starts a gzip member: two bytes of identification and deflate, the only method.
var gzipMagic = []byte{0x1f, 0x8b, 8}

// peekMember is the number of bytes of a member that are looked at to see whether it starts a record.
const peekMember = 4 << 10

// openMember starts the next gzip member. It returns false at the end of the file, and if there is none where it
// should be: then faults are queued.
func (r *Reader) openMember() bool {
	at := r.Position()
	magic, err := r.file.Peek(3)
	if len(magic) == 0 {
		r.end(err)
		return false
	}
	if !bytes.Equal(magic, gzipMagic) {
		r.fault(at, "no gzip member starts here")
		r.seekMember(at + 1)
		return false
	}
	if err := r.gz.Reset(r.file); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		r.fault(at, "%s", r.reason(err))
		r.seekMember(at + 1)
		return false
	}
	r.gz.Multistream(false)
	if r.in == r.file {
		r.in = bufio.NewReaderSize(r.gz, 64<<10)
	} else {
		r.in.Reset(r.gz)
	}
	r.member, r.inMember, r.records = at, true, 0
	return true
}

// closeMember ends the current member after its content ended with err, or the file if it is not compressed. The fault
// is that of a member whose end is damaged; then the next one has been looked for.
func (r *Reader) closeMember(err error) *Fault {
	if r.gz == nil {
		r.end(err)
		return nil
	}
	r.inMember = false
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	f := &Fault{r.member, r.reason(err)}
	if r.records == 0 {
		r.faults = append(r.faults, f)
	}
	r.seekMember(r.member + 1)
	return f
}

// end notes the end of the file.
func (r *Reader) end(err error) {
	if err == nil {
		err = io.EOF
	}
	r.err = err
}

// resync goes on behind a damaged record or member that starts at an offset. A record of a member of its own is left
// with it. In a plain file, and where a member holds many records, the next line that starts a record is looked for.
func (r *Reader) resync(at int64) {
	if r.gz == nil {
		r.rewind(at + 1)
		r.seekRecord()
		return
	}
	if !r.inMember {
		return
	}
	if r.records > 1 && r.seekRecord() {
		return
	}
	_, err := io.CopyN(io.Discard, r.in, r.limits.MaxWaste)
	r.inMember = false
	switch {
	case errors.Is(err, io.EOF): // the member is sound, its content is not
	case err == nil: // far too long: do not inflate the rest
		r.seekMember(r.Position())
	default:
		r.seekMember(at + 1)
	}
}

// seekRecord skips lines up to one that starts with "WARC/". It reports whether it found one.
func (r *Reader) seekRecord() bool {
	fresh := false // the next byte starts a line
	for {
		if next, _ := r.in.Peek(6); fresh && len(next) == 6 && string(next[:5]) == "WARC/" && (next[5] == '0' || next[5] == '1') {
			return true
		}
		_, err := r.in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return false // the end, or a damaged member; the next read finds the same
		}
		fresh = err == nil
	}
}

// seekMember goes to the first gzip member at an offset or behind it that starts a record, or to the end of the file.
func (r *Reader) seekMember(from int64) {
	r.inMember = false
	r.rewind(from)
	for {
		p, err := r.file.Peek(32 << 10)
		i := bytes.Index(p, gzipMagic)
		if i < 0 {
			if err != nil {
				r.file.Discard(len(p))
				return
			}
			r.file.Discard(len(p) - len(gzipMagic) + 1)
			continue
		}
		r.file.Discard(i)
		p, _ = r.file.Peek(peekMember)
		if r.startsRecord(p) {
			return
		}
		r.file.Discard(1)
	}
}

// startsRecord reports whether these first bytes of a gzip member inflate to the start of a record.
func (r *Reader) startsRecord(p []byte) bool {
	if r.probe == nil {
		r.probe = new(gzip.Reader) // one for all, since a new one takes far longer than these bytes
	}
	if err := r.probe.Reset(bytes.NewReader(p)); err != nil {
		return false
	}
	var start [8]byte
	n, _ := io.ReadFull(r.probe, start[:])
	s := string(start[:n])
	return len(s) > 5 && s[:5] == "WARC/" || s == "filedesc" || len(s) > 4 && s[:4] == "http"
}

// rewind goes back to an offset, or as far as the file is remembered.
func (r *Reader) rewind(to int64) {
	at := r.Position()
	to = r.src.oldest(to)
	if to >= at {
		r.file.Discard(int(to - at))
		return
	}
	r.src.rewind(to)
	r.file.Reset(r.src)
}

// lookBack is how many bytes of the file a Reader can go back. A decoder that runs from a damaged member into the next
// one notices after some hundred bytes, at most after a stored block of 64 KiB.
const lookBack = 256 << 10

// lookback remembers the last bytes that were read from r, and can give them again. That must cost little, for a hostile
// file has a damaged record every ten bytes.
type lookback struct {
	r     io.Reader
	at    int64 // offset behind the last byte given
	last  []byte
	again int   // bytes at the end of last that are to be given again
	err   error // that r returned
}

func (l *lookback) Read(p []byte) (int, error) {
	if l.again > 0 {
		n := copy(p, l.last[len(l.last)-l.again:])
		l.again -= n
		l.at += int64(n)
		return n, nil
	}
	n, err := l.r.Read(p)
	l.at += int64(n)
	if len(l.last)+n > 2*lookBack {
		keep := max(lookBack-n, 0)
		l.last = l.last[:copy(l.last, l.last[len(l.last)-min(keep, len(l.last)):])]
	}
	l.last = append(l.last, p[:n]...)
	if err != nil {
		l.err = err
	}
	return n, err
}

// end returns the offset behind the last byte that was read from r.
func (l *lookback) end() int64 { return l.at + int64(l.again) }

// oldest returns an offset, or that of the oldest byte that is remembered, if it is later.
func (l *lookback) oldest(at int64) int64 { return max(at, l.end()-int64(len(l.last))) }

// rewind goes back to the offset of a byte that is remembered.
func (l *lookback) rewind(to int64) {
	l.again = int(l.end() - to)
	l.at = to
}
