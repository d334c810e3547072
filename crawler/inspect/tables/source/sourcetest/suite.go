package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Sample is a file of the suite.
type Sample struct {
	Name  string
	Types []string // media types under which the file is read
	Input source.Input
	Fault string // in the error beside the tables, "" = none
}

// Conform tests what every reader promises: the profile and the rows of a file agree, the limits hold, reading can stop
// at any row and go on from there, and a damaged file is an error. It fails if a media type has no sample.
func Conform(t *testing.T, readers source.Readers, samples []Sample) {
	missing := readers.Types()
	for _, s := range samples {
		missing = slices.DeleteFunc(missing, func(mediaType string) bool { return slices.Contains(s.Types, mediaType) })
	}
	if len(missing) > 0 {
		t.Errorf("media types without a sample: %s", strings.Join(missing, ", "))
	}
	for _, s := range samples {
		t.Run(s.Name, func(t *testing.T) {
			for i, mediaType := range s.Types {
				c := conformance{t: t, read: readers[mediaType], in: s.Input}
				c.in.Type, c.in.TempDir = mediaType, t.TempDir()
				switch {
				case c.read == nil:
					t.Fatalf("no reader of %s", mediaType)
				case s.Fault != "":
					if found, err := c.read.Read(t.Context(), c.in, source.Options{}); len(found) == 0 || err == nil ||
						!strings.Contains(err.Error(), s.Fault) {
						t.Errorf("%d tables, %v, want %q", len(found), err, s.Fault)
					}
				default:
					c.limits()
					c.stops()
				}
				if i == 0 {
					c.damage()
				}
			}
		})
	}
}

// conformance tests one reader with one file.
type conformance struct {
	t    *testing.T
	read source.Reader
	in   source.Input
}

// rows reads a file row by row, each with the index of its table, until each returns an error.
func (c *conformance) rows(o source.Options, each func(row string) error) error {
	o.Each = func(table int, cells [][]byte) error {
		row := fmt.Sprint(table)
		for _, cell := range cells {
			row += "|" + string(cell)
		}
		return each(row)
	}
	_, err := c.read.Read(c.t.Context(), c.in, o)
	return err
}

// limits tests that a reader reads no more than it may, and the same as far as it reads.
func (c *conformance) limits() {
	whole := Read(c.t, c.read, c.in)
	if len(whole) == 0 {
		c.t.Fatal("no tables")
	}
	for name, o := range map[string]source.Options{"two rows": {MaxRows: 2}, "one table": {MaxTables: 1}, "a sample": {Sample: 1},
		"16 bytes in memory": {MaxBytes: 16}, "16 bytes unpacked": {MaxUnpack: 16}} {
		found, err := c.read.Read(c.t.Context(), c.in, o)
		if err != nil && (o.MaxBytes+o.MaxUnpack == 0 || !oneSentence(err)) {
			c.t.Errorf("%s: %v", name, err)
		}
		if len(found) > len(whole) || o.MaxTables == 1 && len(found) != 1 || err == nil && o.MaxTables == 0 && len(found) != len(whole) {
			c.t.Errorf("%s: %d of %d tables, %v", name, len(found), len(whole), err)
		}
		for i, p := range found[:min(len(found), len(whole))] {
			w := whole[i]
			switch {
			case o.MaxRows == 2 && (p.Rows != min(w.Rows, 2) || w.Rows > 2 && !p.Truncated || p.Name != w.Name):
				c.t.Errorf("%s: table %d has %d rows, truncated %t", name, i, p.Rows, p.Truncated)
			case o.Sample == 1 && w.Rows > 0 && (len(p.Sample) != 1 || !slices.Equal(p.Sample[0], w.Cells[0])):
				c.t.Errorf("%s: table %d: %q", name, i, p.Sample)
			case o.MaxRows == 0 && !p.Truncated && err == nil && p.Rows != w.Rows:
				c.t.Errorf("%s: table %d has %d of %d rows, and is not truncated", name, i, p.Rows, w.Rows)
			}
		}
	}
}

// stops tests that a reader ends with the error of whoever takes its rows, and that whoever comes back for the rest
// finds it: the same rows in the same order.
func (c *conformance) stops() {
	var whole []string
	if err := c.rows(source.Options{}, func(row string) error { whole = append(whole, row); return nil }); err != nil {
		c.t.Fatal(err)
	}
	errStop := errors.New("enough")
	for n := 1; n <= len(whole); n = n*2 + 1 {
		var got []string
		stop := func(row string) error {
			if len(got) == n {
				return errStop
			}
			got = append(got, row)
			return nil
		}
		if err := c.rows(source.Options{}, stop); n < len(whole) && !errors.Is(err, errStop) {
			c.t.Errorf("stopped after %d of %d rows: %v", n, len(whole), err)
		}
		passed := 0
		if err := c.rows(source.Options{}, func(row string) error {
			if passed++; passed > n {
				got = append(got, row)
			}
			return nil
		}); err != nil || !slices.Equal(got, whole) {
			c.t.Errorf("resumed after %d rows: %v, %q, want %q", n, err, got, whole)
		}
	}
	if len(whole) == 0 {
		return
	}
	seen := 0
	begin := source.Options{Begin: func(int, string, []string, bool) error { return errStop }}
	if err := c.rows(begin, func(string) error { seen++; return errStop }); !errors.Is(err, errStop) || seen > 0 {
		c.t.Errorf("stopped where the first table begins: %v after %d rows", err, seen)
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	cancel()
	if _, err := c.read.Read(ctx, c.in, source.Options{}); err != nil && !errors.Is(err, context.Canceled) {
		c.t.Errorf("cancelled: %v", err)
	}
}

// Values returns a column with its datatype and cells in one line. Cells that differ as texts but have the same value
// are the same.
func (t Table) Values(column string) string {
	datatype := "is missing"
	for _, c := range t.Columns {
		if c.Name == column {
			datatype = c.Datatype
		}
	}
	cells := t.Column(column)
	for i, cell := range cells {
		switch datatype {
		case "boolean":
			cells[i] = strings.ToLower(cell)
		case "decimal":
			if v, err := strconv.ParseFloat(cell, 64); err == nil {
				cells[i] = strconv.FormatFloat(v, 'f', -1, 64)
			}
		case "dateTime":
			for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006/01/02 15:04:05"} {
				if v, err := time.Parse(layout, cell); err == nil {
					cells[i] = v.Format("2006-01-02T15:04:05")
				}
			}
		}
	}
	return fmt.Sprintf("%s %s: %s\n", column, datatype, strings.Join(cells, " | "))
}

// oneSentence reports whether an error can be shown to a person: it is short, in one line, and not a panic.
func oneSentence(err error) bool {
	text := err.Error()
	return text != "" && len(text) < 400 && !strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == '\uFFFD' }) &&
		!strings.Contains(text, "the decoder failed")
}

// sound tests what holds for every table, of whatever file, and what is said of one that ends early.
func sound(found []*csvprofile.Profile, failed error) error {
	for i, p := range found {
		switch {
		case p == nil || len(p.Columns) == 0:
			return fmt.Errorf("table %d has no columns", i)
		case len(p.Columns) > csvprofile.MaxCells:
			return fmt.Errorf("table %d has %d columns", i, len(p.Columns))
		case p.Truncated && p.Rows < maxDamagedRows && len(p.Why) == 0 && failed == nil:
			return fmt.Errorf("table %d, %q, ends after %d rows and does not say why", i, p.Name, p.Rows)
		}
	}
	return nil
}
