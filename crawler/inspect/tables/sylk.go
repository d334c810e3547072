package tables

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of sheets that are read into memory.
const (
	gridCells   = 4_000_000
	gridRows    = 1 << 20
	gridColumns = csvprofile.MaxCells
)

// grid is a sheet whose cells come in any order.
type grid struct {
	rows  [][]string
	cells int
	full  bool // a cell was beyond the limits
}

// set sets a cell; row and column count from 0.
func (g *grid) set(row, column int, value string) {
	if row < 0 || column < 0 || row >= gridRows || column >= gridColumns || g.cells+column+1 > gridCells {
		g.full = true
		return
	}
	for len(g.rows) <= row {
		g.rows = append(g.rows, nil)
	}
	for len(g.rows[row]) <= column {
		g.rows[row] = append(g.rows[row], "")
		g.cells++
	}
	g.rows[row][column] = value
}

// profile profiles the tables of the sheet.
func (g *grid) profile(ctx context.Context, o Options) ([]*csvprofile.Profile, error) {
	at := 0
	found, _, err := source.Sheet(ctx, "", func() ([]string, error) {
		if at >= len(g.rows) {
			return nil, io.EOF
		}
		at++
		return g.rows[at-1], nil
	}, nil, o)
	if g.full && len(found) > 0 {
		found[len(found)-1].Note("cells beyond the limits of %d rows and %d columns, or of %d cells, are left out", gridRows, gridColumns,
			gridCells)
	}
	return found, err
}

// sylk reads a sheet in Microsoft's symbolic links: records of fields, of which C has a cell, F formats, P number
// formats.
func sylk(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	if err := in.Within(o.MaxBytes); err != nil {
		return nil, err
	}
	r := bufio.NewReader(in.Text())
	g := &grid{}
	book := &xlsWorkbook{formats: map[uint16]dateParts{}} // for its number formats
	row, column, style := 0, 0, uint16(0)
	for n := 0; ; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line, err := readLine(r)
		kind, rest, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), ";")
		fields := sylkFields(rest)
		switch {
		case n == 0 && kind != "ID":
			return nil, fmt.Errorf("%w: it does not begin with ID", ErrFormat)
		case kind == "P" && strings.HasPrefix(rest, "P") && len(book.styles) < 10_000:
			format := uint16(1000 + len(book.styles))
			book.styles = append(book.styles, format)
			book.formats[format] = datePartsOf(strings.ReplaceAll(strings.Join(fields, ";")[1:], "\\", ""))
		case kind == "C" || kind == "F":
			value, shown := "", false
			for _, f := range fields {
				if f == "" {
					continue
				}
				k, err := strconv.Atoi(f[1:])
				switch {
				case f[0] == 'Y' && err == nil:
					row = k - 1
				case f[0] == 'X' && err == nil:
					column = k - 1
				case f[0] == 'P' && kind == "F" && err == nil && k >= 0 && k < 10_000:
					style = uint16(k)
				case f[0] == 'K' && kind == "C":
					value, shown = f[1:], true
				}
			}
			if kind == "C" {
				if shown {
					g.set(row, column, sylkValue(value, book, style))
				}
				style = 0 // a format is for the next cell
			}
		}
		if kind == "E" || err != nil {
			return g.profile(ctx, o)
		}
	}
}

// sylkFields divides a record. Two semicolons are one in a field.
func sylkFields(record string) []string {
	const mark = "\x00"
	fields := strings.Split(strings.ReplaceAll(record, ";;", mark), ";")
	for i := range fields {
		fields[i] = strings.ReplaceAll(fields[i], mark, ";")
	}
	return fields
}

// sylkValue returns a cell: a text in quotes, a number, TRUE, FALSE, or the name of an error, which is no value.
func sylkValue(value string, book *xlsWorkbook, style uint16) string {
	if text, ok := strings.CutPrefix(value, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(text, `"`), "\x1b :", "\n")
	}
	switch value {
	case "TRUE":
		return "true"
	case "FALSE":
		return "false"
	}
	if strings.HasPrefix(value, "#") {
		return ""
	}
	if x, err := strconv.ParseFloat(value, 64); err == nil && int(style) < len(book.styles) && book.formats[book.styles[style]] != 0 {
		return book.number(x, style)
	}
	return value
}

// dif reads a sheet in the data interchange format: a header, and then two lines for each cell. Its tuples are rows, as
// all programs but the first have them.
func dif(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	if err := in.Within(o.MaxBytes); err != nil {
		return nil, err
	}
	r := bufio.NewReader(in.Text())
	next := func() (string, error) {
		line, err := readLine(r)
		return strings.TrimRight(string(line), "\r\n"), err
	}
	for n := 0; ; n++ { // the items of the header have three lines each
		topic, err := next()
		if err != nil || n > 1000 {
			return nil, fmt.Errorf("%w: it has no data", ErrFormat)
		}
		next()
		next()
		if topic == "DATA" {
			break
		}
	}
	g := &grid{}
	row, column := -1, 0
	for n := 0; ; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		head, err := next()
		text, _ := next()
		kind, number, _ := strings.Cut(head, ",")
		switch {
		case kind == "-1" && text == "BOT":
			row, column = row+1, 0
		case kind == "-1" && text == "EOD", err != nil:
			return g.profile(ctx, o)
		case row < 0:
		case kind == "0":
			g.set(row, column, difNumber(strings.TrimSpace(number), text))
			column++
		case kind == "1":
			text = strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`)
			g.set(row, column, strings.ReplaceAll(text, `""`, `"`))
			column++
		}
	}
}

// difNumber returns a number with its indicator: V for a value, TRUE and FALSE, NA and ERROR for none.
func difNumber(number, indicator string) string {
	switch indicator {
	case "V":
		return number
	case "TRUE", "FALSE":
		return strings.ToLower(indicator)
	}
	return ""
}
