package ui

import (
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/ui/plot"
)

// tablePreview reads the first rows of a table from its text, with the dialect that the archive found.
func tablePreview(text string, d csvprofile.Dialect, cut bool) preview {
	p := preview{Kind: "table", More: cut}
	rows := csvprofile.NewRows(strings.NewReader(text), d)
	for i := 0; rows.Next(); i++ {
		switch {
		case i < d.Preamble:
			continue
		case i < d.Preamble+d.HeaderRows:
			p.Header = mergeHeader(p.Header, cells(rows.Cells()))
			continue
		case len(rows.Cells()) == 1 && len(rows.Cells()[0]) == 0: // a blank line
			continue
		case len(p.Rows) == previewRows:
			p.More = true
			return p
		}
		p.Rows = append(p.Rows, cells(rows.Cells()))
	}
	return p
}

// classesOf returns the classes of the columns that a preview shows, nil without a profile.
func classesOf(profile *csvprofile.Profile) []string {
	if profile == nil {
		return nil
	}
	classes := make([]string, min(len(profile.Columns), previewCols))
	for i := range classes {
		classes[i] = profile.Columns[i].Class
	}
	return classes
}

// thing returns the address of what a cell identifies, "" if nothing is known of that.
func thing(classes []string, column int, cell string) string {
	if column >= len(classes) {
		return ""
	}
	return csvprofile.LinkOf(classes[column], cell)
}

func cells(raw [][]byte) []string {
	out := make([]string, min(len(raw), previewCols))
	for i := range out {
		out[i] = shorten(strings.ToValidUTF8(string(raw[i]), "\uFFFD"))
	}
	return out
}

// mergeHeader joins the titles of several header rows.
func mergeHeader(above, below []string) []string {
	for i, title := range below {
		if i < len(above) && above[i] != "" && title != "" && above[i] != title {
			below[i] = above[i] + " / " + title
		} else if i < len(above) && title == "" {
			below[i] = above[i]
		}
	}
	return below
}

func shorten(s string) string {
	if utf8.RuneCountInString(s) <= previewCell {
		return s
	}
	return string([]rune(s)[:previewCell]) + "…"
}

// table is a version's profile, for a page.
type table struct {
	Size    string // columns and rows
	Dialect string
	Kind    string   // what the table is, "" if nothing is known
	Notes   []string // how it was read
	Around  []string // what stands above and below it
	List    []column
}

// column is a column of a table's profile.
type column struct {
	I                                int
	Name, Datatype, Format, Distinct string
	Nulls, Min, Max, Mean, Class     string
	Unit                             string
	Key, Personal                    bool
	Plot                             template.HTML
	Top                              string // most frequent values, shown on hover
	Labels                           []csvprofile.Label
	MoreLabels                       int // labels that are not shown
}

func sizeOf(p *csvprofile.Profile) string {
	return plural(p.Width(), "column") + ", " + atLeast(p) + plural(int(p.Rows), "row")
}

// atLeast returns what stands before the number of a table's rows: "at least " if it was not read to its end.
func atLeast(p *csvprofile.Profile) string {
	if p.Truncated {
		return "at least "
	}
	return ""
}

const maxColumns = 500

// maxLabels is how many labels of codes are shown of a column.
const maxLabels = 50

func tableFacts(p *csvprofile.Profile) *table {
	if p == nil {
		return nil
	}
	t := &table{Size: sizeOf(p), Dialect: dialectWords(p.Dialect), Notes: p.Why, Around: p.Notes, Kind: kindWords(p)}
	for i, c := range p.Columns[:min(len(p.Columns), maxColumns)] {
		line := column{I: i + 1, Name: c.Name, Datatype: c.Datatype, Format: c.Format, Unit: c.Unit, Distinct: humanCount(c.Distinct),
			Nulls: humanCount(c.Nulls),
			Min:   c.Min, Max: c.Max, Key: c.Key, Plot: columnPlot(c)}
		if !c.Exact {
			line.Distinct = "≈ " + line.Distinct
		}
		if c.Mean != nil {
			line.Mean = decimal(*c.Mean)
		}
		if c.Class != "" {
			line.Class, line.Personal = curie(c.Class, ""), c.Personal
		}
		line.Labels = c.Labels[:min(len(c.Labels), maxLabels)]
		line.MoreLabels = len(c.Labels) - len(line.Labels)
		var top []string
		for _, v := range c.Top[:min(len(c.Top), 5)] {
			top = append(top, shorten(v.Value)+" ("+humanCount(v.Count)+")")
		}
		line.Top = strings.Join(top, ", ")
		t.List = append(t.List, line)
	}
	return t
}

// kindWords says what a table is, and which of its rows are other than records.
func kindWords(p *csvprofile.Profile) string {
	var said []string
	switch p.Kind {
	case csvprofile.KindRelational:
		said = append(said, "a row is a record")
	case csvprofile.KindEntity:
		said = append(said, "the rows are attributes of one thing")
	case csvprofile.KindMatrix:
		said = append(said, "a matrix: its columns are values of a dimension")
	}
	if n := p.Subject; n > 0 && n <= len(p.Columns) {
		said = append(said, "about "+shorten(p.Columns[n-1].Name))
	}
	if p.TotalRows > 0 {
		said = append(said, plural(int(p.TotalRows), "row")+" of totals")
	}
	if p.SectionRows > 0 {
		said = append(said, plural(int(p.SectionRows), "row")+" of headings")
	}
	return strings.Join(said, "; ")
}

// columnPlot draws a box plot of a numeric column's quantiles, or else the frequencies of its most frequent values.
func columnPlot(c csvprofile.Column) template.HTML {
	if len(c.Quantiles) == 5 {
		values := make([]float64, 0, 7)
		for _, s := range append(append([]string{c.Min}, c.Quantiles...), c.Max) {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				break
			}
			values = append(values, v)
		}
		if len(values) == 7 {
			return plot.Box([7]float64(values), "Least, 5, 25, 50, 75, 95 % and greatest value of "+c.Name)
		}
	}
	counts := make([]int64, 0, len(c.Top))
	for _, v := range c.Top {
		counts = append(counts, v.Count)
	}
	return plot.Histogram(counts, "How often the commonest values of "+c.Name+" occur")
}

func dialectWords(d csvprofile.Dialect) string {
	if d.Encoding == "" {
		return "" // JSON or XML records, a sheet, Parquet
	}
	words := []string{d.Encoding}
	switch d.Delimiter {
	case ",":
		words = append(words, "comma-separated")
	case ";":
		words = append(words, "semicolon-separated")
	case "\t":
		words = append(words, "tab-separated")
	case "":
		words = append(words, "one column")
	default:
		words = append(words, "separated by "+strconv.Quote(d.Delimiter))
	}
	if d.QuoteChar != "" {
		words = append(words, "quoted with "+d.QuoteChar)
	}
	if !d.Header {
		words = append(words, "no header")
	}
	if d.Preamble > 0 {
		words = append(words, plural(d.Preamble, "line")+" before the table")
	}
	return strings.Join(words, ", ")
}
