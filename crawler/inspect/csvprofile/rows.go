package csvprofile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"unicode/utf8"
)

// maxRecord is the maximum length of a record in bytes. A quoted cell that runs longer was never closed: its opening
// quote is then an ordinary character.
const maxRecord = 4 << 20

// MaxCells is the maximum number of cells kept of a record. Further cells are dropped.
const MaxCells = 1 << 14

// Rows reads the records of a CSV-like text in UTF-8, one at a time and in bounded memory. It reads what any
// spreadsheet would: a quote at the start of a cell opens a quotation, text after a closing quote belongs to the cell,
// lines end in LF, CRLF or CR. It fails only if the underlying reader does, never because of the content.
//
//	rows := NewRows(text, dialect)
//	for rows.Next() {
//		for _, cell := range rows.Cells() { ... }
//	}
//	return rows.Err()
//
// Preamble, header, comments and footer are records like others. Line returns where a record began.
type Rows struct {
	src   io.Reader
	delim []byte
	esc   byte // 0 = none
	quote byte // 0 = none
	dq    bool // a doubled quote stands for one
	trim  bool // skip blanks after a delimiter
	multi bool // the delimiter has several bytes

	moving func() // called before cells of earlier records lose their memory; nil if nobody keeps them

	simple bool // delimiter of one byte, no escapes, no blanks to skip

	buf      []byte
	pos, end int // unread part of buf
	eof      bool
	err      error

	cells    [][]byte
	scratch  []byte // text of cells that differ from buf
	line     int    // line on which the current record began, from 1
	next     int    // line on which the next record begins
	unclosed int    // quotations that never closed
	start    int    // offset of the current record in buf

	runes  bool  // count the characters of the text before buf rather than its bytes
	before int64 // length of the text before buf

	wDelim, wEsc uint64 // the byte repeated eight times
}

// maxUnclosed is the number of unclosed quotations after which quotes are ordinary characters: each costs a scan to the
// end.
const maxUnclosed = 256

// maxScratch is the approximate maximum of scratch memory for a batch of records, in bytes.
const maxScratch = 64 << 10

const rowBuffer = 256 << 10

// NewRows returns a reader of the records of r, which must be UTF-8 (charset.NewReader), in the given dialect.
func NewRows(r io.Reader, d Dialect) *Rows {
	rows := newRows(d)
	rows.src, rows.buf = r, make([]byte, rowBuffer)
	return rows
}

func newRows(d Dialect) *Rows {
	rows := &Rows{delim: []byte(d.Delimiter), dq: true, trim: d.SkipInitialSpace, next: 1}
	if len(d.EscapeChar) == 1 && d.EscapeChar != d.QuoteChar {
		rows.esc = d.EscapeChar[0]
	}
	if len(d.QuoteChar) == 1 {
		rows.quote = d.QuoteChar[0]
	}
	rows.multi = len(rows.delim) > 1
	if len(rows.delim) > 0 {
		rows.wDelim = uint64(rows.delim[0]) * ones
	} else {
		rows.wDelim = uint64('\n') * ones
	}
	rows.wEsc = uint64(rows.esc) * ones
	rows.simple = len(rows.delim) == 1 && rows.delim[0] != '\n' && rows.delim[0] != '\r' && rows.esc == 0 && !rows.trim
	return rows
}

// newRowsBytes returns a reader of the records of text, without copying it.
func newRowsBytes(text []byte, d Dialect) *Rows {
	r := newRows(d)
	r.buf, r.end, r.eof = text, len(text), true
	return r
}

// Cells returns the cells of the current record. They share memory with the reader and are valid until the next call of
// Next.
func (r *Rows) Cells() [][]byte { return r.cells }

// Line returns the number of the line on which the current record began, from 1.
func (r *Rows) Line() int { return r.line }

// Unclosed returns the number of quotations that never close.
func (r *Rows) Unclosed() int { return r.unclosed }

// length returns the bytes or characters of a part of the text.
func (r *Rows) length(text []byte) int64 {
	if r.runes {
		return int64(utf8.RuneCount(text))
	}
	return int64(len(text))
}

// offset returns where the current record begins in the text, in bytes or characters.
func (r *Rows) offset() int64 { return r.before + r.length(r.buf[:r.start]) }

// Err returns the error of the underlying reader, nil at the end of the text.
func (r *Rows) Err() error { return r.err }

// Next reads the next record and reports whether there was one. An empty line is a record with one empty cell.
func (r *Rows) Next() bool {
	for {
		r.start = r.pos
		if r.pos == r.end {
			if !r.fill() {
				return false
			}
			continue
		}
		switch r.record(r.pos, false) {
		case recordDone:
			return true
		case recordShort:
			if r.end-r.start < maxRecord && r.fill() {
				continue
			}
			// The text ends, or a quotation exceeds the limit: read the record without quotations that do not close.
			r.record(r.start, true)
			return true
		}
	}
}

type recordState int

const (
	recordDone  recordState = iota
	recordShort             // the buffer ended before the record did
)

