package diff

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"odarchive/crawler/inspect/charset"
)

// Dialect says how a delimited table is written.
type Dialect struct {
	Delimiter rune // 0 for a comma
	Quote     rune // 0 for none
	Escape    rune // before a quote inside quotes; 0 = the quote is doubled
	NoHeader  bool // columns are named 1, 2, 3 ...
	Skip      int  // lines before the header
}

// Limits of one row. A longer one is not part of a table.
const (
	maxRow     = 4 << 20 // bytes
	maxColumns = 16384
)

var errRow = errors.New("a row is too long")

// rows reads a table row by row. Unlike csvprofile.Rows it never looks for the end of a quotation before it takes the
// beginning for one: how a row is read depends only on the bytes up to its end, so that the versions of a table have
// the same rows in their common prefix.
type rows struct {
	ctx    context.Context
	r      *bufio.Reader
	text   *counter // below r
	m      *marks
	fields []string
	buf    []byte
	ends   []int

	pull func() ([]string, error, bool) // of a table that is no text; nil otherwise
	stop func()
}

// close ends the reading of a table that is no text.
func (t *rows) close() {
	if t != nil && t.stop != nil {
		t.stop()
	}
}

func openRows(ctx context.Context, s Side, d Dialect) (*rows, []string, error) {
	if s.table != nil {
		return openTable(ctx, s.table), s.table.Columns, nil
	}
	text, err := s.text(ctx)
	if err != nil {
		return nil, nil, err
	}
	t := newRows(ctx, text, d)
	if b, err := t.r.Peek(3); err == nil && bytes.Equal(b, []byte("\xef\xbb\xbf")) {
		t.r.Discard(3)
	}
	for range d.Skip {
		if err := t.skipLine(); err != nil {
			return nil, nil, err
		}
	}
	if d.NoHeader {
		return t, nil, nil
	}
	header, err := t.next()
	if err == io.EOF {
		return t, nil, nil
	}
	return t, slices.Clone(header), err
}

func newRows(ctx context.Context, text io.Reader, d Dialect) *rows {
	t := &rows{ctx: ctx, text: &counter{r: text}, m: newMarks(d)}
	t.r = bufio.NewReaderSize(t.text, 64<<10)
	return t
}

// at returns the number of bytes of the text that have been read.
func (t *rows) at() int64 {
	if t.pull != nil {
		return 0
	}
	return t.text.n - int64(t.r.Buffered())
}

// counter counts the bytes read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// text returns the side in UTF-8.
func (s Side) text(ctx context.Context) (io.Reader, error) {
	r := s.reader(ctx)
	if s.isText() {
		return r, nil
	}
	return charset.NewReader(r, s.Charset)
}

// isText reports whether the side's bytes are UTF-8 text.
func (s Side) isText() bool {
	return s.table == nil && (s.Charset == "" || strings.EqualFold(s.Charset, "utf-8") || strings.EqualFold(s.Charset, "us-ascii"))
}

func (t *rows) skipLine() error {
	for {
		_, err := t.r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			continue
		}
		if err == io.EOF {
			return nil
		}
		return err
	}
}

// next returns the next row, valid until the next call, and io.EOF after the last. It skips empty lines.
func (t *rows) next() ([]string, error) {
	if t.pull != nil {
		fields, err, ok := t.pull()
		if !ok {
			return nil, io.EOF
		}
		return fields, err
	}
	for {
		if err := t.ctx.Err(); err != nil {
			return nil, context.Cause(t.ctx)
		}
		t.buf, t.ends = t.buf[:0], t.ends[:0]
		err := t.scan()
		if err != nil && (err != io.EOF || len(t.ends) == 0) {
			return nil, err
		}
		if len(t.ends) == 1 && t.ends[0] == 0 {
			if err == io.EOF {
				return nil, io.EOF
			}
			continue
		}
		break
	}
	text := string(t.buf)
	t.fields = t.fields[:0]
	start := 0
	for _, end := range t.ends {
		t.fields = append(t.fields, text[start:end])
		start = end
	}
	return t.fields, nil
}

// marks are the bytes at which scan stops, and the dialect's characters in UTF-8.
type marks struct {
	special                  [256]bool
	delimiter, quote, escape []byte
}

