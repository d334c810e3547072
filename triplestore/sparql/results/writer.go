package results

import (
	"bufio"
	"errors"
	"io"

	"odarchive/triplestore/term"
)

// Options configure a Writer. The zero value is useful.
type Options struct {
	Prefixes map[string]string // namespaces by prefix, by which the table formats shorten IRIs
	Width    int               // maximum width of a column of a text table, in characters; default 60
	// Head and Tail are markup before and after an HTML table, written as they are.
	Head, Tail string
}

// Writer writes one result, by calls of Begin, Row for each solution, and End, or by one call of Boolean. It returns
// its first error from all later calls.
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

// NewWriter returns a Writer to w. It buffers some kilobytes until Flush, End or Boolean.
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

// Begin writes the head. The names of the variables are without "?".
func (w *Writer) Begin(vars []string) error {
	w.vars = len(vars)
	return w.write(w.enc.begin(w.buf[:0], vars))
}

// Row writes a solution, which has a Key for each variable, empty if unbound. It does not keep row.
func (w *Writer) Row(row []term.Key) error {
	if len(row) != w.vars {
		return errors.New("results: a row does not have a value for each variable")
	}
	b := w.enc.row(w.buf[:0], w.rows, row)
	w.rows++
	return w.write(b)
}

// Rows returns the number of rows written.
func (w *Writer) Rows() int64 { return w.rows }

// End writes the rest of the result.
func (w *Writer) End() error {
	if err := w.write(w.enc.end(w.buf[:0])); err != nil {
		return err
	}
	return w.Flush()
}

// Boolean writes the result of an ASK.
func (w *Writer) Boolean(v bool) error {
	if err := w.write(w.enc.boolean(w.buf[:0], v)); err != nil {
		return err
	}
	return w.Flush()
}

// Flush writes buffered data to the underlying writer.
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
