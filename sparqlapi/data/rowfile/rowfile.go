// Package rowfile writes the rows of one table as a file that other programs read: CSV, JSON, NDJSON, Parquet or Arrow.
//
// A Writer gets one row after another and keeps a bounded number of them, so that tables of any length can be streamed.
// Values have the kinds of their fields. Text formats can also write a value that has another kind than its field, as
// text; the others return an *OddError.
package rowfile

import (
	"fmt"
	"io"
)

// Kind is what the values of a field are.
type Kind uint8

// Kinds. A day is counted from 1970-01-01, a moment in microseconds from its beginning.
const (
	Text    Kind = iota
	Int          // Value.Int
	Float        // Value.Float
	Bool         // Value.Int, 0 or 1
	Date         // Value.Int in days
	Time         // Value.Int in microseconds from midnight
	Moment       // Value.Int in microseconds, of a clock whose place is unknown
	Instant      // Value.Int in microseconds, in UTC
)

// Field is a column. The names of a table's fields differ.
type Field struct {
	Name string
	Kind Kind
}

// Value is a cell.
type Value struct {
	Null  bool   // there is no value
	Odd   bool   // the cell has not the kind of its field: only Text is set
	Text  string // the value as XSD writes it, in UTF-8
	Int   int64
	Float float64
}

// Format is a kind of file.
type Format struct {
	Name   string // extension of its files
	Type   string // media type
	Binary bool   // values that are odd cannot be written

	open func(w io.Writer, fields []Field) (Writer, error)
}

// Formats returns the formats that can be written.
func Formats() []Format {
	return []Format{
		{"csv", "text/csv; charset=utf-8; header=present", false, newCSV},
		{"json", "application/json", false, newJSON},
		{"ndjson", "application/x-ndjson", false, newNDJSON},
		{"parquet", "application/vnd.apache.parquet", true, newParquet},
		{"arrow", "application/vnd.apache.arrow.file", true, newArrow},
	}
}

// Open begins a file.
func (f Format) Open(w io.Writer, fields []Field) (Writer, error) { return f.open(w, fields) }

// Writer writes a file. After an error it must not be used.
type Writer interface {
	// Write writes a row, which has a value for each field. It does not keep the slice.
	Write(row []Value) error
	// Close writes what is left. It does not close the underlying writer.
	Close() error
}

// OddError says that a value cannot be written in its column.
type OddError struct {
	Column int // index of the field
	Row    int64
	Text   string
}

func (e *OddError) Error() string {
	return fmt.Sprintf("the value %.60q in row %d is not of the datatype of column %d", e.Text, e.Row, e.Column+1)
}

// Limits of what a writer keeps of the rows until it writes them.
const (
	groupRows  = 1 << 16
	groupBytes = 8 << 20 // of text, and of 8 for each other value
)

// size returns the approximate memory of a value in bytes.
func (v *Value) size() int { return 8 + len(v.Text) }
