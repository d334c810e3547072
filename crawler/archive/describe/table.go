package describe

import (
	"strconv"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/term"
	"odarchive/vocab/arc"
	"odarchive/vocab/csvw"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/rdfs"
	"odarchive/vocab/xsd"
)

// maxColumns bounds the columns of one table that are described: wider tables are matrices, not records.
const maxColumns = 2000

// maxDescribed bounds the columns of one version that are described.
const maxDescribed = 5000

// room is how much of one version's content may still be described. The rest is counted and left out.
type room struct {
	columns, tables, members int
	nodes                    int // partitions and faults of RDF
	bytes                    int // of the IRIs of columns and members, which repeat paths
}

func newRoom() *room {
	return &room{columns: maxDescribed, tables: maxTables, members: maxMembers, nodes: maxNodes, bytes: maxIRIBytes}
}

// The bounds of a version. Its description is written in one transaction.
const (
	maxTables   = 2000
	maxMembers  = 2000
	maxNodes    = 20_000
	maxIRIBytes = 1 << 20
)

// place is the place of a table: the IRI of its file, the label of its blank nodes, and the prefix of its columns'
// fragments.
type place struct {
	file, label, fragment string
	member                func(path string) string // IRI of a member of the archive
}

// tables describes the tables of one file, a version or a member of one. It returns the number of tables that it left
// out.
func (g *graph) tables(at place, all []*csvprofile.Profile, left *room) (omitted int) {
	for i, p := range all {
		here := at
		if i > 0 {
			here.label += "-" + strconv.Itoa(i+1)
			here.fragment += fragment(i)
		}
		if p.Width() == 0 {
			continue
		}
		if left.tables == 0 {
			omitted++
			continue
		}
		left.tables--
		columns := min(len(p.Columns), maxColumns, left.columns, left.bytes/len(here.file))
		g.table(here, p, columns)
		left.columns = max(0, left.columns-len(p.Columns))
		left.bytes -= columns * len(here.file)
	}
	return omitted
}

// table describes one table: its dialect, size and first columns (CSVW, as in listing 2 of the ODArchive paper).
func (g *graph) table(at place, p *csvprofile.Profile, columns int) {
	table, dialect, schema := term.Blank("table-"+at.label), term.Blank("dialect-"+at.label), term.Blank("schema-"+at.label)
	column := func(i int) term.Key { return term.IRI(at.file + "#" + at.fragment + strconv.Itoa(i+1)) }
	g.about(table)
	g.isA(csvw.Table)
	g.add(csvw.Url, term.IRI(at.file))
	g.text(dcterms.Title, p.Name)
	for _, s := range p.Notes {
		g.text(csvw.Note, s)
	}
	if p.Truncated { // what was not read was not counted
		g.add(arc.RowsAtLeast, integer(p.Rows))
	} else {
		g.add(arc.Rows, integer(p.Rows))
	}
	g.add(arc.Columns, integer(int64(p.Width())))
	if omitted := p.Width() - columns; omitted > 0 {
		g.add(arc.ColumnsOmitted, integer(int64(omitted)))
	}
	g.geometry(p.Geometry)
	g.text(arc.TableKind, p.Kind)
	if n := p.Subject; n > 0 && n <= columns {
		g.add(arc.SubjectColumn, column(n-1))
	}
	if p.TotalRows > 0 {
		g.add(arc.TotalRows, integer(p.TotalRows))
	}
	if p.SectionRows > 0 {
		g.add(arc.SectionRows, integer(p.SectionRows))
	}
	if p.Dialect.Delimiter != "" {
		g.add(csvw.DialectProp, dialect)
	}
	g.add(csvw.TableSchema, schema)

	if p.Dialect.Delimiter != "" { // sheets and JSON have no dialect
		g.about(dialect)
		g.isA(csvw.Dialect)
		g.dialect(p.Dialect)
	}
	g.about(schema)
	g.isA(csvw.Schema)
	for i := range columns {
		g.add(csvw.ColumnProp, column(i))
	}
	for i, c := range p.Columns[:columns] {
		g.about(column(i))
		g.column(c)
	}
	for _, key := range p.ForeignKeys {
		file := at.file
		if key.Member != "" {
			file = at.member(key.Member)
		}
		for i, n := range key.Columns {
			if n <= columns && i < len(key.To) {
				g.about(column(n - 1))
				g.add(arc.References, term.IRI(file+"#"+fragment(key.Table)+strconv.Itoa(key.To[i])))
			}
		}
	}
}

func (g *graph) dialect(d csvprofile.Dialect) {
	g.text(csvw.Encoding, d.Encoding)
	g.verbatim(csvw.Delimiter, d.Delimiter)
	g.verbatim(csvw.QuoteChar, d.QuoteChar)
	g.add(csvw.Header, boolean(d.Header))
	g.verbatim(csvw.LineTerminators, d.LineTerminator)
	if d.Header {
		g.add(csvw.HeaderRowCount, integer(int64(d.HeaderRows)))
	}
	if d.Preamble > 0 {
		g.add(csvw.SkipRows, integer(int64(d.Preamble)))
	}
	g.verbatim(csvw.CommentPrefix, d.CommentPrefix)
}

// verbatim adds a string with its white space, since a delimiter may be a tab.
func (g *graph) verbatim(predicate, s string) {
	if s != "" {
		g.add(predicate, term.String(s))
	}
}

func boolean(b bool) term.Key { return term.Typed(strconv.FormatBool(b), xsd.Boolean) }

// dbpediaClasses returns the classes of DBpedia's ontology for the class of a column, as Figure 5 of the ODArchive
// paper has them: the class and those above it.
func dbpediaClasses(class string) []string {
	switch class {
	case "http://schema.org/City":
		return []string{"City", "PopulatedPlace", "Place"}
	case "http://schema.org/Country":
		return []string{"Country", "PopulatedPlace", "Place"}
	case arc.PersonName:
		return []string{"Person"}
	}
	return nil
}

func (g *graph) column(c csvprofile.Column) {
	g.isA(csvw.Column)
	g.text(csvw.Name, c.Name)
	g.text(csvw.Datatype, c.Datatype) // its name, as the paper's data has it: "integer"
	if c.Class != "" {
		g.add(rdfs.Range, term.IRI(c.Class))
		for _, class := range dbpediaClasses(c.Class) {
			g.add(rdfs.Range, term.IRI("http://dbpedia.org/ontology/"+class))
		}
	}
	if c.Personal {
		g.add(arc.PersonalData, boolean(true))
	}
	g.add(arc.Distinct, integer(c.Distinct))
	g.add(arc.Nulls, integer(c.Nulls))
	g.text(arc.Format, c.Format)
	g.text(arc.Unit, c.Unit)
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
