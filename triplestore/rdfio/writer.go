package rdfio

import (
	"fmt"
	"io"

	"odarchive/triplestore/term"
)

// Writer writes statements in one syntax. It buffers; nothing is complete before Close. It belongs to one goroutine.
type Writer struct {
	enc    encoder
	syntax Syntax
	err    error
	closed bool
}

// encoder is what each syntax implements.
type encoder interface {
	write(term.Quad) error
	flush() error // hand on what can be handed on
	close() error
}

// NewWriter writes to w in syntax s. Prefixes map a prefix (without the colon) to its namespace; syntaxes that know
// prefixes shorten IRIs with them and declare those in use. A fault is told by the first Write or by Close.
func NewWriter(w io.Writer, s Syntax, prefixes map[string]string) *Writer {
	wr := &Writer{syntax: s}
	if s.encoder == nil {
		wr.err = fmt.Errorf("rdfio: no writer for syntax %q", s.Name)
		return wr
	}
	wr.enc = s.encoder(w, prefixes, s)
	return wr
}

// Write adds a statement. A statement in a named graph is an error where the syntax holds none (Syntax.Quads); so is a
// term the syntax cannot express. An error of Write that concerns a statement leaves the document as it was without it;
// every other one (the disk is full, the client gone) comes back from each later call.
func (w *Writer) Write(q term.Quad) error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return fmt.Errorf("rdfio: write to a closed writer")
	}
	if q.G != "" && !w.syntax.Quads {
		return &TermError{Term: q.G, Reason: w.syntax.Name + " holds no named graphs"}
	}
	if err := check(q); err != nil {
		return err
	}
	err := w.enc.write(q)
	if _, ok := err.(*TermError); !ok {
		w.err = err
	}
	return err
}

// Flush hands what has been written to the underlying writer, as far as the syntax allows in the middle of a document.
func (w *Writer) Flush() error {
	if w.err == nil && !w.closed {
		w.err = w.enc.flush()
	}
	return w.err
}

// Close ends the document; it does not close the underlying writer. A second Close does nothing.
func (w *Writer) Close() error {
	if w.closed || w.err != nil {
		return w.err
	}
	w.closed = true
	w.err = w.enc.close()
	return w.err
}

// TermError tells that a term cannot be written.
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
