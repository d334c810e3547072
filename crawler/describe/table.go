package describe

import (
	"strconv"

	"odarchive/crawler/catalog"
	"odarchive/crawler/csvprofile"
	"odarchive/ns"
	"odarchive/triplestore/term"
	"odarchive/vocab/arc"
	"odarchive/vocab/csvw"
	"odarchive/vocab/rdfs"
	"odarchive/vocab/xsd"
)

// maxColumns bounds how many columns of one table are described: wider ones are matrices, not records.
const maxColumns = 2000

// Table describes the table in a version: its dialect, size and columns (CSVW, as in listing 2 of the ODArchive paper).
func Table(m ns.Mint, v catalog.Version, p *csvprofile.Profile) []term.Quad {
	g := &graph{}
	table, dialect, schema := term.Blank("table-"+v.ID), term.Blank("dialect-"+v.ID), term.Blank("schema-"+v.ID)
	g.about(table)
	g.isA(csvw.Table)
	g.add(csvw.Url, term.IRI(m.Version(v.ID)))
	g.add(arc.Rows, integer(p.Rows))
	g.add(arc.Columns, integer(int64(len(p.Columns))))
	g.add(csvw.DialectProp, dialect)
	g.add(csvw.TableSchema, schema)

	g.about(dialect)
	g.isA(csvw.Dialect)
	g.dialect(p.Dialect)

	g.about(schema)
	g.isA(csvw.Schema)
	columns := p.Columns[:min(len(p.Columns), maxColumns)]
	for i := range columns {
		g.add(csvw.ColumnProp, term.IRI(m.Column(v.ID, i+1)))
	}
	for i, c := range columns {
		g.about(term.IRI(m.Column(v.ID, i+1)))
		g.column(c)
	}
	return g.quads
}

func (g *graph) dialect(d csvprofile.Dialect) {
	g.text(csvw.Encoding, d.Encoding)
	g.exactly(csvw.Delimiter, d.Delimiter)
	g.exactly(csvw.QuoteChar, d.QuoteChar)
	g.add(csvw.Header, boolean(d.Header))
	g.exactly(csvw.LineTerminators, d.LineTerminator)
	if d.Header {
		g.add(csvw.HeaderRowCount, integer(int64(d.HeaderRows)))
	}
	if d.Preamble > 0 {
		g.add(csvw.SkipRows, integer(int64(d.Preamble)))
	}
	g.exactly(csvw.CommentPrefix, d.CommentPrefix)
}

// exactly adds a string as it is, white space included: a delimiter may be a tab.
func (g *graph) exactly(predicate, s string) {
	if s != "" {
		g.add(predicate, term.String(s))
	}
}

func boolean(b bool) term.Key { return term.Typed(strconv.FormatBool(b), xsd.Boolean) }

func (g *graph) column(c csvprofile.Column) {
	g.isA(csvw.Column)
	g.text(csvw.Name, c.Name)
	g.add(csvw.Datatype, datatype(c.Datatype))
	if c.Class != "" {
		g.add(rdfs.Range, term.IRI(c.Class))
	}
	g.add(arc.Distinct, integer(c.Distinct))
	g.add(arc.Nulls, integer(c.Nulls))
	g.text(arc.Format, c.Format)
	if c.Key {
		g.add(arc.UniqueKey, boolean(true))
	}
	if c.MaxLen > 0 {
		g.add(arc.MaxLength, integer(int64(c.MaxLen)))
	}
	if c.Min != "" && c.Datatype != "string" {
		g.add(arc.Min, term.Typed(c.Min, xsd.NS+c.Datatype))
		g.add(arc.Max, term.Typed(c.Max, xsd.NS+c.Datatype))
	}
	if c.Mean != nil {
		g.add(arc.Mean, term.Typed(strconv.FormatFloat(*c.Mean, 'E', -1, 64), xsd.Double))
	}
}

// datatype is the name of a column's datatype as the paper's data has it: a plain string such as "integer".
func datatype(name string) term.Key { return term.String(name) }
