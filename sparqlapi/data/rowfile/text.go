package rowfile

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"odarchive/triplestore/sparql/results"
)

// csvWriter writes CSV in UTF-8 as RFC 4180 describes it, but lines end in LF: with a header, commas, and double quotes
// where they are needed. A value that is missing is an empty cell, as is an empty text. A NUL, which most readers take
// for the end of the line or of the file, becomes U+FFFD.
type csvWriter struct {
	w    io.Writer
	line []byte
}

func newCSV(w io.Writer, fields []Field) (Writer, error) {
	c := &csvWriter{w: w}
	for i, f := range fields {
		c.cell(i, f.Name)
	}
	return c, c.end(len(fields))
}

func (c *csvWriter) cell(i int, text string) {
	if i > 0 {
		c.line = append(c.line, ',')
	}
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	}
	if !strings.ContainsAny(text, ",\"\r\n") && strings.TrimSpace(text) == text {
		c.line = append(c.line, text...)
		return
	}
	c.line = append(c.line, '"')
	c.line = append(c.line, strings.ReplaceAll(text, `"`, `""`)...)
	c.line = append(c.line, '"')
}

// end writes the line. One that is empty would be no row for most readers.
func (c *csvWriter) end(width int) error {
	if width == 1 && len(c.line) == 0 {
		c.line = append(c.line, `""`...)
	}
	c.line = append(c.line, '\n')
	_, err := c.w.Write(c.line)
	c.line = c.line[:0]
	return err
}

func (c *csvWriter) Write(row []Value) error {
	for i := range row {
		c.cell(i, row[i].Text)
	}
	return c.end(len(row))
}

func (c *csvWriter) Close() error { return nil }

// jsonWriter writes a row as an object, in an array or on a line of its own. A value that is missing is null.
type jsonWriter struct {
	w      io.Writer
	fields []Field
	names  [][]byte // with the colon behind
	array  bool
	rows   int64
	line   []byte
}

func newJSON(w io.Writer, fields []Field) (Writer, error) {
	j, err := newNDJSON(w, fields)
	j.(*jsonWriter).array = true
	return j, err
}

func newNDJSON(w io.Writer, fields []Field) (Writer, error) {
	j := &jsonWriter{w: w, fields: fields}
	for _, f := range fields {
		j.names = append(j.names, append(results.AppendJSON(nil, f.Name), ':'))
	}
	return j, nil
}

func (j *jsonWriter) Write(row []Value) error {
	b := j.line[:0]
	if j.array {
		if j.rows == 0 {
			b = append(b, '[')
		} else {
			b = append(b, ',', '\n')
		}
	}
	b = append(b, '{')
	for i := range row {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, j.names[i]...)
		b = appendValue(b, j.fields[i].Kind, &row[i])
	}
	b = append(b, '}')
	if !j.array {
		b = append(b, '\n')
	}
	j.rows++
	j.line = b
	_, err := j.w.Write(b)
	return err
}

func (j *jsonWriter) Close() error {
	if !j.array {
		return nil
	}
	end := "]\n"
	if j.rows == 0 {
		end = "[]\n"
	}
	_, err := io.WriteString(j.w, end)
	return err
}

func appendValue(b []byte, kind Kind, v *Value) []byte {
	switch {
	case v.Null:
		return append(b, "null"...)
	case v.Odd:
		return results.AppendJSON(b, v.Text)
	}
	switch kind {
	case Int:
		return strconv.AppendInt(b, v.Int, 10)
	case Bool:
		return strconv.AppendBool(b, v.Int != 0)
	case Float:
		if json.Valid([]byte(v.Text)) { // all digits that the file has
			return append(b, v.Text...)
		}
		return strconv.AppendFloat(b, v.Float, 'g', -1, 64)
	}
	return results.AppendJSON(b, v.Text)
}
