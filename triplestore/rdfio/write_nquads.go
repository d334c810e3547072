package rdfio

import (
	"bufio"
	"unicode/utf8"

	"odarchive/triplestore/term"
)

// lineEncoder writes canonical N-Triples and N-Quads (RDF 1.2 N-Triples §4): single spaces, no comments, no needless
// escapes.
type lineEncoder struct {
	w   *bufio.Writer
	buf []byte
}

func encodeLines(w *bufio.Writer, _ map[string]string, _ Syntax) encoder { return &lineEncoder{w: w} }

func (e *lineEncoder) write(q term.Quad) error {
	b := appendNT(e.buf[:0], q.S)
	b = appendNT(append(b, ' '), q.P)
	b = appendNT(append(b, ' '), q.O)
	if q.G != "" {
		b = appendNT(append(b, ' '), q.G)
	}
	e.buf = append(b, " .\n"...)
	e.w.Write(e.buf)
	return nil
}

func (e *lineEncoder) flush() {}
func (e *lineEncoder) close() {}

// appendNT appends a term in N-Triples.
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
	b = appendQuoted(b, k.Value(), false)
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

// appendQuoted appends s between quotes with the escapes of JSON (RFC 8785) or of canonical N-Triples, which also
// escapes DEL and the noncharacters U+FFFE and U+FFFF.
func appendQuoted(b []byte, s string, json bool) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && (json || c != 0x7F && c != 0xEF) {
			continue
		}
		if c == 0xEF {
			if r, _ := utf8.DecodeRuneInString(s[i:]); r != 0xFFFE && r != 0xFFFF {
				continue
			}
			b = append(append(b, s[from:i]...), `\uFFF`...)
			b = append(b, "EF"[s[i+2]-0xBE])
			i += 2
			from = i + 1
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		digits := "0123456789ABCDEF"
		switch {
		case c == '"', c == '\\':
			b = append(b, '\\', c)
		case '\b' <= c && c <= '\r' && c != '\v':
			b = append(b, '\\', "btn fr"[c-'\b'])
		case json:
			digits = "0123456789abcdef"
			fallthrough
		default:
			b = append(append(b, `\u00`...), digits[c>>4], digits[c&15])
		}
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}
