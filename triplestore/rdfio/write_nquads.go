package rdfio

import (
	"bufio"
	"io"
	"unicode/utf8"

	"odarchive/triplestore/term"
)

// lineEncoder writes canonical N-Triples and N-Quads (RDF 1.2 N-Triples §4): single spaces, no comments, only the
// escapes that are needed.
type lineEncoder struct {
	w   *bufio.Writer
	buf []byte
}

func encodeNQuads(w io.Writer, _ map[string]string, _ Syntax) encoder {
	return &lineEncoder{w: bufio.NewWriterSize(w, windowSize)}
}

func (e *lineEncoder) write(q term.Quad) error {
	b := appendNT(e.buf[:0], q.S)
	b = appendNT(append(b, ' '), q.P)
	b = appendNT(append(b, ' '), q.O)
	if q.G != "" {
		b = appendNT(append(b, ' '), q.G)
	}
	e.buf = append(b, " .\n"...)
	_, err := e.w.Write(e.buf)
	return err
}

func (e *lineEncoder) flush() error { return e.w.Flush() }
func (e *lineEncoder) close() error { return e.w.Flush() }

// appendNT appends a term as N-Triples writes it.
func appendNT(b []byte, k term.Key) []byte {
	switch k.Kind() {
	case term.KindIRI:
		b = append(b, k...)
		return append(b, '>')
	case term.KindBlank:
		b = append(b, "_:"...)
		return append(b, writableLabel(k.Value(), false)...)
	case term.KindTriple:
		s, p, o, _ := k.Parts()
		b = appendNT(append(b, "<<( "...), s)
		b = appendNT(append(b, ' '), p)
		b = appendNT(append(b, ' '), o)
		return append(b, " )>>"...)
	}
	b = appendQuoted(b, k.Value())
	switch k[0] {
	case '@':
		tag, dir := k.Lang(), k.Dir()
		b = append(append(b, '@'), tag...)
		if dir != "" {
			b = append(append(b, "--"...), dir...)
		}
	case '^':
		b = append(b, "^^<"...)
		b = append(append(b, k.Datatype()...), '>')
	}
	return b
}

// appendQuoted appends s between quotes with the escapes of the canonical form.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7F && c != 0xEF {
			continue
		}
		if c == 0xEF { // U+FFFE and U+FFFF are no characters
			if r, _ := utf8.DecodeRuneInString(s[i:]); r != 0xFFFE && r != 0xFFFF {
				continue
			}
			b = append(b, s[from:i]...)
			b = append(b, `\uFFF`...)
			b = append(b, "EF"[s[i+2]-0xBE])
			i += 2
			from = i + 1
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		default:
			const digits = "0123456789ABCDEF"
			b = append(b, `\u00`...)
			b = append(b, digits[c>>4], digits[c&15])
		}
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}
