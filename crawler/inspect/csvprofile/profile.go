// Package csvprofile describes CSV-like files: how they are written, and what their columns contain.
//
// Read reads the bytes of a file of any size and returns a Profile: encoding, dialect, header, and for every column its
// datatype, its distribution and what kind of thing it names. It reads the bytes once, in bounded memory, and never
// fails because of what they contain: Profile.Why explains what is unusual.
//
// The same file always has the same profile. The archive keeps a Profile as JSON: field names are stable, and
// Profile.Version identifies the meaning of the fields (1).
//
// Rows is the underlying reader, for callers that need the cells. The package does not find tables in workbooks,
// archives or web pages; package tables does.
package csvprofile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"odarchive/crawler/inspect/charset"
)

// Version is the version of the profile's fields that this package writes.
const Version = 1

// Profile describes one table.
type Profile struct {
	Version   int      `json:"profile"`
	Name      string   `json:"name,omitempty"` // name of the table within its file, as of a sheet or a member
	Dialect   Dialect  `json:"dialect"`
	Rows      int64    `json:"rows"` // data rows, without header, blank lines, comments and footer
	Columns   []Column `json:"columns"`
	Empty     int      `json:"emptycolumns,omitempty"`   // columns without name and values after the last, not listed
	Omitted   int      `json:"omittedcolumns,omitempty"` // omitted columns after the last, because of a limit
	Blank     int64    `json:"blank,omitempty"`          // empty lines within the table
	Ragged    int64    `json:"ragged,omitempty"`         // rows with fewer or more cells than most
	Truncated bool     `json:"truncated,omitempty"`      // a limit was reached: counts cover what was read
	Why       []string `json:"why,omitempty"`            // how the reader came to its conclusions, one sentence each

	Notes []string `json:"notes,omitempty"` // titles, sources and remarks above and below the table, the first 10

	// What the table is. Rows of sums and rows that only head others are data rows, too, counted by Rows.
	Kind string `json:"kind,omitempty"` // relational, entity or matrix; "" if unknown
	// number, from 1, of the column whose values name what the rows are about; 0 if unknown
	Subject int `json:"subject,omitempty"`
	// numbers, from 1, of the first 100 data rows that were found to have the sums of others
	Totals      []int64 `json:"totals,omitempty"`
	TotalRows   int64   `json:"totalrows,omitempty"`   // their number
	Sections    []int64 `json:"sections,omitempty"`    // numbers, from 1, of the first 100 data rows that only head those below
	SectionRows int64   `json:"sectionrows,omitempty"` // their number

	// numbers, from 1, of the columns that the file declares to be the key; nil if it declares none
	PrimaryKey  []int        `json:"primarykey,omitempty"`
	ForeignKeys []ForeignKey `json:"foreignkeys,omitempty"` // columns whose values are keys of other tables of the file

	// Extent is the box around the geometries of GeoJSON features, and of columns of geometries: west, south, east and
	// north in degrees; nil if there are none.
	Extent *[4]float64 `json:"extent,omitempty"`

	Geometry *Geometry `json:"geometry,omitempty"` // of geographic formats; nil for others

	Sample [][]string `json:"-"` // the first rows, if requested (ReadRows, Records)
}

// Width returns the number of columns of the table, including those omitted because of a limit.
func (p *Profile) Width() int { return len(p.Columns) + p.Omitted }

// Column describes one column.
type Column struct {
	Name   string   `json:"name"`             // the header's words, or _col.N; unique within the table
	Titles []string `json:"titles,omitempty"` // cells of the header rows, unless Name says the same
	// csvw/XSD local name: string integer decimal double boolean date dateTime time gYear ...
	Datatype  string   `json:"datatype"`
	Format    string   `json:"format,omitempty"`    // pattern of dates and numbers, "Y|N" of booleans, after CSVW (UAX 35)
	Decimal   string   `json:"decimal,omitempty"`   // decimal character if not "."
	Group     string   `json:"group,omitempty"`     // grouping character, if any
	Unit      string   `json:"unit,omitempty"`      // unit of measurement that Name ends with, as written there
	Personal  bool     `json:"personal,omitempty"`  // the values seem to identify people
	Class     string   `json:"class,omitempty"`     // IRI of the class of things that the column names, for rdfs:range
	Nulls     int64    `json:"nulls"`               // cells without a value
	NullWords []string `json:"nullwords,omitempty"` // words that mean no value in this column
	Distinct  int64    `json:"distinct"`            // number of distinct values
	Exact     bool     `json:"exact"`               // Distinct is counted, not estimated
	Unique    bool     `json:"unique,omitempty"`    // no value occurs twice
	Key       bool     `json:"key,omitempty"`       // unique and without nulls: a candidate key
	Min       string   `json:"min,omitempty"`       // minimum, canonical in the datatype
	Max       string   `json:"max,omitempty"`
	Mean      *float64 `json:"mean,omitempty"`      // numbers only
	StdDev    *float64 `json:"stddev,omitempty"`    // numbers only
	Quantiles []string `json:"quantiles,omitempty"` // at 5, 25, 50, 75 and 95 %, numbers and dates only
	MinLen    int      `json:"minlen"`              // in characters
	MaxLen    int      `json:"maxlen"`
	// most frequent values, most frequent first; of many values, only those that occur more than once
	Top    []Count `json:"top,omitempty"`
	Mostly string  `json:"mostly,omitempty"` // datatype of at least 95 % of the values of a string column
	Labels []Label `json:"labels,omitempty"` // what codes stand for, if the file says so
	Sketch Sketch  `json:"sketch,omitempty"`
}

