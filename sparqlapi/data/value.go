package data

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/inspect/csvprofile"
)

// column reads the cells of one column as its profile describes them.
type column struct {
	name, datatype string
	kind           kind
	nulls          []string // words without a value
	decimal, group string   // of numbers
	percent        bool
	layouts        []string // of times: as XSD writes them, then as the column does
	yes            string   // of booleans, "" if the words are those of XSD
	profile        *csvprofile.Column
}

// kind is how the values of a column are compared.
type kind byte

const (
	texts kind = iota
	numbers
	times
	booleans
)

func newColumn(c csvprofile.Column) column {
	col := column{profile: &c, name: c.Name, datatype: c.Datatype, nulls: c.NullWords, decimal: c.Decimal, group: c.Group,
		percent: strings.HasSuffix(c.Format, "%")}
	switch c.Datatype {
	case "integer", "decimal", "double", "gYear":
		col.kind = numbers
	case "boolean":
		col.kind = booleans
		col.yes, _, _ = strings.Cut(c.Format, "|")
	case "date", "dateTime", "time", "gYearMonth":
		col.kind = times
		col.layouts = layoutsOf(c.Datatype, c.Format)
	}
	return col
}

// layoutsOf returns the layouts, of package time, in which a column's dates and times may be written.
func layoutsOf(datatype, format string) []string {
	list := map[string][]string{
		"date":       {"2006-01-02", "2006-01-02Z07:00"},
		"dateTime":   {"2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02"},
		"time":       {"15:04:05", "15:04:05Z07:00", "15:04"},
		"gYearMonth": {"2006-01"},
	}[datatype]
	if format == "" {
		return list
	}
	layout := strings.NewReplacer("yyyy", "2006", "yy", "06", "MMM", "Jan", "MM", "01", "M", "1", "dd", "02", "d", "2", "HH", "15", "H",
		"15",
		"hh", "03", "h", "3", "mm", "04", "ss", "05", ".SSSSSSSSS", "", "a", "PM", "XXX", "Z07:00", "z", "MST").Replace(format)
	return append(slices.Clone(list), layout)
}

// value is a cell that has been read. Of num and text one counts, by the column's kind.
type value struct {
	null bool
	num  float64
	text string
	odd  bool // not of the column's kind: compared as text, after all others
}

// read reads a cell. Spaces around it do not count.
func (c *column) read(cell string) value {
	cell = strings.TrimSpace(cell)
	if cell == "" || slices.Contains(c.nulls, cell) {
		return value{null: true}
	}
	switch c.kind {
	case numbers:
		if s, ok := c.number(cell); ok {
			if x, err := strconv.ParseFloat(s, 64); err == nil {
				return value{num: x, text: s}
			}
		}
	case times:
		if at, ok := c.time(cell); ok {
			return value{num: float64(at.Unix()) + float64(at.Nanosecond())/1e9, text: cell}
		}
	case booleans:
		if yes, ok := c.boolean(cell); ok {
			if yes {
				return value{num: 1, text: cell}
			}
			return value{text: cell}
		}
	default:
		return value{text: cell}
	}
	return value{text: cell, odd: true}
}

// blanks removes the characters that group digits like a space.
var blanks = strings.NewReplacer("\u00a0", "", "\u202f", "", "\u2009", "")

// number returns a number as XSD and JSON write it. ok is false for what is not a number of the column.
func (c *column) number(cell string) (s string, ok bool) {
	s = strings.TrimPrefix(cell, "+")
	if rest, ok := strings.CutPrefix(s, "\u2212"); ok { // a minus sign that is no hyphen
		s = "-" + rest
	}
	if c.group != "" {
		s = strings.ReplaceAll(s, c.group, "")
		if c.group == " " {
			s = blanks.Replace(s)
		}
	}
	if c.decimal != "" && c.decimal != "." {
		s = strings.Replace(s, c.decimal, ".", 1)
	}
	if c.percent {
		if s, ok = strings.CutSuffix(s, "%"); !ok {
			return "", false
		}
		x, err := strconv.ParseFloat(strings.Trim(s, " \u00a0"), 64)
		return strconv.FormatFloat(x/100, 'f', -1, 64), err == nil
	}
	if x, err := strconv.ParseFloat(s, 64); err != nil || x-x != 0 || strings.ContainsAny(s, "xXpP_") {
		return "", false
	}
	return s, true
}

func (c *column) time(cell string) (time.Time, bool) {
	for _, layout := range c.layouts {
		if at, err := time.Parse(layout, cell); err == nil {
			return at, true
		}
	}
	return c.profile.Moment(cell)
}

func (c *column) boolean(cell string) (yes, ok bool) {
	if c.yes != "" && strings.EqualFold(cell, c.yes) {
		return true, true
	}
	switch strings.ToLower(cell) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, c.yes != ""
}

// compare orders two values that are not null.
func (c *column) compare(a, b value) int {
	switch {
	case c.kind == texts || a.odd && b.odd:
		return strings.Compare(a.text, b.text)
	case a.odd != b.odd:
		if a.odd {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.num, b.num)
}

// typed returns a cell as JSON: null, a number, a boolean, a date or time as XSD writes it, or the text itself.
func (c *column) typed(cell string) any {
	v := c.read(cell)
	switch {
	case v.null:
		return nil
	case v.odd || c.kind == texts:
		return cell
	case c.kind == booleans:
		return v.num == 1
	case c.kind == numbers:
		if json.Valid([]byte(v.text)) {
			return json.Number(v.text)
		}
		return v.num // such as .5 or 007
	}
	at, _ := c.time(strings.TrimSpace(cell))
	return c.timeText(cell, at)
}