// record splits the record that starts at p. If last is set, there is no more text: the rest is the record, and a
// quotation that does not close is text.
func (r *Rows) record(p int, last bool) recordState {
	r.cells = r.cells[:0]
	if r.moving == nil {
		r.scratch = r.scratch[:0]
	} else if len(r.scratch) > maxScratch {
		r.moving()
		r.scratch = r.scratch[:0]
	}
	r.line = r.next
	lines := 1
	buf := r.buf[:r.end]
	atEnd := last || r.eof
	for {
		if r.simple {
			var done bool
			if p, done = r.plain(buf, p); done {
				r.next += lines
				return recordDone
			}
		}
		if r.trim {
			for p < len(buf) && (buf[p] == ' ' || buf[p] == '\t') && !r.isDelim(buf, p) {
				p++
			}
		}
		if p < len(buf) && r.quote != 0 && buf[p] == r.quote {
			cell, q, nl, ok := r.quotation(buf, p, atEnd)
			if ok {
				lines += nl
				p = q
				state, done := r.finish(buf, cell, &p, lines, atEnd)
				if done {
					return state
				}
				continue
			}
			if !atEnd {
				return recordShort
			}
			if r.unclosed++; r.unclosed > maxUnclosed {
				r.quote = 0
			}
		}
		begin := p
		p = r.scan(buf, p)
		if r.esc != 0 && p < len(buf) && buf[p] == r.esc {
			cell, q := r.escaped(buf, begin, p)
			if q >= len(buf) && !atEnd {
				return recordShort
			}
			p = q
			state, done := r.finish(buf, cell, &p, lines, atEnd)
			if done {
				return state
			}
			continue
		}
		state, done := r.finish(buf, buf[begin:p], &p, lines, atEnd)
		if done {
			return state
		}
	}
}

// finish stores a cell that ends at *p and skips what ended it. done reports whether the record, or the buffer, is at
// its end.
func (r *Rows) finish(buf, cell []byte, p *int, lines int, atEnd bool) (recordState, bool) {
	at := *p
	if at >= len(buf) {
		if !atEnd {
			return recordShort, true
		}
		r.add(cell)
		r.pos, r.next = at, r.next+lines
		return recordDone, true
	}
	switch c := buf[at]; {
	case c == '\n' && !r.delimIs('\n'):
		r.add(cell)
		r.pos, r.next = at+1, r.next+lines
		return recordDone, true
	case c == '\r' && !r.delimIs('\r'):
		if at+1 >= len(buf) && !atEnd {
			return recordShort, true
		}
		r.add(cell)
		r.pos, r.next = at+1, r.next+lines
		if at+1 < len(buf) && buf[at+1] == '\n' {
			r.pos++
		}
		return recordDone, true
	default:
		if r.multi && len(buf)-at < len(r.delim) && !atEnd {
			return recordShort, true
		}
		r.add(cell)
		*p = at + len(r.delim)
		return 0, false
	}
}

func (r *Rows) delimIs(c byte) bool { return len(r.delim) == 1 && r.delim[0] == c }

func (r *Rows) add(cell []byte) {
	if len(r.cells) < MaxCells {
		r.cells = append(r.cells, cell)
	}
}

func (r *Rows) isDelim(buf []byte, p int) bool {
	return len(r.delim) > 0 && buf[p] == r.delim[0] && (!r.multi || bytes.HasPrefix(buf[p:], r.delim))
}

// scan returns the end of an unquoted cell: the offset of the first delimiter, line end or escape character from p on,
// or len(buf).
func (r *Rows) scan(buf []byte, p int) int {
	const wLF, wCR = uint64('\n') * ones, uint64('\r') * ones
	for {
		for p+8 <= len(buf) {
			w := binary.LittleEndian.Uint64(buf[p:])
			m := zeroBytes(w^r.wDelim) | zeroBytes(w^wLF) | zeroBytes(w^wCR)
			if r.esc != 0 {
				m |= zeroBytes(w ^ r.wEsc)
			}
			if m != 0 {
				p += bits.TrailingZeros64(m) >> 3
				goto found
			}
			p += 8
		}
		for ; p < len(buf); p++ {
			if c := buf[p]; c == '\n' || c == '\r' || len(r.delim) > 0 && c == r.delim[0] || r.esc != 0 && c == r.esc {
				goto found
			}
		}
		return p
	found:
		if !r.multi || buf[p] != r.delim[0] || len(buf)-p < len(r.delim) && !r.eof || bytes.HasPrefix(buf[p:], r.delim) {
			return p
		}
		p++
	}
}

// fill reads more text, moving the unread part or growing the buffer. It returns false at the end of the text.
func (r *Rows) fill() bool {
	if r.eof {
		return false
	}
	if r.moving != nil {
		r.moving()
	}
	if r.start > 0 {
		r.before += r.length(r.buf[:r.start])
		copy(r.buf, r.buf[r.start:r.end])
		r.end -= r.start
		r.pos -= r.start
		r.start = 0
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	for empty := 0; r.end < len(r.buf); {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if err != nil {
			r.eof = true
			if !errors.Is(err, io.EOF) {
				r.err = err
			}
			return true
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty > 100 {
			r.eof, r.err = true, io.ErrNoProgress
			return true
		}
	}
	return true
}
