package results

import (
	"bufio"
	"errors"
	"io"

	"odarchive/triplestore/term"
)

// Options of a Writer; the zero value is fine.
type Options struct {
	Prefixes map[string]string // for people: the table formats shorten IRIs by them
	Width    int               // text table: at most this many characters a column; 0: 60
	// Head and Tail go around an HTML table as they are: the rest of the page.
	Head, Tail string
}

// Writer writes one result: Begin, Row for each solution, End; or Boolean alone.
// The first error is kept: later calls give it again.
type Writer struct {
	out  *bufio.Writer
	enc  encoder
	buf  []byte
	vars int
	rows int64
	err  error
}

// encoder appends the parts of a result to dst.
type encoder interface {
	begin(dst []byte, vars []string) []byte
	row(dst []byte, n int64, row []term.Key) []byte
	end(dst []byte) []byte
	boolean(dst []byte, v bool) []byte
}

// NewWriter makes a Writer; w is written to in pieces of some kilobytes, at the latest at Flush and End.
func NewWriter(w io.Writer, f Format, o Options) *Writer {
	wr := &Writer{out: bufio.NewWriterSize(w, 32<<10)}
	switch f {
	case XML:
		wr.enc = &xmlEncoder{}
	case CSV:
		wr.enc = csvEncoder{}
	case TSV:
		wr.enc = tsvEncoder{}
	case Table:
		wr.enc = newTable(o)
	case HTML:
		wr.enc = &htmlEncoder{short: shortener(o.Prefixes), head: o.Head, tail: o.Tail}
	default:
		wr.enc = &jsonEncoder{}
	}
	return wr
}

// Begin writes the head. vars are names without "?".
func (w *Writer) Begin(vars []string) error {
	w.vars = len(vars)
	return w.write(w.enc.begin(w.buf[:0], vars))
}

// Row writes one solution; row has a Key for each variable.
func (w *Writer) Row(row []term.Key) error {
	if len(row) != w.vars {
		return errors.New("results: a row does not have a value for each variable")
	}
	b := w.enc.row(w.buf[:0], w.rows, row)
	w.rows++
	return w.write(b)
}

// Rows is how many have been written.
func (w *Writer) Rows() int64 { return w.rows }

// End writes what follows the rows, and everything that was held back.
func (w *Writer) End() error {
	if err := w.write(w.enc.end(w.buf[:0])); err != nil {
		return err
	}
	return w.Flush()
}

// Boolean writes the whole answer to an ASK.
func (w *Writer) Boolean(v bool) error {
	if err := w.write(w.enc.boolean(w.buf[:0], v)); err != nil {
		return err
	}
	return w.Flush()
}

// Flush passes on what is buffered.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

func (w *Writer) write(b []byte) error {
	w.buf = b[:0]
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
	return w.err
}
