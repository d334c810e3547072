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

// peekMember is the number of bytes of a gzip member from which startsRecord decides whether it has a record.
const peekMember = 4 << 10

// openMember opens the next gzip member. It returns false at the end of the file. It also returns false, and queues a
// fault, if no member starts at the current position.
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

// closeMember ends the current member after its content has ended with err. If the file is not compressed, it ends the
// file. If the end of the member is damaged, it looks for the next member and returns the fault.
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

// end records that the file has ended.
func (r *Reader) end(err error) {
	if err == nil {
		err = io.EOF
	}
	r.err = err
}

// resync looks for the next record after damage in the record or member at an offset. If the record has a member of its
// own, that is the next member; in a plain file, or in a member with many records, it is the next line that starts a
// record.
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
	case errors.Is(err, io.EOF): // the member is sound; only its content is damaged
	case err == nil: // the member is too long to inflate the rest
		r.seekMember(r.Position())
	default:
		r.seekMember(at + 1)
	}
}

// seekRecord skips lines up to the next one that starts with "WARC/". It returns false if there is none.
func (r *Reader) seekRecord() bool {
	fresh := false // the next byte starts a line
	for {
		if next, _ := r.in.Peek(6); fresh && len(next) == 6 && string(next[:5]) == "WARC/" && (next[5] == '0' || next[5] == '1') {
			return true
		}
		_, err := r.in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return false // the end of the file or a damaged member; the next read returns the same error
		}
		fresh = err == nil
	}
}

// seekMember goes to the first gzip member with a record at or after an offset, or to the end of the file.
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

// startsRecord reports whether the first bytes of a gzip member inflate to the start of a record.
func (r *Reader) startsRecord(p []byte) bool {
	if r.probe == nil {
		r.probe = new(gzip.Reader) // is reused: making one takes far longer than inflating a few bytes
	}
	if err := r.probe.Reset(bytes.NewReader(p)); err != nil {
		return false
	}
	var start [8]byte
	n, _ := io.ReadFull(r.probe, start[:])
	s := string(start[:n])
	return len(s) > 5 && s[:5] == "WARC/" || s == "filedesc" || len(s) > 4 && s[:4] == "http"
}

// rewind goes to an offset, or to the oldest byte that is remembered if the offset is before it.
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

// lookBack is the number of bytes that a Reader can go back in the file. A decoder that runs from a damaged member into
// the next one usually fails within some hundred bytes, and at the latest after a stored block of 64 KiB.
const lookBack = 256 << 10

// lookback is a reader that can go back by up to lookBack bytes. Going back must be cheap, since a hostile file may
// have a damaged record every ten bytes.
type lookback struct {
	r     io.Reader
	at    int64  // offset after the last byte that Read returned
	last  []byte // the last bytes read from r
	again int    // number of bytes at the end of last that Read returns again
	err   error  // last error of r
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

// end returns the offset after the last byte that was read from r.
func (l *lookback) end() int64 { return l.at + int64(l.again) }

// oldest returns at, or the offset of the oldest byte that is remembered if at is before it.
func (l *lookback) oldest(at int64) int64 { return max(at, l.end()-int64(len(l.last))) }

// rewind goes back to an offset, whose byte must be remembered.
func (l *lookback) rewind(to int64) {
	l.again = int(l.end() - to)
	l.at = to
}
