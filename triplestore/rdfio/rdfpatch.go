// Writes and reads RDF Patch, Apache Jena's text format for changes of a dataset
// (https://afs.github.io/rdf-delta/rdf-patch.html).
//
// Each line is a row of one of these forms. Terms are written as in N-Quads. The label of a blank node identifies the
// node in all patches of one dataset.
//
//	H id <iri> .         name of the patch that follows
//	H prev <iri> .       name of the patch before it
//	TX .                 begins a transaction
//	A s p o g .          adds a quad, or without g a triple
//	D s p o g .          removes a quad or triple
//	TC .                 commits the transaction
//
// A PatchReader also accepts TA, which aborts a transaction, and ignores PA and PD, which declare prefixes.

package rdfio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/triplestore/term"
)

// PatchMediaType is the media type of RDF Patch.
const PatchMediaType = "application/rdf-patch"

// PatchKind is the kind of a row.
type PatchKind byte

// Kinds of rows.
const (
	PatchHeader PatchKind = iota + 1
	PatchBegin
	PatchAdd
	PatchDelete
	PatchCommit
	PatchAbort
)

// PatchRow is one row of a patch.
type PatchRow struct {
	Kind       PatchKind
	Quad       term.Quad // of Add and Delete
	Name, Text string    // of Header: the second word, and the rest without the full stop
}

// PatchWriter writes patches. It buffers its output; call Flush at the end. After an error, all methods return an
// error.
type PatchWriter struct {
	out   *bufio.Writer
	quads *Writer
	line  bytes.Buffer
}

// NewPatchWriter returns a Writer to w.
func NewPatchWriter(w io.Writer) *PatchWriter {
	p := &PatchWriter{out: bufio.NewWriterSize(w, 64<<10)}
	p.quads = NewWriter(&p.line, NQuads(), nil)
	return p
}

// Header writes a header whose value is an IRI.
func (w *PatchWriter) Header(name, iri string) error {
	_, err := fmt.Fprintf(w.out, "H %s <%s> .\n", name, iri)
	return err
}

// Begin writes the row that begins a transaction.
func (w *PatchWriter) Begin() error {
	_, err := w.out.WriteString("TX .\n")
	return err
}

// Commit writes the row that commits a transaction.
func (w *PatchWriter) Commit() error {
	_, err := w.out.WriteString("TC .\n")
	return err
}

// Quads writes rows that add the quads, or remove them if remove is set.
func (w *PatchWriter) Quads(quads []term.Quad, remove bool) error {
	sign := "A "
	if remove {
		sign = "D "
	}
	for _, q := range quads {
		if err := w.quads.Write(q); err != nil {
			return err
		}
		if err := w.quads.Flush(); err != nil {
			return err
		}
		w.out.WriteString(sign) // the last line of this function returns the error
		w.out.Write(w.line.Bytes())
		w.line.Reset()
	}
	_, err := w.out.Write(nil)
	return err
}

// Flush writes the buffered output.
func (w *PatchWriter) Flush() error { return w.out.Flush() }

// maxLine is the maximum length of a row that is not a quad, in bytes.
const maxLine = 64 << 10

// PatchReader reads the rows of patches. It is safe for untrusted input: the length of a row has the same limit as a
// statement of N-Quads. It is not safe for concurrent use.
type PatchReader struct {
	in    *splitter
	quads *Reader
	held  *term.Quad // the quad of the first row of in.rows that has one; nil if it was not read yet
	err   error
}

// NewPatchReader returns a Reader.
func NewPatchReader(r io.Reader) *PatchReader {
	s := &splitter{in: bufio.NewReaderSize(r, 64<<10), start: true}
	return &PatchReader{in: s, quads: NewReader(s, NQuads(), Options{RDF12: true, LongTags: true})}
}

