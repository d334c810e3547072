package archive

import (
	"context"
	"strings"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/diff"
)

// DiffTables returns the tables of a file for package diff, with those of its members, and whether they are all that the file
// says. file is the file itself, with the type that it had when it was examined.
func DiffTables(file inspect.Input, in *inspect.Inside) (list []diff.TableRows, whole bool) {
	if in == nil {
		return nil, false
	}
	whole = len(in.Members) == 0 && !in.More && len(in.Faults) == 0 && in.ColumnsOmitted == 0 && !saysMore(file.Found.Type)
	add := func(member, typ, charset string, tables []*csvprofile.Profile) {
		for i, p := range tables {
			if p == nil {
				continue
			}
			t := diff.TableRows{Name: p.Name, Columns: make([]string, len(p.Columns)), Rows: p.Rows, Schema: DiffSchema(p), Cut: p.Truncated}
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
	case "text/html", "application/xhtml+xml", "text/plain", "text/x-pcaxis", "text/calendar", "application/warc", "application/x-arc", "application/x-netcdf",
		"application/x-hdf5":
		return true
	}
	return strings.HasPrefix(mediaType, "application/vnd.openxmlformats-officedocument.wordprocessingml.") || strings.HasPrefix(mediaType, "application/vnd.ms-word.") ||
		strings.HasPrefix(mediaType, "application/vnd.oasis.opendocument.text")
}
