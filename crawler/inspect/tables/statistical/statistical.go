// Package statistical reads the data files of statistics programs: Stata, SPSS, SAS and R.
//
// Cells are what a program's users see as values: codes stay codes, factors of R are their levels, dates and times are
// in the form of XSD, and values that the file declares missing are empty. The label of a variable is the column's
// title, and labels of values are the column's labels.
package statistical

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"odarchive/crawler/inspect/charset"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Readers returns the readers of the family.
func Readers() source.Readers {
	return source.Readers{
		"application/x-spss-sav":  spss,
		"application/x-sas-xport": xport,
		"application/x-sas-data":  sas,
		"application/x-r-data":    rdata,
		"application/x-stata-dta": stata,
	}
}

// Limits of what a file says about its variables.
const (
	maxVariables = csvprofile.MaxCells
	maxLabels    = 500 // of the values of one variable that are kept
	maxLabelSets = 2_000
	maxLabel     = 200 // bytes of a label
)

// variable is a column.
type variable struct {
	name, label string
	values      []csvprofile.Label // what codes stand for
}

// malformed returns an error about a file that is not what it claims to be.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", source.ErrFormat, fmt.Sprintf(format, args...))
}

// open returns a cursor over the whole file.
func open(in source.Input, order binary.ByteOrder) *source.Cursor {
	return source.NewCursor(io.NewSectionReader(in.Body, 0, in.Size), order)
}

// profiled reads one table. If not even one row can be read, it returns why.
func profiled(ctx context.Context, name string, columns []variable, next func() ([]string, error),
	o csvprofile.Options) (*csvprofile.Profile, error) {
	header := make([]string, min(len(columns), maxVariables))
	for i := range header {
		header[i] = columns[i].name
	}
	p, err := source.ReadRows(ctx, name, header, func() ([]string, error) {
		row, err := next()
		return row[:min(len(row), len(header))], err
	}, o)
	if p == nil {
		return nil, err
	}
	p.Omitted += len(columns) - len(header)
	if o.Each != nil {
		return p, nil
	}
	for i := range p.Columns[:min(len(p.Columns), len(header))] {
		if l := shortened(columns[i].label); l != "" && l != p.Columns[i].Name {
			p.Columns[i].Titles = []string{l}
		}
		p.Columns[i].Labels = columns[i].values
	}
	return p, nil
}

// one returns the tables of a file that has one.
func one(p *csvprofile.Profile, err error) ([]*csvprofile.Profile, error) {
	if p == nil || err != nil {
		return nil, err
	}
	return []*csvprofile.Profile{p}, nil
}

// labelled returns the label of a value for a column.
func labelled(value, label string) csvprofile.Label {
	return csvprofile.Label{Value: shortened(value), Label: shortened(label)}
}

// shortened returns a label in one line and of bounded length.
func shortened(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxLabel {
		s = strings.ToValidUTF8(s[:maxLabel], "") + "…"
	}
	return s
}

// texts decodes the texts of a file.
type texts struct {
	other func([]byte) string // for what is not UTF-8
	fixed bool                // the file says its encoding
	utf8  bool                // which is UTF-8
}

// textsIn returns a decoder for a declared encoding. If it is "" or unknown, texts that are not UTF-8 are in the one
// that sample seems to be in, or else in Windows-1252.
func textsIn(declared string, sample []byte) texts {
	if declared != "" {
		if d := charset.Decoder(declared); d != nil {
			return texts{other: d, fixed: true, utf8: strings.HasPrefix(strings.ToLower(declared), "utf-8")}
		}
	}
	if !utf8.Valid(sample) {
		if g := charset.Detect(sample, ""); g.Confidence >= 0.5 && g.Name != "utf-8" && !strings.HasPrefix(g.Name, "utf-") {
			if d := charset.Decoder(g.Name); d != nil {
				return texts{other: d}
			}
		}
	}
	return texts{other: charset.Decoder("windows-1252")}
}

// text decodes a text without the blanks and zeros that pad it.
func (t texts) text(b []byte) string {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == 0) {
		b = b[:len(b)-1]
	}
	ascii := !slices.ContainsFunc(b, func(c byte) bool { return c >= 0x80 || c == 0x1b || c == 0 })
	switch {
	case ascii, !t.fixed && utf8.Valid(b):
		return string(b)
	}
	for i := 1; i < min(4, len(b)+1); i++ { // a program cut the text within a character
		if c := b[len(b)-i]; c >= 0xc0 && t.utf8 && !utf8.FullRune(b[len(b)-i:]) {
			b = b[:len(b)-i]
			break
		}
	}
	return strings.TrimRight(t.other(b), " \x00")
}

// ended returns b up to its first zero byte.
func ended(b []byte) []byte {
	if i := slices.Index(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}
