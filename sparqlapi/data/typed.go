package data

import (
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/sparqlapi/data/rowfile"
)

// fieldOf returns the field of a column in files that have datatypes.
func fieldOf(c csvprofile.Column) rowfile.Field {
	f := rowfile.Field{Name: c.Name}
	switch c.Datatype {
	case "integer", "gYear":
		if fits(c.Min) && fits(c.Max) {
			f.Kind = rowfile.Int
		}
	case "decimal", "double":
		f.Kind = rowfile.Float
	case "boolean":
		f.Kind = rowfile.Bool
	case "date":
		f.Kind = rowfile.Date
	case "time":
		f.Kind = rowfile.Time
	case "dateTime":
		if f.Kind = rowfile.Moment; zoned(c.Min) && zoned(c.Max) {
			f.Kind = rowfile.Instant
		}
	}
	return f
}

// fits reports whether an integer is one of 64 bits.
func fits(s string) bool {
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}

// zoned reports whether a date and time, as XSD writes it, has a time zone.
func zoned(s string) bool {
	_, clock, ok := strings.Cut(s, "T")
	return ok && strings.ContainsAny(clock, "Z+-")
}

const day = 24 * 60 * 60

// value returns a cell as a value of a field.
func (c *column) value(cell string, kind rowfile.Kind) rowfile.Value {
	if c.kind == texts {
		if v := c.read(cell); v.null {
			return rowfile.Value{Null: true}
		}
		return rowfile.Value{Text: cell}
	}
	v := c.read(cell)
	switch {
	case v.null:
		return rowfile.Value{Null: true}
	case v.odd:
		return rowfile.Value{Odd: true, Text: cell}
	case c.kind == booleans:
		return rowfile.Value{Int: int64(v.num), Text: strconv.FormatBool(v.num == 1)}
	case c.kind == numbers:
		out := rowfile.Value{Float: v.num, Text: v.text}
		if kind == rowfile.Int {
			var err error
			out.Int, err = strconv.ParseInt(v.text, 10, 64)
			out.Odd = err != nil
		}
		return out
	}
	at, _ := c.time(strings.TrimSpace(cell))
	out := rowfile.Value{Text: c.timeText(cell, at)}
	switch kind {
	case rowfile.Date:
		out.Int = floorDiv(at.Unix(), day)
	case rowfile.Time:
		out.Int = int64(at.Sub(at.Truncate(24*time.Hour)) / time.Microsecond)
	case rowfile.Moment:
		_, offset := at.Zone()
		out.Int = at.UnixMicro() + int64(offset)*1e6
	case rowfile.Instant:
		out.Int = at.UnixMicro()
	}
	return out
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// timeText returns a date or time as XSD writes it.
func (c *column) timeText(cell string, at time.Time) string {
	switch c.datatype {
	case "date":
		return at.Format("2006-01-02")
	case "gYearMonth":
		return at.Format("2006-01")
	case "time":
		return at.Format("15:04:05.999999999")
	}
	if zone := at.Location(); zone == time.UTC && !strings.HasSuffix(strings.TrimSpace(cell), "Z") {
		return at.Format("2006-01-02T15:04:05.999999999")
	}
	return at.Format(time.RFC3339Nano)
}
