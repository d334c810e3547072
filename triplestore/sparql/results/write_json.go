package results

import (
	"strconv"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// jsonEncoder writes the SPARQL 1.1 Query Results JSON Format, with the triple terms and base directions of 1.2.
type jsonEncoder struct{ names [][]byte } // each variable as `"name":`

func (e *jsonEncoder) begin(dst []byte, vars []string) []byte {
	dst = append(dst, `{"head":{"vars":[`...)
	for i, v := range vars {
		name := AppendJSON(nil, v)
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, name...)
		e.names = append(e.names, append(name, ':'))
	}
	return append(dst, `]},"results":{"bindings":[`...)
}

func (e *jsonEncoder) row(dst []byte, n int64, row []term.Key) []byte {
	if n > 0 {
		dst = append(dst, ',')
	}
	dst = append(dst, '\n', '{')
	first := true
	for i, k := range row {
		if k == "" {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, e.names[i]...)
		dst = appendJSONTerm(dst, k)
	}
	return append(dst, '}')
}

func (e *jsonEncoder) end(dst []byte) []byte { return append(dst, "\n]}}\n"...) }

func (e *jsonEncoder) boolean(dst []byte, v bool) []byte {
	dst = strconv.AppendBool(append(dst, `{"head":{},"boolean":`...), v)
	return append(dst, "}\n"...)
}

func appendJSONTerm(dst []byte, k term.Key) []byte {
	switch k.Kind() {
	case term.KindIRI:
		dst = append(dst, `{"type":"uri","value":`...)
	case term.KindBlank:
		return append(AppendJSON(append(dst, `{"type":"bnode","value":`...), rdfio.BlankLabel(k.Value())), '}')
	case term.KindTriple:
		s, p, o, _ := k.Parts()
		dst = appendJSONTerm(append(dst, `{"type":"triple","value":{"subject":`...), s)
		dst = appendJSONTerm(append(dst, `,"predicate":`...), p)
		dst = appendJSONTerm(append(dst, `,"object":`...), o)
		return append(dst, '}', '}')
	default:
		dst = append(dst, `{"type":"literal",`...)
		switch k[0] {
		case '@':
			dst = append(dst, `"xml:lang":`...)
			dst = append(AppendJSON(dst, k.Lang()), ',')
			if dir := k.Dir(); dir != "" {
				dst = append(dst, `"its:dir":`...)
				dst = append(AppendJSON(dst, dir), ',')
			}
		case '^':
			dst = append(dst, `"datatype":`...)
			dst = append(AppendJSON(dst, k.Datatype()), ',')
		}
		dst = append(dst, `"value":`...)
	}
	return append(AppendJSON(dst, k.Value()), '}')
}
