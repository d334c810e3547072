package results

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// shortener writes terms for people, with the namespaces that it maps prefixes to, and without the most common
// datatypes.
type shortener map[string]string

func (s shortener) text(k term.Key) string {
	switch k.Kind() {
	case term.KindNone:
		return ""
	case term.KindIRI:
		return s.iri(k.Value())
	case term.KindBlank:
		return "_:" + rdfio.BlankLabel(k.Value())
	case term.KindTriple:
		a, p, o, _ := k.Parts()
		return "<<( " + s.text(a) + " " + s.text(p) + " " + s.text(o) + " )>>"
	}
	lex := k.Value()
	if k[0] == '^' {
		switch kind, _ := strings.CutPrefix(k.Datatype(), vocab.XSDNS); kind {
		case "integer", "decimal", "double", "boolean", "dateTime", "date", "gYear":
			return lex
		}
		return strconv.Quote(lex) + "^^" + s.iri(k.Datatype())
	}
	if lang := k.Lang(); lang != "" {
		if dir := k.Dir(); dir != "" {
			lang += "--" + dir
		}
		return strconv.Quote(lex) + "@" + lang
	}
	return strconv.Quote(lex)
}

// iri shortens an IRI by the longest namespace that leaves a plain local name.
func (s shortener) iri(iri string) string {
	best, short := 0, "<"+iri+">"
	for name, ns := range s {
		local, ok := strings.CutPrefix(iri, ns)
		if ok && len(ns) > best && plainName(local) {
			best, short = len(ns), name+":"+local
		}
	}
	return short
}

func plainName(s string) bool {
	for i, r := range s {
		if !(r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' || r == '-' && i > 0) {
			return false
		}
	}
	return true
}

// visible replaces characters that could move the cursor of a terminal or change its colours.
func visible(s string) string {
	clean := func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || undirected(r) < 0 {
			return '\ufffd'
		}
		return r
	}
	return strings.Map(clean, s)
}

// tableEncoder writes a table for a terminal. The first rows determine the width of the columns.
type tableEncoder struct {
	short  shortener
	limit  int // maximum width of a column
	head   []string
	held   [][]string
	widths []int // nil until the head is written
}

// heldRows is how many rows determine the width of the columns.
const heldRows = 100

func newTable(o Options) *tableEncoder {
	if o.Width <= 0 {
		o.Width = 60
	}
	return &tableEncoder{short: shortener(o.Prefixes), limit: o.Width}
}

func (e *tableEncoder) begin(dst []byte, vars []string) []byte {
	for _, v := range vars {
		e.head = append(e.head, "?"+v)
	}
	return dst
}

func (e *tableEncoder) row(dst []byte, _ int64, row []term.Key) []byte {
	cells := make([]string, len(row))
	for i, k := range row {
		cells[i] = clip(visible(e.short.text(k)), e.limit)
	}
	if e.widths != nil {
		return e.line(dst, cells)
	}
	e.held = append(e.held, cells)
	if len(e.held) == heldRows {
		dst = e.release(dst)
	}
	return dst
}

func (e *tableEncoder) end(dst []byte) []byte {
	if e.widths == nil {
		dst = e.release(dst)
	}
	return dst
}

func (e *tableEncoder) boolean(dst []byte, v bool) []byte {
	return append(strconv.AppendBool(dst, v), '\n')
}

// release writes the head and the rows that were held back.
func (e *tableEncoder) release(dst []byte) []byte {
	e.widths = make([]int, len(e.head))
	for _, cells := range append(e.held, e.head) {
		for i, c := range cells {
			e.widths[i] = max(e.widths[i], utf8.RuneCountInString(c))
		}
	}
	dst = e.line(dst, e.head)
	for i, w := range e.widths {
		if i > 0 {
			dst = append(dst, "-+-"...)
		}
		dst = append(dst, strings.Repeat("-", w)...)
	}
	dst = append(dst, '\n')
	for _, cells := range e.held {
		dst = e.line(dst, cells)
	}
	e.held = nil
	return dst
}

func (e *tableEncoder) line(dst []byte, cells []string) []byte {
	for i, c := range cells {
		if i > 0 {
			dst = append(dst, " | "...)
		}
		dst = append(dst, c...)
		if i < len(cells)-1 {
			dst = append(dst, strings.Repeat(" ", max(0, e.widths[i]-utf8.RuneCountInString(c)))...)
		}
	}
	return append(dst, '\n')
}

func clip(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	r := []rune(s)
	return string(r[:width-1]) + "…"
}

// htmlEncoder writes a table for a page. It escapes all data, and makes links of http and https IRIs only.
type htmlEncoder struct {
	short      shortener
	head, tail string
}

func (e *htmlEncoder) begin(dst []byte, vars []string) []byte {
	dst = append(append(dst, e.head...), `<table class="results"><thead><tr>`...)
	for _, v := range vars {
		dst = append(dst, `<th scope="col">`...)
		dst = append(dst, html.EscapeString(v)...)
		dst = append(dst, "</th>"...)
	}
	return append(dst, "</tr></thead><tbody>\n"...)
}

func (e *htmlEncoder) row(dst []byte, _ int64, row []term.Key) []byte {
	dst = append(dst, "<tr>"...)
	for _, k := range row {
		dst = append(dst, "<td>"...)
		dst = e.cell(dst, k)
		dst = append(dst, "</td>"...)
	}
	return append(dst, "</tr>\n"...)
}

func (e *htmlEncoder) cell(dst []byte, k term.Key) []byte {
	escape := func(s string) string { return html.EscapeString(strings.ToValidUTF8(s, "\ufffd")) }
	esc := func(s string) string { return escape(strings.Map(undirected, s)) }
	switch k.Kind() {
	case term.KindIRI:
		iri := k.Value()
		if !strings.HasPrefix(iri, "http://") && !strings.HasPrefix(iri, "https://") {
			return append(dst, `<span class="iri">`+esc(iri)+`</span>`...)
		}
		text := strings.TrimSuffix(strings.TrimPrefix(e.short.iri(iri), "<"), ">")
		return append(dst, `<a class="iri" rel="nofollow noopener" href="`+escape(iri)+`">`+esc(text)+`</a>`...)
	case term.KindLiteral:
		dst = append(dst, `<span class="literal"`...)
		if lang := k.Lang(); lang != "" {
			dst = append(dst, ` lang="`+esc(lang)+`"`...)
		}
		if dir := k.Dir(); dir != "" {
			dst = append(dst, ` dir="`+esc(dir)+`"`...)
		}
		if dt := k.Datatype(); k[0] == '^' {
			dst = append(dst, ` title="`+esc(e.short.iri(dt))+`"`...)
		}
		return append(dst, ">"+esc(k.Value())+"</span>"...)
	}
	return append(dst, esc(e.short.text(k))...)
}

// undirected removes the characters that override, embed or isolate the direction of text: one in a cell would turn
// around what is behind it.
func undirected(r rune) rune {
	if r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
		return -1
	}
	return r
}

func (e *htmlEncoder) end(dst []byte) []byte {
	return append(append(dst, "</tbody></table>\n"...), e.tail...)
}

func (e *htmlEncoder) boolean(dst []byte, v bool) []byte {
	return append(dst, e.head+`<p class="boolean">`+strconv.FormatBool(v)+"</p>\n"+e.tail...)
}
