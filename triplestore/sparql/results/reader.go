package results

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"odarchive/triplestore/term"
)

// Limits bound what a Reader accepts. Zero fields mean the defaults.
type Limits struct {
	RowBytes int64 // bytes of one row, and of the head; default 16 MiB
	Vars     int   // number of variables; default 1,000
	Depth    int   // nesting of triple terms; default 32
}

func (l Limits) withDefaults() Limits {
	return Limits{RowBytes: cmp.Or(max(l.RowBytes, 0), 16<<20), Vars: cmp.Or(max(l.Vars, 0), 1000), Depth: cmp.Or(max(l.Depth, 0), 32)}
}

// ErrLimit is wrapped by errors about results that exceed the Limits.
var ErrLimit = errors.New("limit exceeded")

// Reader reads one result. It is not safe for concurrent use.
type Reader struct {
	vars    []string
	boolean bool
	isBool  bool
	dec     decoder
	err     error
}

// decoder reads the rows of a result, after the head.
type decoder interface {
	next() ([]term.Key, error) // io.EOF after the last row of a complete document
}

// NewReader reads the head of a result. Table and HTML cannot be read. CSV has no types: "_:x" is read as a blank node,
// an empty value as unbound, and every other value as a plain string.
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
	seen := make(map[string]bool, len(rd.vars))
	for _, v := range rd.vars {
		if seen[v] {
			return nil, fmt.Errorf("results: read %s: the variable %q is in the head twice", f, v)
		}
		seen[v] = true
	}
	return rd, nil
}

// unexpected returns io.ErrUnexpectedEOF for io.EOF, and other errors unchanged.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Vars returns the variables of the rows, without "?". It is nil for a boolean.
func (r *Reader) Vars() []string { return r.vars }

// Boolean returns the result of an ASK. ok is false if the result has rows.
func (r *Reader) Boolean() (v, ok bool) { return r.boolean, r.isBool }

// Next returns the next row, which the caller owns, or io.EOF after the last.
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
			err = fmt.Errorf("results: read row: %w", err)
		}
		r.err = err
		return nil, err
	}
	return row, nil
}

// All ranges over the remaining rows, which the caller owns. If reading fails, the last pair holds the error.
func (r *Reader) All() iter.Seq2[[]term.Key, error] {
	return func(yield func([]term.Key, error) bool) {
		for {
			row, err := r.Next()
			if err == io.EOF || !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// budget is a reader that fails if a row is too long.
type budget struct {
	r     io.Reader
	limit int64
	left  int64
}

// refill begins the next row.
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

// lines splits a document into lines, each within the budget.
type lines struct {
	b *budget
	r *bufio.Reader
}

func newLines(b *budget) *lines { return &lines{b: b, r: bufio.NewReaderSize(b, 64<<10)} }

// next returns the next line without its end, or io.EOF. The last line needs no end.
func (l *lines) next() (string, error) {
	l.b.refill()
	s, err := l.r.ReadString('\n')
	if err != nil && (err != io.EOF || s == "") {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r"), nil
}
