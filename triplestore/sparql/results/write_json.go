package results

import (
	"strconv"
	"unicode/utf8"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// jsonEncoder writes the SPARQL 1.1 Query Results JSON Format, with the triple terms and base directions of 1.2.
type jsonEncoder struct{ names [][]byte } // each variable as `"name":`

func (e *jsonEncoder) begin(dst []byte, vars []string) []byte {
	dst = append(dst, `{"head":{"vars":[`...)
	for i, v := range vars {
		name := appendJSON(nil, v)
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
		return append(appendJSON(append(dst, `{"type":"bnode","value":`...), rdfio.BlankLabel(k.Value())), '}')
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
			dst = append(appendJSON(dst, k.Lang()), ',')
			if dir := k.Dir(); dir != "" {
				dst = append(dst, `"its:dir":`...)
				dst = append(appendJSON(dst, dir), ',')
			}
		case '^':
			dst = append(dst, `"datatype":`...)
			dst = append(appendJSON(dst, k.Datatype()), ',')
		}
		dst = append(dst, `"value":`...)
	}
	return append(appendJSON(dst, k.Value()), '}')
}

const hexDigits = "0123456789abcdef"

// appendJSON appends s as a JSON string. Invalid UTF-8 becomes U+FFFD. U+2028 and U+2029 are escaped for readers that
// evaluate JSON as JavaScript.
func appendJSON(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[done:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			done = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[done:i]...)
			dst = append(dst, "\ufffd"...)
			done = i + n
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[done:i]...)
			dst = append(dst, '\\', 'u', '2', '0', '2', hexDigits[r&15])
			done = i + n
		}
		i += n
	}
	return append(append(dst, s[done:]...), '"')
}
