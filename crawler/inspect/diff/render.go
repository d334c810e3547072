package diff

import (
	"bufio"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Sentence returns the change as one line.
func (s *Summary) Sentence() string {
	var parts []string
	say := func(n int64, one, many string) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	say(s.ColumnsAdded, "column added", "columns added")
	say(s.ColumnsRemoved, "column removed", "columns removed")
	say(s.ColumnsRenamed, "column renamed", "columns renamed")
	say(s.ColumnsRetyped, "column of another type", "columns of other types")
	say(s.RowsAdded, "row added", "rows added")
	say(s.RowsRemoved, "row removed", "rows removed")
	say(s.RowsChanged, "row changed", "rows changed")
	say(s.TriplesAdded, "statement added", "statements added")
	say(s.TriplesRemoved, "statement removed", "statements removed")
	say(s.PathsAdded, "place added", "places added")
	say(s.PathsRemoved, "place removed", "places removed")
	say(s.PathsChanged, "place changed", "places changed")
	switch {
	case len(parts) > 0 && s.Part:
		return strings.Join(parts, ", ") + ", as far as the tables were read"
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case s.Kind != Bytes && s.Same:
		return "the same content, written differently"
	case s.Same:
		return "nothing changed"
	}
	return fmt.Sprintf("%d bytes became %d; %d of them differ", s.SizeFrom, s.SizeTo, s.BytesChanged)
}

// WriteText writes the report for a terminal, without control characters of the files.
func (r *Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	line := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	line("%s", r.Sentence())
	if r.Why != "" {
		line("(%s)", plain(r.Why))
	}
	for _, name := range r.TablesAdded {
		line("+ table %s", plain(name))
	}
	for _, name := range r.TablesRemoved {
		line("- table %s", plain(name))
	}
	for _, t := range r.Tables() {
		if t.Name != "" {
			line("table %s", plain(t.Name))
		}
		for _, c := range t.Added {
			line("+ column %s (%s)", plain(c.Name), c.Type)
		}
		for _, c := range t.Removed {
			line("- column %s (%s)", plain(c.Name), c.Type)
		}
		for _, c := range t.Renamed {
			line("~ column %s is now %s", plain(c.From), plain(c.To))
		}
		for _, c := range t.Retyped {
			line("~ column %s was %s, is %s", plain(c.Name), c.From, c.To)
		}
		if len(t.Key) > 0 {
			line("rows are matched by %s", plain(strings.Join(t.Key, ", ")))
		}
		for _, row := range t.Rows {
			writeRow(line, t, row)
		}
		more(line, int64(len(t.Rows)), int64(len(t.Rows))+t.Unlisted())
	}
	if t := r.Triples; t != nil {
		for _, s := range t.Removed {
			line("- %s", plain(s))
		}
		for _, s := range t.Added {
			line("+ %s", plain(s))
		}
		more(line, int64(len(t.Added)+len(t.Removed)), r.TriplesAdded+r.TriplesRemoved)
	}
	if p := r.Paths; p != nil {
		for _, c := range p.Changes {
			switch c.Op {
			case "added":
				line("+ %s: %s", plain(c.Path), plain(c.To))
			case "removed":
				line("- %s: %s", plain(c.Path), plain(c.From))
			default:
				line("~ %s: %s -> %s", plain(c.Path), plain(c.From), plain(c.To))
			}
		}
		more(line, int64(len(p.Changes)), r.PathsAdded+r.PathsRemoved+r.PathsChanged)
	}
	if r.Kind == Bytes && !r.Same {
		line("the first %d and the last %d bytes are the same", r.Range.Prefix, r.Range.Suffix)
	}
	return out.Flush()
}

// Tables returns the tables that changed.
func (r *Report) Tables() []*Table {
	if r.Table == nil {
		return nil
	}
	return append([]*Table{r.Table}, r.More...)
}

func writeRow(line func(string, ...any), t *Table, row RowChange) {
	switch row.Op {
	case "added":
		line("+ row %d: %s", row.Row, plain(strings.Join(row.Cells, " | ")))
	case "removed":
		line("- row %d: %s", row.Row, plain(strings.Join(row.Cells, " | ")))
	default:
		which := strings.Join(row.Key, ", ")
		if which == "" {
			which = rowContext(t, row)
		}
		line("~ row %d %s", row.Row, plain(which))
		for _, c := range row.Diff {
			line("    %s: %s -> %s", plain(c.Column), plain(c.From), plain(c.To))
		}
	}
}

func more(line func(string, ...any), shown, all int64) {
	if shown < all {
		line("... and %d more", all-shown)
	}
}

// plain puts text of a file on one line and replaces control characters, which could be escape sequences.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r < ' ' || (r >= 0x7f && r < 0xa0) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069):
			return '\uFFFD'
		}
		return r
	}, s)
}

//go:embed report.html
var templates embed.FS

var page = template.Must(template.New("report.html").Funcs(template.FuncMap{
	"join": func(list []string) string { return strings.Join(list, ", ") },
	"rowText": func(row RowChange) string {
		if len(row.Key) == 0 {
			return fmt.Sprint(row.Row)
		}
		return fmt.Sprintf("%d (%s)", row.Row, strings.Join(row.Key, ", "))
	},
	"context": rowContext,
	"more": func(shown int, counts ...int64) int64 {
		for _, n := range counts {
			shown -= int(n)
		}
		return int64(-shown)
	},
	"sum": func(list ...int) (n int) {
		for _, k := range list {
			n += k
		}
		return n
	},
}).ParseFS(templates, "report.html"))

// maxContext is how many values tell which row changed, where its columns do not fit on a page.
const maxContext = 4

// rowContext returns the first values of a changed row that stayed the same, with the names of their columns.
func rowContext(t *Table, row RowChange) string {
	var parts []string
	for i, v := range row.Cells[:min(len(row.Cells), len(t.To))] {
		name := t.To[i].Name
		if v == "" || slices.ContainsFunc(row.Diff, func(c CellChange) bool { return c.Column == name }) {
			continue
		}
		if parts = append(parts, name+" "+v); len(parts) == maxContext {
			break
		}
	}
	return strings.Join(parts, ", ")
}

// WriteHTML writes the report as an HTML fragment: one section without styles or scripts, with classes for styling.
func (r *Report) WriteHTML(w io.Writer) error { return r.WriteLinkedHTML(w, nil) }

// WriteLinkedHTML is WriteHTML with links: to returns the address of what is known of a row that changed, "" for
// nothing. It may be nil.
func (r *Report) WriteLinkedHTML(w io.Writer, to func(t *Table, row RowChange) string) error {
	return page.Execute(w, linked{r, to})
}

// linked is a report with the links of its rows.
type linked struct {
	*Report
	to func(t *Table, row RowChange) string
}

// Grid returns the changes of a table below the heads of its columns; nil if they are shown as lists of values.
func (l linked) Grid(t *Table) *grid { return t.grid() }

// Link returns the address of a row, "" for none.
func (l linked) Link(t *Table, row RowChange) string {
	if l.to == nil {
		return ""
	}
	return l.to(t, row)
}