// ForeignKey says that the values of columns are keys of a table of the same file or archive.
type ForeignKey struct {
	Columns []int  `json:"columns"`          // numbers, from 1
	Member  string `json:"member,omitempty"` // path of the archive's member that has the other table, "" if the same has both
	Table   int    `json:"table,omitempty"`  // index of the other table among those of its file or member
	To      []int  `json:"to"`               // numbers, from 1, of its columns, as many
	Found   bool   `json:"found,omitempty"`  // it was found by names and values, and is not declared
}

// Label is what a code stands for.
type Label struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Count is a value and its number of occurrences.
type Count struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

// Options are options of Read. The zero value reads the whole file.
type Options struct {
	Charset  string   // declared encoding, used if the bytes agree
	MaxBytes int64    // maximum bytes to read; 0 = all
	MaxRows  int64    // maximum rows to read; 0 = all
	Dialect  *Dialect // known dialect; nil = detect it
	Sample   int      // number of rows that ReadRows keeps in the profile

	// Each, if not nil, gets the data rows, and nothing is counted but them: the profile has their number, and columns
	// without more than names. The rows are those that a profile counts, in their order. The cells are valid until Each
	// returns. An error of Each ends the reading, which returns it.
	Each func(cells [][]byte) error
	// Mark, if not nil, gets places of the file from which Read can go on later, before Each gets their rows. There are
	// none in encodings whose characters have different lengths, UTF-8 excepted. Dialect must be set.
	Mark func(Mark)
	// From, if not nil, is where to begin: r is at its Offset, and Each gets the rows from its Row on.
	From    *Mark
	skipped int64 // bytes before the text, in UTF-8
	apart   int64 // least distance of marks; 0 for markEvery

	// Begin, if not nil, is called before the first row of Each, by ReadRows and Records.
	Begin Begin
}

// Begin gets the name of a table and of its columns, as in a Profile; name is "" if it is not known before the rows. If
// more, rows may add columns. An error ends the reading, as one of Each.
type Begin func(name string, columns []string, more bool) error

// Read profiles one CSV-like file. It fails only if r does or ctx ends. Read does not copy a small file that r has in
// memory: such an r has the methods Size and Head(n), which returns the first n bytes, or all, and does not change them
// until Read returns.
func Read(ctx context.Context, r io.Reader, o Options) (*Profile, error) {
	p := &Profile{Version: Version, Columns: []Column{}}
	if o.MaxBytes > 0 {
		r = &limited{r: r, left: o.MaxBytes, hit: &p.Truncated}
	}
	if o.From != nil {
		return p, p.resume(ctx, r, o)
	}
	head, whole, err := readHead(r)
	if err != nil {
		return nil, fmt.Errorf("csvprofile: read: %w", err)
	}
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		o.skipped = int64(len(byteOrderMark))
	}
	if o.Dialect != nil {
		p.Dialect = *o.Dialect
	} else {
		p.Dialect = p.sniff(head, whole, o.Charset)
	}
	rows, err := p.rows(head, whole, r)
	if err != nil {
		return nil, err
	}
	if err := p.profile(ctx, rows, o); err != nil {
		return nil, err
	}
	return p, nil
}

