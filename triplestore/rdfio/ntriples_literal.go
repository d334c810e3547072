package rdfio

import (
	"bytes"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/term"
)

// literal reads the literal at i.
func (d *lineDecoder) literal(i int) (term.Key, int, error) {
	n := bytes.IndexByte(d.line[i+1:], '"')
	if n < 0 {
		return "", i, d.in.fail(len(d.line), "'\"' at the end of a literal")
	}
	raw := d.line[i : i+1+n] // with the opening quote, as in the key of a plain string
	if bytes.IndexByte(raw, '\\') >= 0 {
		end, err := d.unescape(i)
		if err != nil {
			return "", i, err
		}
		return d.typed(d.buf, d.skipToTag(end))
	}
	next := d.skipToTag(i + n + 2)
	if next >= len(d.line) || d.line[next] != '@' && d.line[next] != '^' {
		k, slot := d.keys.find(raw)
		if k != "" {
			return k, next, nil
		}
		if err := d.checkText(i, raw); err != nil {
			return "", i, err
		}
		return put(slot, raw), next, nil
	}
	if err := d.checkText(i, raw); err != nil {
		return "", i, err
	}
	d.buf = append(d.buf[:0], raw...)
	return d.typed(d.buf, next)
}

// skipToTag returns the position of the language tag or datatype that may follow white space at i, or i.
func (d *lineDecoder) skipToTag(i int) int {
	if n := space(d.line, i); n < len(d.line) && (d.line[n] == '@' || d.line[n] == '^') {
		return n
	}
	return i
}

func (d *lineDecoder) checkText(i int, raw []byte) error {
	if j := bytes.IndexByte(raw, '\r'); j >= 0 {
		return d.in.fail(i+j, `\r or '"'`)
	}
	if !utf8.Valid(raw) {
		return d.in.fail(i+invalidAt(raw), "UTF-8")
	}
	return nil
}

// unescape writes the text of the literal at i to d.buf, after a quote, and returns its end in the line.
func (d *lineDecoder) unescape(i int) (next int, err error) {
	b := d.line
	d.buf = append(d.buf[:0], '"')
	for j := i + 1; j < len(b); {
		stop := bytes.IndexAny(b[j:], "\"\\\r")
		if stop < 0 {
			break
		}
		if !utf8.Valid(b[j : j+stop]) {
			return 0, d.in.fail(j+invalidAt(b[j:j+stop]), "UTF-8")
		}
		d.buf = append(d.buf, b[j:j+stop]...)
		j += stop
		switch b[j] {
		case '"':
			return j + 1, nil
		case '\r':
			return 0, d.in.fail(j, `\r or '"'`)
		}
		r, n := terminals.Escape(b[j:])
		if n == 0 {
			return 0, d.in.fail(j, escapeSequence)
		}
		d.buf = utf8.AppendRune(d.buf, r)
		j += n
	}
	return 0, d.in.fail(len(b), "'\"' at the end of a literal")
}

// typed returns the literal with the text lex, which begins with a quote, and the language tag or datatype at i.
func (d *lineDecoder) typed(lex []byte, i int) (term.Key, int, error) {
	b := d.line
	switch {
	case i < len(b) && b[i] == '@':
		n := tagLen(b[i+1:], d.rdf12, d.longTags)
		if n == 0 {
			return "", i, d.in.fail(i+1, "a language tag")
		}
		d.buf = appendLang(lex, b[i+1:i+1+n])
		return d.keys.key(d.buf[len(lex):]), i + 1 + n, nil
	case i < len(b) && b[i] == '^':
		at := i + 2
		if at <= len(b) {
			at = space(b, at)
		}
		if at >= len(b) || b[i+1] != '^' || b[at] != '<' {
			return "", i, d.in.fail(i, "^^ and the IRI of a datatype")
		}
		dt, next, err := d.datatype(at, &lex)
		if err != nil {
			return "", i, err
		}
		if dt == "<"+term.XSDString {
			return d.keys.key(lex), next, nil
		}
		if d.rdf12 && needsTag(dt) {
			return "", i, d.in.fail(i, "a language tag instead of this datatype")
		}
		d.buf = appendTyped(lex, string(dt[1:]))
		return d.keys.key(d.buf[len(lex):]), next, nil
	}
	return d.keys.key(lex), i, nil
}

// datatype reads the IRI at i. If that contains escapes it is written to d.buf, so lex, which may be there, is copied.
func (d *lineDecoder) datatype(i int, lex *[]byte) (term.Key, int, error) {
	if n := bytes.IndexByte(d.line[i:], '>'); n >= 0 && bytes.IndexByte(d.line[i:i+n], '\\') >= 0 {
		*lex = bytes.Clone(*lex)
	}
	return d.iri(i)
}
