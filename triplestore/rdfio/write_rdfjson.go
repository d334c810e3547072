package rdfio

import (
	"io"
	"slices"
	"strings"

	"odarchive/triplestore/term"
)

// maxRDFJSON is how many bytes of terms may be held to write RDF/JSON. The syntax asks for all statements of a subject in
// one place, so nothing can be written before everything is known.
const maxRDFJSON = 512 << 20

type rdfjsonEncoder struct {
	w    io.Writer
	held []term.Quad
	size int64
}

func encodeRDFJSON(w io.Writer, _ map[string]string, _ Syntax) encoder { return &rdfjsonEncoder{w: w} }

func (e *rdfjsonEncoder) write(q term.Quad) error {
	if q.O.Kind() == term.KindTriple || q.O.Kind() == term.KindLiteral && q.O.Dir() != "" {
		return &TermError{q.O, "RDF/JSON knows only RDF 1.1"}
	}
	e.size += int64(len(q.S) + len(q.P) + len(q.O) + 64)
	if e.size > maxRDFJSON {
		return limitError("an RDF/JSON document", maxRDFJSON)
	}
	e.held = append(e.held, q)
	return nil
}

func (e *rdfjsonEncoder) flush() error { return nil }

func (e *rdfjsonEncoder) close() error {
	slices.SortStableFunc(e.held, func(a, b term.Quad) int {
		if c := strings.Compare(string(a.S), string(b.S)); c != 0 {
			return c
		}
		return strings.Compare(string(a.P), string(b.P))
	})
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
			if _, err := e.w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	if len(e.held) > 0 {
		b = append(b, "]\n  }\n"...)
	}
	_, err := e.w.Write(append(b, "}\n"...))
	return err
}

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

// resourceName is the IRI, or the label with "_:".
func resourceName(k term.Key) string {
	if k.Kind() == term.KindBlank {
		return "_:" + writableLabel(k.Value(), false)
	}
	return k.Value()
}
