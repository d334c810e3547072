package rdfio

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// lineDecoder reads N-Triples and N-Quads. It works on whole lines in the input's window. A term without escapes is a
// slice of the input there, and the bytes of an IRI or a plain string without the closing mark are its key.
type lineDecoder struct {
	terms
	in       *input
	quads    bool
	rdf12    bool
	longTags bool
	line     []byte // rest of the line at in.pos, without its end
	open     bool   // line is valid
}

func decodeLines(r io.Reader, _ iri.Base, o Options, s Syntax) decoder {
	return &lineDecoder{terms: newTerms(o), in: newInput(r, o), quads: s.Quads, rdf12: o.RDF12, longTags: o.LongTags}
}

func (d *lineDecoder) read() (term.Quad, error) {
	for {
		if !d.open {
			if err := d.nextLine(); err != nil {
				return term.Quad{}, err
			}
		}
		i := space(d.line, 0)
		if i == len(d.line) || d.line[i] == '\r' || d.line[i] == '#' {
			d.endStatement(i)
			continue
		}
		if skipped, err := d.version(i); err != nil {
			return term.Quad{}, err
		} else if !skipped {
			return d.statement(i)
		}
	}
}

// nextLine makes d.line the next line. Lines end with LF, CR or both. A CR alone ends d.line only if the window holds
// no LF; otherwise endStatement finds it.
func (d *lineDecoder) nextLine() error {
	in := d.in
	in.skipByteOrderMark()
	for from := 0; ; {
		if n := bytes.IndexByte(in.buf[in.pos+from:in.end], '\n'); n >= 0 {
			d.line, d.open = in.buf[in.pos:in.pos+from+n], true
			return nil
		}
		from = in.end - in.pos
		if in.fill() {
			continue
		}
		if n := bytes.LastIndexByte(in.buf[in.pos:in.end], '\r'); n >= 0 && errors.Is(in.err, ErrLimit) {
			in.err = nil
			d.line, d.open = in.buf[in.pos:in.pos+n], true
			return nil
		}
		if err := in.failure(); err != nil {
			return in.fail(in.end-in.pos, "")
		}
		if from == 0 {
			return io.EOF
		}
		d.line, d.open = in.buf[in.pos:in.end], true
		return nil
	}
}

// endStatement consumes the first n bytes of the line, a comment after them, and the end of the line.
func (d *lineDecoder) endStatement(n int) {
	if cr := bytes.IndexByte(d.line[n:], '\r'); cr >= 0 {
		d.in.pos += n + cr + 1
		d.line = d.line[n+cr+1:]
		return
	}
	d.in.pos = min(d.in.pos+len(d.line)+1, d.in.end)
	d.line, d.open = nil, false
}

func (d *lineDecoder) skip() bool {
	if d.in.failure() != nil {
		return false
	}
	if d.open {
		d.endStatement(0)
	}
	return true
}

// space returns the position of the first byte of b from i on that is no space or tab.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

func (d *lineDecoder) statement(i int) (q term.Quad, err error) {
	if q.S, i, err = d.resource(i, "a subject: an IRI or a blank node"); err != nil {
		return q, err
	}
	i = space(d.line, i)
	if i == len(d.line) || d.line[i] != '<' {
		return q, d.in.fail(i, "a predicate: an IRI in < >")
	}
	if q.P, i, err = d.iri(i); err != nil {
		return q, err
	}
	i = space(d.line, i)
	if q.O, i, err = d.object(i, 0); err != nil {
		return q, err
	}
	i = space(d.line, i)
	if d.quads && i < len(d.line) && d.line[i] != '.' {
		if q.G, i, err = d.resource(i, "a graph's name or '.'"); err != nil {
			return q, err
		}
		i = space(d.line, i)
	}
	if i == len(d.line) || d.line[i] != '.' {
		return q, d.in.fail(i, "'.'")
	}
	i = space(d.line, i+1)
	if i < len(d.line) && d.line[i] != '\r' && d.line[i] != '#' {
		return q, d.in.fail(i, "the end of the line")
	}
	d.endStatement(i)
	return q, nil
}

func (d *lineDecoder) resource(i int, expected string) (term.Key, int, error) {
	if i < len(d.line) {
		switch d.line[i] {
		case '<':
			return d.iri(i)
		case '_':
			return d.blankNode(i)
		}
	}
	return "", i, d.in.fail(i, "%s", expected)
}

// iri reads the IRI in angle brackets at i.
func (d *lineDecoder) iri(i int) (term.Key, int, error) {
	n := bytes.IndexByte(d.line[i:], '>')
	if n < 0 {
		return "", i, d.in.fail(len(d.line), "'>' at the end of an IRI")
	}
	raw, next := d.line[i:i+n], i+n+1
	k, slot := d.keys.find(raw)
	if k != "" {
		return k, next, nil
	}
	ascii := true
	for j := 1; j < len(raw); j++ {
		c := raw[j]
		if terminals.Class[c]&terminals.InIRI != 0 {
			continue
		}
		switch {
		case c == '\\':
			return d.escapedIRI(i, raw)
		case c < utf8.RuneSelf:
			return "", i, d.in.fail(i+j, "a character that IRIs may contain, or '>'")
		}
		ascii = false
	}
	if !ascii && !utf8.Valid(raw) {
		return "", i, d.in.fail(i+invalidAt(raw), "UTF-8")
	}
	if !iri.IsAbsolute(raw[1:]) {
		return "", i, d.in.fail(i, "an absolute IRI")
	}
	return put(slot, raw), next, nil
}

func (d *lineDecoder) escapedIRI(i int, raw []byte) (term.Key, int, error) {
	var bad int
	if d.buf, bad = terminals.AppendIRI(d.buf[:0], raw); bad >= 0 {
		return "", i, d.in.fail(i+bad, unicodeEscape)
	}
	if err := iri.CheckChars(d.buf[1:]); err != nil {
		return "", i, d.in.failWith(i, err)
	}
	if !iri.IsAbsolute(d.buf[1:]) {
		return "", i, d.in.fail(i, "an absolute IRI")
	}
	return d.keys.key(d.buf), i + len(raw) + 1, nil
}

// blankNode reads _:label at i. Labels contain no colons, as in Turtle and in the tests of the W3C, although the
// grammar of N-Triples 1.1 allows them.
func (d *lineDecoder) blankNode(i int) (term.Key, int, error) {
	if i+1 >= len(d.line) || d.line[i+1] != ':' {
		return "", i, d.in.fail(i+1, "':' of a blank node")
	}
	label := d.line[i+2:][:terminals.Label(d.line[i+2:])]
	if len(label) == 0 {
		return "", i, d.in.fail(i+2, "the label of a blank node")
	}
	return d.label(label), i + 2 + len(label), nil
}