func newMarks(d Dialect) *marks {
	m := &marks{}
	mark := func(c rune) []byte {
		if c == 0 {
			return nil
		}
		b := utf8.AppendRune(nil, c)
		m.special[b[0]] = true
		return b
	}
	m.delimiter, m.quote = mark(d.Delimiter), mark(d.Quote)
	if d.Escape != d.Quote {
		m.escape = mark(d.Escape)
	}
	m.special['\r'], m.special['\n'] = true, true
	return m
}

// accept skips c if it comes next, and reports whether it did.
func (t *rows) accept(c []byte) bool {
	if len(c) == 0 {
		return false
	}
	if b, err := t.r.Peek(len(c)); err != nil || !bytes.Equal(b, c) {
		return false
	}
	t.r.Discard(len(c))
	return true
}

// scan reads the fields of one row into buf and sets the end of each.
func (t *rows) scan() error {
	quoted, began, any := false, false, false // inside quotes; part of the field has been read; part of the row has been read
	for {
		plain, err := t.plain()
		any, began = any || plain, began || plain
		if len(t.buf) > maxRow || len(t.ends) > maxColumns {
			return errRow
		}
		if err != nil {
			if err == io.EOF && any {
				t.ends = append(t.ends, len(t.buf))
			}
			return err
		}
		any = true
		switch {
		case quoted && t.accept(t.m.escape):
			if c, err := t.r.ReadByte(); err == nil {
				t.buf = append(t.buf, c)
			}
		case quoted && t.accept(t.m.quote):
			if t.accept(t.m.quote) {
				t.buf = append(t.buf, t.m.quote...)
			} else {
				quoted = false
			}
		case quoted:
			t.literal()
		case !began && t.accept(t.m.quote):
			quoted, began = true, true
		case t.accept(t.m.delimiter):
			t.ends, began = append(t.ends, len(t.buf)), false
		case t.accept(lineFeed), t.accept(carriageReturn):
			t.ends = append(t.ends, len(t.buf))
			return nil
		default:
			began = true
			t.literal()
		}
	}
}

var (
	lineFeed       = []byte("\n")
	carriageReturn = []byte("\r")
)

// plain reads bytes without special meaning and reports whether there were any.
func (t *rows) plain() (any bool, err error) {
	for {
		if _, err := t.r.Peek(1); err != nil {
			return any, err
		}
		b, _ := t.r.Peek(t.r.Buffered())
		n := 0
		for n < len(b) && !t.m.special[b[n]] {
			n++
		}
		t.buf = append(t.buf, b[:n]...)
		t.r.Discard(n)
		any = any || n > 0
		if n < len(b) || len(t.buf) > maxRow {
			return any, nil
		}
	}
}

// literal reads a byte that only looks special.
func (t *rows) literal() {
	if c, err := t.r.ReadByte(); err == nil {
		t.buf = append(t.buf, c)
	}
}

// dialect returns the side's dialect, or guesses it from the first lines.
func (s Side) dialect(ctx context.Context) (Dialect, error) {
	if s.table != nil {
		return Dialect{}, nil
	}
	if s.Dialect != nil {
		d := *s.Dialect
		if d.Delimiter == 0 {
			d.Delimiter = ','
		}
		return d, nil
	}
	d := Dialect{Delimiter: ',', Quote: '"'}
	if strings.Contains(s.Type, "tab-separated") {
		d.Delimiter = '\t'
		return d, nil
	}
	text, err := s.text(ctx)
	if err != nil {
		return d, err
	}
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(text, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return d, err
	}
	best := -1.0
	for _, c := range ",;\t|" {
		if score := regularity(head[:n], byte(c)); score > best {
			best, d.Delimiter = score, c
		}
	}
	return d, nil
}

// regularity is highest if most lines have the same number of delimiters as the first one.
func regularity(head []byte, c byte) float64 {
	lines := bytes.Split(head, []byte("\n"))
	if len(lines) > 2 {
		lines = lines[:len(lines)-1] // the last one may be truncated
	}
	first, same := -1, 0
	for _, line := range lines {
		n, quoted := 0, false
		for _, b := range line {
			switch {
			case b == '"':
				quoted = !quoted
			case b == c && !quoted:
				n++
			}
		}
		if first < 0 {
			first = n
		}
		if n == first {
			same++
		}
	}
	if first <= 0 {
		return 0
	}
	return float64(same)/float64(len(lines)) + 0.001*float64(min(first, 100))
}

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(i + 1)
	}
	return names
}
