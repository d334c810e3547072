package tables

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"odarchive/crawler/inspect/budget"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of a page.
const (
	htmlBytes = 32 << 20
	htmlCells = 2_000_000 // of all tables, without those that others span
)

// htmlTables profiles the tables of a page that contain data: at least two rows of two cells. A table in a cell of
// another is a table of its own. Tables that only arrange a page are left out, as far as they say so (WAI-ARIA's roles
// presentation and none).
func htmlTables(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	z := html.NewTokenizer(io.LimitReader(in.Text(), htmlBytes))
	z.SetMaxBuf(1 << 20)
	var found []*csvprofile.Profile
	var open []*htmlTable
	memory := budget.New("the tables of a page", budget.Table)
	cells := 0
	for n := 0; ; n++ {
		if n&4095 == 0 && ctx.Err() != nil {
			return found, ctx.Err()
		}
		kind := z.Next()
		if kind == html.ErrorToken {
			if err := z.Err(); !errors.Is(err, io.EOF) && !errors.Is(err, html.ErrBufferExceeded) {
				return found, err
			}
			for _, t := range open {
				found = keep(ctx, found, t, o)
			}
			return found, nil
		}
		top := (*htmlTable)(nil)
		if len(open) > 0 {
			top = open[len(open)-1]
		}
		switch kind {
		case html.TextToken:
			if top != nil {
				top.write(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tag, more := z.TagName()
			switch a := atom.Lookup(tag); a {
			case atom.Table:
				if len(open) < 32 {
					open = append(open, &htmlTable{layout: isLayout(z, more), memory: memory})
				}
			case atom.Tr:
				if top != nil {
					top.row()
				}
			case atom.Td, atom.Th:
				if cells++; top != nil && cells < htmlCells {
					across, down := span(z, more)
					top.cell(a == atom.Th, across, down)
				}
			case atom.Caption:
				if top != nil {
					top.inCaption = true
				}
			case atom.Br, atom.P, atom.Div, atom.Li:
				if top != nil {
					top.write(" ")
				}
			case atom.Script, atom.Style:
				if kind == html.StartTagToken {
					z.Next()
				}
			}
		case html.EndTagToken:
			tag, _ := z.TagName()
			switch atom.Lookup(tag) {
			case atom.Table:
				if top != nil {
					open = open[:len(open)-1]
					found = keep(ctx, found, top, o)
				}
			case atom.Td, atom.Th:
				if top != nil {
					top.end()
				}
			case atom.Caption:
				if top != nil {
					top.inCaption = false
				}
			}
		}
	}
}

// span returns the number of columns and rows that a cell spans.
func span(z *html.Tokenizer, more bool) (across, down int) {
	across, down = 1, 1
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		n, _ := strconv.Atoi(strings.TrimSpace(string(v)))
		switch string(k) {
		case "colspan":
			across = max(1, min(n, 100))
		case "rowspan":
			down = max(1, min(n, 1000))
		}
	}
	return across, down
}

// isLayout reports whether a table says that it only arranges a page.
func isLayout(z *html.Tokenizer, more bool) bool {
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		if role := strings.TrimSpace(strings.ToLower(string(v))); string(k) == "role" && (role == "presentation" || role == "none") {
			return true
		}
	}
	return false
}

type htmlTable struct {
	caption   strings.Builder
	inCaption bool
	rows      [][]string
	heads     []int // number of header cells of each row
	inCell    bool
	text      strings.Builder
	span      int
	down      int        // rows that the open cell spans
	above     bool       // the open cell continues the one above
	allHeads  bool       // the cells of the row are headers
	layout    bool       // it arranges the page
	cut       bool       // the memory is spent: cells are missing
	spanned   []downward // cells of rows above that span the next rows, by column
	memory    *budget.Budget
}

// downward is a cell that spans rows.
type downward struct {
	text string
	rows int // that are left
}