// rows returns a reader of the records of a file that begins with head. Unless whole is set, the rest is in r.
func (p *Profile) rows(head []byte, whole bool, r io.Reader) (*Rows, error) {
	if whole && isUTF8(p.Dialect.Encoding) {
		return newRowsBytes(bytes.TrimPrefix(head, []byte(byteOrderMark)), p.Dialect), nil
	}
	if whole { // r may still be at its beginning, if head came from memory
		r = bytes.NewReader(head)
	} else {
		r = io.MultiReader(bytes.NewReader(head), r)
	}
	text, err := charset.NewReader(r, p.Dialect.Encoding)
	if err != nil {
		p.because("%v: read as windows-1252", err)
		if text, err = charset.NewReader(r, "windows-1252"); err != nil {
			return nil, err
		}
	}
	return NewRows(text, p.Dialect), nil
}

// because adds a sentence to Why.
func (p *Profile) because(format string, a ...any) { p.Why = append(p.Why, fmt.Sprintf(format, a...)) }

// limited is an io.LimitReader that sets hit when it cuts something off.
type limited struct {
	r    io.Reader
	left int64
	hit  *bool
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		var one [1]byte
		if n, _ := io.ReadFull(l.r, one[:]); n > 0 {
			*l.hit = true
		}
		return 0, io.EOF
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	return n, err
}

// profile reads all rows and fills p.
func (p *Profile) profile(ctx context.Context, rows *Rows, o Options) error {
	t := newTable(nil)
	t.each = o.Each
	rows.moving = func() { t.flushBatch() }
	var header [][]string
	marks := newMarker(p.Dialect.Encoding, rows, o)
	skip := p.Dialect.Preamble
	if o.From != nil { // behind preamble and header
		t.widen(o.From.Width)
		t.rows, t.width, skip = o.From.Row, o.From.Width, 0
		header = make([][]string, p.Dialect.HeaderRows)
	}
	for {
		if held := len(t.batch); cap(t.batch)-held >= len(rows.cells) {
			rows.cells = t.batch[held:] // hold expects a row as long as the previous one here
		}
		if !rows.Next() {
			break
		}
		cells := rows.Cells()
		if skip > 0 {
			skip--
			p.note(copyCells(cells))
			continue
		}
		if len(cells) == 1 && len(trim(cells[0])) == 0 {
			if t.rows > 0 {
				p.Blank++
			}
			continue
		}
		if p.comment(cells) {
			if t.rows == 0 && len(p.Notes) < maxNotes {
				p.note(copyCells(cells))
			}
			continue
		}
		if len(header) < p.Dialect.HeaderRows {
			if header = append(header, copyCells(cells)); len(header) == p.Dialect.HeaderRows {
				t = newTable(joinHeader(header))
				t.header, t.each = header, o.Each
			}
			continue
		}
		if o.Each == nil {
			t.hold(cells)
		} else {
			marks.note(t)
			if t.addRow(cells); t.err != nil {
				return t.err
			}
		}
		if t.rows&1023 == 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("csvprofile: %w", err)
			}
			if o.MaxRows > 0 && t.rows >= o.MaxRows {
				p.Truncated = true
				break
			}
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("csvprofile: read: %w", err)
	}
	if o.From == nil && len(header) > 0 && len(header) < p.Dialect.HeaderRows {
		t = newTable(joinHeader(header))
		t.header = header
	}
	if n := rows.Unclosed(); n > 0 {
		p.because("%d quotations never end", n)
	}
	t.flushBatch()
	t.finish(p)
	return nil
}

// comment reports whether a record is a comment.
func (p *Profile) comment(cells [][]byte) bool {
	pre := p.Dialect.CommentPrefix
	return pre != "" && bytes.HasPrefix(cells[0], []byte(pre))
}

// joinHeader makes one name per column from several header rows. A name above gaps that the next row fills spans them.
func joinHeader(rows [][]string) []string {
	rows = slices.Clone(rows)
	width := 0
	for n, r := range rows {
		width = max(width, len(r))
		if n+1 < len(rows) && spannedBy(r, rows[n+1]) {
			rows[n] = slices.Clone(r)
			for i := 1; i < len(r); i++ {
				if strings.TrimSpace(r[i]) == "" {
					rows[n][i] = rows[n][i-1]
				}
			}
		}
	}
	names := make([]string, width)
	for i := range names {
		var parts []string
		for _, r := range rows {
			if i < len(r) {
				if s := strings.Join(strings.Fields(r[i]), " "); s != "" && (len(parts) == 0 || parts[len(parts)-1] != s) {
					parts = append(parts, s)
				}
			}
		}
		names[i] = strings.Join(parts, " ")
	}
	return names
}
