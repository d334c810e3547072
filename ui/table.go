package ui

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// tablePreview reads the first rows of delimited text; Kind stays "" where it is none.
func tablePreview(mediaType, text string, cut bool) preview {
	if mediaType != "text/csv" && mediaType != "text/tab-separated-values" {
		return preview{}
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = delimiter(mediaType, text)
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	p := preview{Kind: "table", More: cut}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return preview{}
		}
		for i := range record {
			record[i] = shorten(record[i])
		}
		record = record[:min(len(record), previewCols)]
		if p.Header == nil {
			p.Header = record
			continue
		}
		if len(p.Rows) == previewRows {
			p.More = true
			break
		}
		p.Rows = append(p.Rows, record)
	}
	if len(p.Header) == 0 {
		return preview{}
	}
	return p
}

// delimiter is the candidate that occurs most in the first line.
func delimiter(mediaType, text string) rune {
	if mediaType == "text/tab-separated-values" {
		return '\t'
	}
	line, _, _ := strings.Cut(text, "\n")
	best, most := ',', 0
	for _, c := range []rune{',', ';', '\t', '|'} {
		if n := strings.Count(line, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

func shorten(s string) string {
	if utf8.RuneCountInString(s) <= previewCell {
		return s
	}
	return string([]rune(s)[:previewCell]) + "…"
}
