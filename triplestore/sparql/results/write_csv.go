package results

import (
	"strconv"
	"strings"

	"odarchive/triplestore/term"
)

// csvEncoder is SPARQL 1.1 Query Results CSV Format: bare values, lines end in CRLF.
type csvEncoder struct{}

func (csvEncoder) begin(dst []byte, vars []string) []byte {
	for i, v := range vars {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendCSV(dst, v)
	}
	return append(dst, '\r', '\n')
}

func (csvEncoder) row(dst []byte, _ int64, row []term.Key) []byte {
	if len(row) == 1 && row[0].Value() == "" && row[0].Kind() != term.KindTriple {
		return append(dst, "\"\"\r\n"...) // an empty line would be skipped by most readers
	}
	for i, k := range row {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch k.Kind() {
		case term.KindBlank:
			dst = appendCSV(dst, "_:"+k.Value())
		case term.KindTriple:
			dst = appendCSV(dst, string(appendTSV(nil, k)))
		default:
			dst = appendCSV(dst, k.Value())
		}
	}
	return append(dst, '\r', '\n')
}

func (csvEncoder) end(dst []byte) []byte { return dst }
func (csvEncoder) boolean(dst []byte, v bool) []byte {
	return append(strconv.AppendBool(dst, v), '\r', '\n')
}

func appendCSV(dst []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",\r\n") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}

// tsvEncoder is SPARQL 1.1 Query Results TSV Format: terms as SPARQL writes them, numbers in their short form.
type tsvEncoder struct{}

func (tsvEncoder) begin(dst []byte, vars []string) []byte {
	for i, v := range vars {
		if i > 0 {
			dst = append(dst, '\t')
		}
		dst = append(append(dst, '?'), v...)
	}
	return append(dst, '\n')
}

func (tsvEncoder) row(dst []byte, _ int64, row []term.Key) []byte {
	for i, k := range row {
		if i > 0 {
			dst = append(dst, '\t')
		}
		dst = appendTSV(dst, k)
	}
	return append(dst, '\n')
}

func (tsvEncoder) end(dst []byte) []byte             { return dst }
func (tsvEncoder) boolean(dst []byte, v bool) []byte { return append(strconv.AppendBool(dst, v), '\n') }

func appendTSV(dst []byte, k term.Key) []byte {
	switch k.Kind() {
	case term.KindNone:
		return dst
	case term.KindIRI:
		return append(append(append(dst, '<'), k.Value()...), '>')
	case term.KindBlank:
		return append(append(dst, "_:"...), k.Value()...)
	case term.KindTriple:
		s, p, o, _ := k.Parts()
		dst = append(appendTSV(append(dst, "<<( "...), s), ' ')
		dst = append(appendTSV(dst, p), ' ')
		return append(appendTSV(dst, o), " )>>"...)
	}
	lex := k.Value()
	if k[0] == '^' && shortNumber(lex, k.Datatype()) {
		return append(dst, lex...)
	}
	dst = append(dst, '"')
	for i := 0; i < len(lex); i++ {
		switch c := lex[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, c)
		}
	}
	dst = append(dst, '"')
	switch k[0] {
	case '@':
		dst = append(append(dst, '@'), k.Lang()...)
		if dir := k.Dir(); dir != "" {
			dst = append(append(dst, "--"...), dir...)
		}
	case '^':
		dst = append(append(append(dst, "^^<"...), k.Datatype()...), '>')
	}
	return dst
}

// shortNumber tells whether the bare lexical form reads back as a literal of that datatype.
func shortNumber(lex, datatype string) bool {
	xsd, ok := strings.CutPrefix(datatype, "http://www.w3.org/2001/XMLSchema#")
	if !ok || lex == "" {
		return false
	}
	s := strings.TrimLeft(lex[:1], "+-") + lex[1:]
	digits, dot, exp := 0, 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && dot == 0 && exp == 0:
			dot = i + 1
		case c|0x20 == 'e' && exp == 0 && digits > 0:
			exp, digits = i+1, 0
			if i+1 < len(s) && (s[i+1] == '+' || s[i+1] == '-') {
				i++
			}
		default:
			return false
		}
	}
	switch xsd {
	case "integer":
		return digits > 0 && dot == 0 && exp == 0
	case "decimal":
		return digits > 0 && dot > 0 && dot < len(s) && exp == 0
	case "double":
		return digits > 0 && exp > 0
	}
	return false
}