// Read returns the next row, or io.EOF after the last.
func (r *PatchReader) Read() (PatchRow, error) {
	for r.err == nil && len(r.in.rows) == 0 {
		r.err = r.pull()
	}
	if len(r.in.rows) == 0 {
		return PatchRow{}, r.err
	}
	row := r.in.rows[0]
	if row.Kind == PatchAdd || row.Kind == PatchDelete {
		for r.held == nil {
			if r.err != nil && r.err != io.EOF {
				return PatchRow{}, r.err
			}
			if r.err == io.EOF {
				return PatchRow{}, fmt.Errorf("rdfpatch: a row without its quad: %w", io.ErrUnexpectedEOF)
			}
			r.err = r.pull()
		}
		row.Quad, r.held = *r.held, nil
	}
	r.in.rows = r.in.rows[1:]
	return row, nil
}

// pull reads the next quad. This makes the splitter read the row of the quad and the rows without a quad before it.
func (r *PatchReader) pull() error {
	q, err := r.quads.Read()
	if err != nil {
		if r.in.err != nil {
			return r.in.err
		}
		return err
	}
	r.held = &q
	return nil
}

// splitter turns a patch into N-Quads: Read returns the quads of the rows, without their codes A and D. The rows that
// were read are appended to rows.
type splitter struct {
	in    *bufio.Reader
	rows  []PatchRow
	start bool   // the next byte begins a row
	left  []byte // rest of the current row; valid until in is read again
	err   error
}

// Read returns at most one row at a time, so that rows stays short.
func (s *splitter) Read(p []byte) (int, error) {
	if len(s.left) == 0 {
		for s.err == nil && s.start {
			s.begin()
		}
		if s.err != nil {
			return 0, s.err
		}
		line, err := s.in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull && len(line) == 0 {
			s.err = err
			return 0, err
		}
		s.left = line
		s.start = bytes.HasSuffix(line, []byte("\n"))
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// begin reads the code of the next row, or the whole row if it has no quad.
func (s *splitter) begin() {
	head, err := s.in.Peek(2)
	if len(head) == 0 {
		s.err = err
		return
	}
	if len(head) == 2 && (head[1] == ' ' || head[1] == '\t') && (head[0] == 'A' || head[0] == 'D') {
		kind := PatchAdd
		if head[0] == 'D' {
			kind = PatchDelete
		}
		s.in.Discard(2)
		if s.err = s.skipToQuad(); s.err == nil {
			s.rows = append(s.rows, PatchRow{Kind: kind})
			s.start = false
		}
		return
	}
	line, err := s.in.ReadSlice('\n')
	if err != nil && err != io.EOF {
		s.err = fmt.Errorf("rdfpatch: a row of more than %d bytes", maxLine)
		return
	}
	text := strings.TrimSpace(string(line))
	if text == "" || text[0] == '#' {
		return
	}
	words := strings.Fields(strings.TrimSpace(strings.TrimSuffix(text, ".")))
	row := PatchRow{}
	switch {
	case len(words) == 1 && words[0] == "TX":
		row.Kind = PatchBegin
	case len(words) == 1 && words[0] == "TC":
		row.Kind = PatchCommit
	case len(words) == 1 && words[0] == "TA":
		row.Kind = PatchAbort
	case len(words) > 2 && words[0] == "H":
		row = PatchRow{Kind: PatchHeader, Name: words[1], Text: strings.Join(words[2:], " ")}
	case len(words) > 1 && (words[0] == "PA" || words[0] == "PD"):
		return
	default:
		s.err = fmt.Errorf("rdfpatch: %.40q is not a row of a patch", text)
		return
	}
	s.rows = append(s.rows, row)
}

// skipToQuad skips the white space after the code of a row. It returns an error if the row has no quad: N-Quads ignores
// blank lines, so the row would get the quad of a later row.
func (s *splitter) skipToQuad() error {
	for {
		c, err := s.in.ReadByte()
		switch {
		case err == io.EOF || err == nil && (c == '\n' || c == '\r' || c == '#'):
			return errors.New("rdfpatch: a row without its quad")
		case err != nil:
			return err
		case c != ' ' && c != '\t':
			return s.in.UnreadByte()
		}
	}
}
