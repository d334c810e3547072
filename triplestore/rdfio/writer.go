package rdfio

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"odarchive/triplestore/term"
)

// Writer writes statements in one syntax. It buffers: the document is complete only after Close. It is not safe for
// concurrent use.
type Writer struct {
	out    *bufio.Writer
	enc    encoder
	syntax Syntax
	err    error
	closed bool
}

// An encoder writes one syntax to a bufio.Writer, whose errors it ignores: they stick, and the Writer returns them.
type encoder interface {
	// write adds a statement. A *TermError leaves the document as it was without the statement.
	write(term.Quad) error
	// flush writes the statements that are held back, as far as the syntax allows.
	flush()
	// close writes the end of the document. A flush precedes it.
	close()
}

// NewWriter returns a Writer of syntax s to w. In prefixes, namespaces are keyed by prefix, without the colon. Syntaxes
// with prefixes shorten IRIs by them and declare those in use. If s cannot be written, the first call reports it.
func NewWriter(w io.Writer, s Syntax, prefixes map[string]string) *Writer {
	wr := &Writer{out: bufio.NewWriterSize(w, windowSize), syntax: s}
	if s.encoder == nil {
		wr.err = fmt.Errorf("rdfio: no writer for syntax %q", s.Name)
	} else {
		wr.enc = s.encoder(wr.out, prefixes, s)
	}
	return wr
}

// Write adds a statement. It returns a *TermError if the syntax cannot express the statement, like one in a named graph
// without Syntax.Quads; the document is then as if the call had not been made. Every other error, such as one of the
// underlying writer, is final and returned by all later calls.
func (w *Writer) Write(q term.Quad) error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return errors.New("rdfio: write to a closed writer")
	}
	if q.G != "" && !w.syntax.Quads {
		return &TermError{Term: q.G, Reason: w.syntax.Name + " holds no named graphs"}
	}
	if err := Check(q); err != nil {
		return err
	}
	err := w.enc.write(q)
	if _, ok := err.(*TermError); ok {
		return err
	}
	if w.err = err; err == nil {
		_, w.err = w.out.Write(nil) // returns an earlier error
	}
	return w.err
}

// Flush writes the statements so far to the underlying writer, as far as the syntax allows before the end.
func (w *Writer) Flush() error {
	if w.err == nil && !w.closed {
		w.enc.flush()
		w.err = w.out.Flush()
	}
	return w.err
}

// Close ends the document. It does not close the underlying writer. Further calls do nothing.
func (w *Writer) Close() error {
	if w.closed || w.err != nil {
		return w.err
	}
	w.closed = true
	w.enc.flush()
	w.enc.close()
	w.err = w.out.Flush()
	return w.err
}

// TermError reports a term that cannot be written.
type TermError struct {
	Term   term.Key
	Reason string
}

func (e *TermError) Error() string {
	k := string(e.Term)
	if len(k) > 100 {
		k = k[:100] + "..."
	}
	return fmt.Sprintf("rdfio: cannot write %q: %s", k, e.Reason)
}
