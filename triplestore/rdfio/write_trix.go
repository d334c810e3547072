package rdfio

import (
	"bufio"

	"odarchive/triplestore/term"
)

// trixEncoder writes TriX. Consecutive statements in one graph share its element.
type trixEncoder struct {
	w       *bufio.Writer
	started bool
	graph   term.Key
	open    bool
	buf     []byte
}

func encodeTriX(w *bufio.Writer, _ map[string]string, _ Syntax) encoder { return &trixEncoder{w: w} }

func (e *trixEncoder) write(q term.Quad) error {
	if err := checkXML(q); err != nil {
		return err
	}
	b := e.start(e.buf[:0])
	if e.open && e.graph != q.G {
		b = append(b, "  </graph>\n"...)
		e.open = false
	}
	if !e.open {
		b = append(b, "  <graph>\n"...)
		if q.G != "" {
			b = appendTriX(append(b, "    "...), q.G)
		}
		e.graph, e.open = q.G, true
	}
	b = append(b, "    <triple>\n"...)
	for _, k := range [3]term.Key{q.S, q.P, q.O} {
		b = appendTriX(append(b, "      "...), k)
	}
	e.buf = append(b, "    </triple>\n"...)
	e.w.Write(e.buf)
	return nil
}

// start appends the beginning of the document, once.
func (e *trixEncoder) start(b []byte) []byte {
	if e.started {
		return b
	}
	e.started = true
	return append(b, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<TriX xmlns="`+trixNS+`">`+"\n"...)
}

func (e *trixEncoder) flush() {}

func (e *trixEncoder) close() {
	b := e.start(e.buf[:0])
	if e.open {
		b = append(b, "  </graph>\n"...)
	}
	e.w.Write(append(b, "</TriX>\n"...))
}

// appendTriX appends the element of a term.
func appendTriX(b []byte, k term.Key) []byte {
	element, attr, value := "", "", k.Value()
	switch {
	case k.Kind() == term.KindIRI:
		element = "uri"
	case k.Kind() == term.KindBlank:
		element, value = "id", writableLabel(value, true)
	case k[0] == '^':
		element, attr = "typedLiteral", string(appendXMLAttr(nil, "datatype", k.Datatype()))
	default:
		element = "plainLiteral"
		if k[0] == '@' {
			attr = string(appendXMLAttr(nil, "xml:lang", k.Lang()))
		}
	}
	b = append(append(append(append(b, '<'), element...), attr...), '>')
	b = escapeXML(b, value, &textEscapes)
	return append(append(append(b, "</"...), element...), ">\n"...)
}
