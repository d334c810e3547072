package diff

import (
	"context"
	"strings"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
)

// SideOf returns a file as one side of a comparison, with what its profile says of it. file is the file itself, with
// the type that it had when it was examined; in is what is inside it, nil if that is not known.
func SideOf(file inspect.Input, in *inspect.Inside) Side {
	side := Side{R: file.Body, Size: file.Size, Type: file.Found.Type, Charset: file.Found.Charset}
	if in != nil && len(in.Tables) > 0 {
		side.Dialect, side.Schema = dialectOf(in.Tables[0]), schemaOf(in.Tables[0])
	}
	side.Tables, side.Whole = tablesOf(file, in)
	return side
}

// tablesOf returns the tables of a file, with those of its members, and whether they are all that the file
// says. file is the file itself, with the type that it had when it was examined.
func tablesOf(file inspect.Input, in *inspect.Inside) (list []TableRows, whole bool) {
	if in == nil {
		return nil, false
	}
	whole = len(in.Members) == 0 && !in.More && len(in.Faults) == 0 && in.ColumnsOmitted == 0 && !saysMore(file.Found.Type)
	add := func(member, typ, charset string, tables []*csvprofile.Profile) {
		for i, p := range tables {
			if p == nil {
				continue
			}
			t := TableRows{Name: p.Name, Columns: make([]string, len(p.Columns)), Rows: p.Rows, Schema: schemaOf(p), Cut: p.Truncated}
			if member != "" {
				t.Name = strings.TrimSuffix(member+"#"+p.Name, "#")
			}
			for k, c := range p.Columns {
				t.Columns[k] = c.Name
			}
			t.Each = func(ctx context.Context, f func(cells [][]byte) error) error {
				return inspect.EachRow(ctx, file, member, typ, charset, i, p, inspect.Limits{}, f)
			}
			list = append(list, t)
			whole = whole && !p.Truncated && p.Omitted == 0
		}
	}
	add("", file.Found.Type, file.Found.Charset, in.Tables)
	for _, m := range in.Members {
		add(m.Path, m.Type, m.Charset, m.Tables)
	}
	return list, whole
}

// saysMore reports whether files of a type have more to say than their tables: texts, scripts, attributes.
func saysMore(mediaType string) bool {
	switch mediaType {
	case "text/html", "application/xhtml+xml", "text/plain", "text/x-pcaxis", "text/calendar", "application/warc", "application/x-arc",
		"application/x-netcdf",
		"application/x-hdf5":
		return true
	}
	return strings.HasPrefix(mediaType, "application/vnd.openxmlformats-officedocument.wordprocessingml.") || strings.HasPrefix(mediaType,
		"application/vnd.ms-word.") ||
		strings.HasPrefix(mediaType, "application/vnd.oasis.opendocument.text")
}

// dialectOf returns a profile's dialect, nil if Compare has to detect it.
func dialectOf(p *csvprofile.Profile) *Dialect {
	if p == nil || len([]rune(p.Dialect.Delimiter)) != 1 {
		return nil
	}
	d := &Dialect{Delimiter: []rune(p.Dialect.Delimiter)[0], NoHeader: !p.Dialect.Header, Skip: p.Dialect.Preamble}
	if q := []rune(p.Dialect.QuoteChar); len(q) == 1 {
		d.Quote = q[0]
	}
	if e := []rune(p.Dialect.EscapeChar); len(e) == 1 {
		d.Escape = e[0]
	}
	return d
}

// schemaOf returns what a profile knows of a table's columns, nil if the two may count rows or
// columns differently.
func schemaOf(p *csvprofile.Profile) *Schema {
	if p == nil || p.Truncated || p.Empty > 0 || p.Ragged > 0 || p.Blank > 0 || p.Dialect.Footer > 0 || p.Dialect.CommentPrefix != "" ||
		p.Dialect.SkipInitialSpace || p.Dialect.HeaderRows > 1 {
		return nil
	}
	s := &Schema{Rows: p.Rows}
	for _, c := range p.Columns {
		s.Columns = append(s.Columns, KnownColumn{Type: diffType(c), Key: c.Key, Sketch: c.Sketch})
	}
	return s
}

func diffType(c csvprofile.Column) string {
	if c.Distinct == 0 {
		return "empty"
	}
	switch c.Datatype {
	case "integer", "gYear":
		return "integer"
	case "decimal", "double":
		return "decimal"
	case "date", "dateTime":
		return "date"
	case "boolean":
		return "boolean"
	}
	return "string"
}
