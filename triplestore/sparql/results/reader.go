package results

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"odarchive/triplestore/term"
)

// Limits of a Reader; zero fields take the defaults.
type Limits struct {
	RowBytes int64 // text of one row, and of the head; default 16 MiB
	Vars     int   // default 1,000
	Depth    int   // nesting of triple terms; default 32
}

func (l Limits) withDefaults() Limits {
	if l.RowBytes <= 0 {
		l.RowBytes = 16 << 20
	}
	if l.Vars <= 0 {
		l.Vars = 1000
	}
	if l.Depth <= 0 {
		l.Depth = 32
	}
	return l
}

// ErrLimit is wrapped by the errors of results that are larger than the Limits.
var ErrLimit = errors.New("over the limit")

// Reader reads one result. It belongs to one goroutine.
type Reader struct {
	vars    []string
	boolean bool
	isBool  bool
	dec     decoder
	err     error
}

// decoder reads the rows of a result whose head has been read.
type decoder interface {
	next() ([]term.Key, error) // io.EOF after the last row, which must be the end of a complete document
}

// NewReader reads the head of a result. Table and HTML cannot be read. CSV says nothing of types: its values are
// plain strings, "_:x" a blank node, the empty string unbound.
func NewReader(r io.Reader, f Format, l Limits) (*Reader, error) {
	l = l.withDefaults()
	b := &budget{r: r, limit: l.RowBytes}
	b.refill()
	rd := &Reader{}
	var err error
	switch f {
	case JSON:
		err = rd.openJSON(b, l)
	case XML:
		err = rd.openXML(b, l)
	case CSV:
		err = rd.openCSV(b, l)
	case TSV:
		err = rd.openTSV(b, l)
	default:
		return nil, fmt.Errorf("results: %s cannot be read", f)
	}
	if err != nil {
		return nil, fmt.Errorf("results: read %s: %w", f, unexpected(err))
	}
	if len(rd.vars) > l.Vars {
		return nil, fmt.Errorf("results: read %s: %d variables: %w", f, len(rd.vars), ErrLimit)
	}
	return rd, nil
}

// unexpected makes an end in the middle of something an error.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Vars of the rows, without "?"; nil for a boolean.
func (r *Reader) Vars() []string { return r.vars }

// Boolean is the answer to an ASK; ok is false where the result has rows.
func (r *Reader) Boolean() (v, ok bool) { return r.boolean, r.isBool }

// Next gives the next row, which is the caller's; io.EOF after the last.
func (r *Reader) Next() ([]term.Key, error) {
	if r.isBool {
		return nil, io.EOF
	}
	if r.err != nil {
		return nil, r.err
	}
	row, err := r.dec.next()
	if err != nil {
		if err != io.EOF {
			err = fmt.Errorf("results: read a row: %w", err)
		}
		r.err = err
		return nil, err
	}
	return row, nil
}

// budget stops a document that goes on without finishing a row.
type budget struct {
	r     io.Reader
	limit int64
	left  int64
}

func (b *budget) refill() { b.left = b.limit + 64<<10 } // decoders read ahead

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a row of more than %d bytes: %w", b.limit, ErrLimit)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}

// lines of a text, without their ends, each at most as long as the budget allows.
type lines struct {
	b *budget
	r *bufio.Reader
}

func newLines(b *budget) *lines { return &lines{b: b, r: bufio.NewReaderSize(b, 64<<10)} }

// next gives a line; io.EOF at the end. A last line need not be ended.
func (l *lines) next() (string, error) {
	l.b.refill()
	s, err := l.r.ReadString('\n')
	if err != nil && (err != io.EOF || s == "") {
		return "", err
	}
	if n := len(s); n > 0 && s[n-1] == '\n' {
		s = s[:n-1]
	}
	if n := len(s); n > 0 && s[n-1] == '\r' {
		s = s[:n-1]
	}
	return s, nil
}
