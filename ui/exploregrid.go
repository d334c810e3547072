package ui

import (
	"slices"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/sparqlapi/data"
)

type exploreColumn struct {
	Name, Title, Href string
	Sorted            string // ascending, descending or ""
	Number            bool
}

type exploreRow struct {
	Number, Href string
	Cells        []exploreCellView
}

type exploreCellView struct {
	Text, Link, Title string
	Number            bool
}

// record is one row with all its columns.
type record struct {
	Number         string
	Fields         []recordField
	Previous, Next string
	Back           string
	History        string // of the row
}

type recordField struct{ Name, Value, Link, Note string }

// grid sets the rows and columns that are shown, and the links to others.
func (p *explorePage) grid(found *data.RowsAnswer) {
	s := p.State
	last := min(s.From+exploreColumns, len(found.Columns))
	for i := s.From; i < last; i++ {
		p.Columns = append(p.Columns, headOf(found.Profile.Columns[i], s))
	}
	if last-s.From < len(found.Columns) {
		p.Shown = "Columns " + humanCount(s.From+1) + " to " + humanCount(last) + " of " + humanCount(len(found.Columns)+found.Omitted)
	}
	left, right := s, s
	if left.From = max(s.From-exploreColumns, 0); s.From > 0 {
		p.Left = left.href()
	}
	if right.From = last; last < len(found.Columns) {
		p.Right = right.href()
	}
	shown := found.Rows[:min(len(found.Rows), max(exploreCells/max(last-s.From, 1), 10))]
	for i, cells := range shown {
		number := int64(s.Offset + i)
		if i < len(found.Numbers) {
			number = found.Numbers[i]
		}
		line := exploreRow{Number: humanCount(number + 1), Href: rowHref(s.Table, number)}
		for j := s.From; j < last; j++ {
			line.Cells = append(line.Cells, cellOf(found.Profile.Columns[j], cells[j]))
		}
		p.Rows = append(p.Rows, line)
	}
	p.Total = humanCount(found.Total)
	if len(shown) > 0 {
		p.First, p.Last = humanCount(s.Offset+1), humanCount(s.Offset+len(shown))
	}
	step := max(exploreCells/max(last-s.From, 1), 10)
	before, after := s, s
	if before.Offset = max(s.Offset-min(step, exploreRows), 0); s.Offset > 0 {
		p.Previous = before.href()
	}
	if after.Offset = s.Offset + len(shown); int64(after.Offset) < found.Total && len(shown) > 0 {
		p.Next = after.href()
	}
	for i, c := range s.Where {
		without := s.narrowed()
		without.Where = slices.Delete(without.Where, i, i+1)
		p.Chosen = append(p.Chosen, chosen{shorten(c.Column), opWord(c.Op) + " " + wordOf(c.Value), without.href()})
	}
	p.Facets = facetLinks(found, s)
	p.Charts = chartsOf(found.Profile, s)
	for _, op := range data.Operators() {
		p.Ops = append(p.Ops, crumb{opWord(op), op})
	}
}

// headOf returns the head of a column: a link that orders by it, and then the other way.
func headOf(c csvprofile.Column, s exploring) exploreColumn {
	h := exploreColumn{Name: shorten(c.Name), Title: c.Datatype, Number: isNumber(c)}
	next := s
	next.Offset = 0
	switch s.Order {
	case c.Name:
		h.Sorted, next.Order = "ascending", "-"+c.Name
	case "-" + c.Name:
		h.Sorted, next.Order = "descending", ""
	default:
		next.Order = c.Name
	}
	h.Href = next.href()
	return h
}

func isNumber(c csvprofile.Column) bool {
	return c.Datatype == "integer" || c.Datatype == "decimal" || c.Datatype == "double"
}

func cellOf(c csvprofile.Column, value any) exploreCellView {
	text, _ := value.(string)
	cell := exploreCellView{Text: cut(text, exploreCell), Number: isNumber(c), Link: csvprofile.LinkOf(c.Class, text)}
	if len(cell.Text) < len(text) {
		cell.Text += "…"
	}
	for _, l := range c.Labels {
		if l.Value == strings.TrimSpace(text) {
			cell.Title = shorten(l.Label)
		}
	}
	return cell
}

// recordOf returns a row with all its columns.
func recordOf(found *data.RowsAnswer, row int, s exploring) *record {
	r := &record{Number: humanCount(row + 1), Back: exploring{Table: s.Table, Offset: row / 10 * 10}.href()}
	if row > 0 {
		r.Previous = rowHref(s.Table, int64(row-1))
	}
	if int64(row)+1 < found.Total {
		r.Next = rowHref(s.Table, int64(row+1))
	}
	for i, c := range found.Profile.Columns[:min(len(found.Profile.Columns), maxColumns)] {
		text, _ := found.Rows[0][i].(string)
		f := recordField{Name: shorten(c.Name), Value: cut(text, recordCell), Link: csvprofile.LinkOf(c.Class, text)}
		if len(f.Value) < len(text) {
			f.Note = "The first " + humanCount(recordCell) + " characters."
		}
		for _, l := range c.Labels {
			if l.Value == strings.TrimSpace(text) {
				f.Note = shorten(l.Label)
			}
		}
		r.Fields = append(r.Fields, f)
	}
	return r
}
