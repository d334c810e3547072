package results

import (
	"strconv"
	"strings"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// csvEncoder writes the SPARQL 1.1 Query Results CSV Format: bare values, and lines that end in CRLF.
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
		return append(dst, "\"\"\r\n"...) // most readers skip empty lines
	}
	for i, k := range row {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch k.Kind() {
		case term.KindBlank:
			dst = appendCSV(dst, "_:"+rdfio.BlankLabel(k.Value()))
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
	dst = append(append(dst, '"'), strings.ReplaceAll(s, `"`, `""`)...)
	return append(dst, '"')
}

// tsvEncoder writes the SPARQL 1.1 Query Results TSV Format: terms as in SPARQL, numbers in their short form.
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
	if k == "" {
		return dst
	}
	if kind, ok := strings.CutPrefix(k.Datatype(), vocab.XSDNS); ok && terminals.IsNumber(k.Value(), kind) {
		return append(dst, k.Value()...)
	}
	return syntax.AppendTerm(dst, k)
}