// add appends a cell to the last row, if there is memory for it. What a cell spans costs as much as a cell.
func (t *htmlTable) add(text string) {
	if t.cut = t.cut || t.memory.Spend(1, htmlCell) != nil; !t.cut {
		last := len(t.rows) - 1
		t.rows[last] = append(t.rows[last], text)
	}
}

// htmlCell and htmlRow are what a cell and a row take, without their texts.
const (
	htmlCell = 16
	htmlRow  = 40
)

func (t *htmlTable) row() {
	t.end()
	t.cover()
	if t.cut = t.cut || t.memory.Spend(1, htmlRow) != nil; t.cut {
		return
	}
	t.rows = append(t.rows, nil)
	t.heads = append(t.heads, 0)
}

func (t *htmlTable) cell(head bool, span, down int) {
	t.end()
	if len(t.rows) == 0 {
		t.row()
	}
	if t.cut {
		return
	}
	if head {
		t.heads[len(t.heads)-1]++
	}
	t.inCell, t.span, t.down, t.above = true, span, down, false
}

// end closes the open cell.
func (t *htmlTable) end() {
	if !t.inCell {
		return
	}
	text := strings.Join(strings.Fields(t.text.String()), " ")
	t.text.Reset()
	t.inCell = false
	last := len(t.rows) - 1
	t.cover()
	if at := len(t.rows[last]); t.above && last > 0 && at < len(t.rows[last-1]) {
		text = t.rows[last-1][at]
	}
	for i := range t.span {
		if at := len(t.rows[last]); t.down > 1 && at < 4096 {
			for len(t.spanned) <= at {
				t.spanned = append(t.spanned, downward{})
			}
			t.spanned[at] = downward{text: map[bool]string{true: text}[i == 0], rows: t.down - 1}
		}
		if i > 0 {
			text = ""
		}
		if len(t.rows[last]) < 4096 {
			t.add(text)
		}
	}
}

// cover appends the cells of rows above that span the last row, up to the next free column.
func (t *htmlTable) cover() {
	last := len(t.rows) - 1
	for !t.cut && last >= 0 && len(t.rows[last]) < len(t.spanned) && t.spanned[len(t.rows[last])].rows > 0 {
		d := &t.spanned[len(t.rows[last])]
		d.rows--
		t.add(d.text)
	}
}

func (t *htmlTable) write(s string) {
	switch {
	case t.inCaption:
		if t.caption.Len() < 1000 {
			t.caption.WriteString(s)
		}
	case t.inCell:
		if t.text.Len() < 1<<16 {
			t.text.WriteString(s)
		}
	}
}

// width returns the number of columns up to the last with a value.
func (t *htmlTable) width() int {
	width := 0
	for _, r := range t.rows {
		for i := len(r); i > width; i-- {
			if r[i-1] != "" {
				width = i
			}
		}
	}
	return width
}

// keep profiles a table that has ended, if it contains data.
func keep(ctx context.Context, found []*csvprofile.Profile, t *htmlTable, o Options) []*csvprofile.Profile {
	t.end()
	t.cover()
	full := 0
	for _, r := range t.rows {
		if len(r) >= 2 {
			full++
		}
	}
	if t.layout || full < 2 || t.width() < 2 || len(found) >= o.MaxTables {
		return found
	}
	var header []string
	rows := t.rows
	if len(rows[0]) >= 2 && t.heads[0] == len(rows[0]) {
		header, rows = rows[0], rows[1:]
	}
	at := 0
	p, err := csvprofile.ReadRows(ctx, strings.Join(strings.Fields(t.caption.String()), " "), header, func() ([]string, error) {
		if at >= len(rows) {
			return nil, io.EOF
		}
		at++
		return rows[at-1], nil
	}, o.Reading(len(found)))
	if err != nil || !source.Worthwhile(p) || len(p.Columns) < 2 {
		return found
	}
	if t.cut {
		p.Truncated = true
		p.Note("its cells take more memory than is allowed: the last ones are missing")
	}
	return append(found, p)
}
