package csvprofile

import (
	"bytes"
	"errors"
	"io"

	"odarchive/crawler/inspect/charset"
)

// headBytes is how much of a file is read to find its encoding and dialect.
const headBytes = 256 << 10

// readHead reads the first headBytes of a file. whole reports whether that is all of it. Most files are small, so the
// buffer is as long as the reader says (an *io.SectionReader, a *bytes.Reader), or grows as needed.
func readHead(r io.Reader) (head []byte, whole bool, err error) {
	size := headBytes / 4
	if sized, ok := r.(interface{ Size() int64 }); ok {
		size = int(min(max(sized.Size(), 0)+1, headBytes)) // and one to see the end
		if held, ok := r.(interface{ Head(int) ([]byte, error) }); ok && size < headBytes {
			head, err := held.Head(size - 1)
			return head, true, err
		}
	}
	for ; ; size = min(size*2, headBytes) {
		n := len(head)
		head = append(make([]byte, 0, size), head...)[:size]
		read, err := io.ReadFull(r, head[n:])
		head = head[:n+read]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return head, true, nil
		}
		if err != nil || size == headBytes {
			return head, false, err
		}
	}
}

const byteOrderMark = "\xef\xbb\xbf"

// isUTF8 reports whether package charset passes an encoding through unchanged.
func isUTF8(encoding string) bool {
	return encoding == "" || encoding == "utf-8" || encoding == "ascii"
}

// Sniff finds the dialect of a file from its first bytes. whole says that head is all of it.
func Sniff(head []byte, whole bool, declared string) Dialect {
	return new(Profile).sniff(head, whole, declared)
}

// sniff finds the dialect and explains it.
func (p *Profile) sniff(head []byte, whole bool, declared string) Dialect {
	g := charset.Detect(head, declared)
	d := Dialect{Encoding: g.Name, DoubleQuote: true, LineTerminator: "\n"}
	p.because("encoding %s: %s", g.Name, g.Because)
	text := bytes.TrimPrefix(head, []byte(byteOrderMark))
	if dec, err := charset.NewReader(bytes.NewReader(head), g.Name); err == nil && !isUTF8(g.Name) {
		if t, err := io.ReadAll(dec); err == nil {
			text = t
		}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return d
	}
	c := sniff(text, whole)
	l := findLayout(&c)
	d.Delimiter, d.QuoteChar, d.EscapeChar, d.SkipInitialSpace = c.delim, c.quote, c.esc, c.skip
	if d.EscapeChar != "" {
		d.DoubleQuote = c.quote != "" && bytes.Contains(text, []byte(c.quote+c.quote))
	}
	d.LineTerminator = lineTerminator(text)
	d.Header, d.HeaderRows = l.header > 0, l.header
	d.CommentPrefix = l.comment
	d.Preamble = l.first
	p.because("delimiter %q, quote %q: %d %% of the sampled rows have %d cells", c.delim, c.quote, int(c.consistency*100+0.5), c.width)
	p.because("header %v: %s", d.Header, l.because)
	return d
}

// lineTerminator returns the most frequent line end.
func lineTerminator(text []byte) string {
	lf, cr := bytes.Count(text, []byte{'\n'}), bytes.Count(text, []byte{'\r'})
	crlf := bytes.Count(text, []byte("\r\n"))
	switch {
	case crlf*2 > lf:
		return "\r\n"
	case lf == 0 && cr > 0:
		return "\r"
	}
	return "\n"
}
