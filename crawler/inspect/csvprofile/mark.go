package csvprofile

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"odarchive/crawler/inspect/charset"
)

// Mark is a place in a file from which its rows can be read without those before.
type Mark struct {
	Row    int64 // number of the next data row, from 0
	Offset int64 // where its record begins, in bytes of the file
	Width  int   // columns found before
}

// markEvery is the least distance of marks, in bytes or characters of text.
const markEvery = 1 << 20

// marker finds marks while rows are read.
type marker struct {
	rows *Rows
	tell func(Mark)
	next int64 // place from which the next mark may be
	far  int64 // least distance of marks
	skip int64 // bytes of the file before the text
}

// newMarker returns a marker. It finds none unless o asks for marks, and a place in the text has one in the file.
func newMarker(encoding string, rows *Rows, o Options) *marker {
	m := &marker{rows: rows, tell: o.Mark, far: cmp.Or(o.apart, markEvery)}
	m.next = m.far
	switch {
	case isUTF8(encoding):
		m.skip = o.skipped
	case charset.SingleByte(encoding):
		rows.runes = o.Mark != nil
	default:
		m.tell = nil
	}
	if o.From != nil {
		m.skip = o.From.Offset
	}
	return m
}

// note marks the current record if that is far enough from the last mark, and nothing before it has a bearing on how it
// is read but what a Mark says: no rows are held back, and no quotation before it is open.
func (m *marker) note(t *table) {
	if m.tell == nil || t.rows == 0 || len(t.pending) > 0 || m.rows.before+int64(m.rows.start) < m.next {
		return
	}
	if m.rows.unclosed > 0 {
		m.tell = nil
		return
	}
	at := m.rows.offset()
	m.next = m.rows.before + int64(m.rows.start) + m.far
	m.tell(Mark{Row: t.rows, Offset: m.skip + at, Width: len(t.cols)})
}

// resume reads the rows from a mark on.
func (p *Profile) resume(ctx context.Context, r io.Reader, o Options) error {
	if o.Dialect == nil || o.Each == nil {
		return fmt.Errorf("csvprofile: reading from a mark needs a dialect, and somebody who gets the rows")
	}
	p.Dialect = *o.Dialect
	text := r
	if !isUTF8(p.Dialect.Encoding) { // bytes that are a mark at the beginning are text here
		var err error
		if text, err = charset.NewReader(r, p.Dialect.Encoding); err != nil {
			return err
		}
	}
	return p.profile(ctx, NewRows(text, p.Dialect), o)
}
