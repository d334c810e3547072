package rdfio

import (
	"bufio"
	"cmp"
	"slices"

	"odarchive/triplestore/term"
)

// maxRDFJSON bounds the bytes of terms held to write RDF/JSON.
const maxRDFJSON = 512 << 20

// rdfjsonEncoder writes RDF/JSON. The syntax wants all statements of a subject in one place, so the encoder holds the
// whole document until close.
type rdfjsonEncoder struct {
	w    *bufio.Writer
	held []term.Quad
	size int64
}

func encodeRDFJSON(w *bufio.Writer, _ map[string]string, _ Syntax) encoder {
	return &rdfjsonEncoder{w: w}
}

func (e *rdfjsonEncoder) write(q term.Quad) error {
	if q.O.Kind() == term.KindTriple || q.O.Kind() == term.KindLiteral && q.O.Dir() != "" {
		return &TermError{q.O, "RDF/JSON is limited to RDF 1.1"}
	}
	e.size += int64(len(q.S) + len(q.P) + len(q.O) + 64)
	if e.size > maxRDFJSON {
		return limitError("an RDF/JSON document", maxRDFJSON)
	}
	e.held = append(e.held, q)
	return nil
}

func (e *rdfjsonEncoder) flush() {}

func (e *rdfjsonEncoder) close() {
	slices.SortStableFunc(e.held, func(a, b term.Quad) int { return cmp.Or(cmp.Compare(a.S, b.S), cmp.Compare(a.P, b.P)) })
	b := []byte("{")
	for i, q := range e.held {
		newSubject := i == 0 || q.S != e.held[i-1].S
		switch {
		case newSubject && i > 0:
			b = append(b, "]\n  },"...)
		case !newSubject && q.P != e.held[i-1].P:
			b = append(b, "],"...)
		case !newSubject:
			b = append(b, ", "...)
		}
		if newSubject {
			b = append(appendJSONString(append(b, "\n  "...), resourceName(q.S)), ": {"...)
		}
		if newSubject || q.P != e.held[i-1].P {
			b = append(appendJSONString(append(b, "\n    "...), q.P.Value()), ": ["...)
		}
		b = appendRDFJSON(b, q.O)
		if len(b) >= windowSize {
			e.w.Write(b)
			b = b[:0]
		}
	}
	if len(e.held) > 0 {
		b = append(b, "]\n  }\n"...)
	}
	e.w.Write(append(b, "}\n"...))
}

// appendRDFJSON appends the object of a statement.
func appendRDFJSON(b []byte, k term.Key) []byte {
	kind, value := "literal", k.Value()
	switch k.Kind() {
	case term.KindIRI:
		kind = "uri"
	case term.KindBlank:
		kind, value = "bnode", resourceName(k)
	}
	b = append(append(append(b, `{"type": "`...), kind...), `", "value": `...)
	b = appendJSONString(b, value)
	switch k[0] {
	case '@':
		b = appendJSONString(append(b, `, "lang": `...), k.Lang())
	case '^':
		b = appendJSONString(append(b, `, "datatype": `...), k.Datatype())
	}
	return append(b, '}')
}

// resourceName returns the IRI, or the label with "_:".
func resourceName(k term.Key) string {
	if k.Kind() == term.KindBlank {
		return "_:" + writableLabel(k.Value(), false)
	}
	return k.Value()
}
