package describe

import (
	"strconv"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/term"
	"odarchive/vocab"
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
	g.isA(vocab.CSVWTable)
	g.add(vocab.CSVWUrl, term.IRI(at.file))
	g.text(vocab.DCTTitle, p.Name)
	for _, s := range p.Notes {
		g.text(vocab.CSVWNote, s)
	}
	if p.Truncated { // what was not read was not counted
		g.add(vocab.ArcRowsAtLeast, integer(p.Rows))
	} else {
		g.add(vocab.ArcRows, integer(p.Rows))
	}
	g.add(vocab.ArcColumns, integer(int64(p.Width())))
	if omitted := p.Width() - columns; omitted > 0 {
		g.add(vocab.ArcColumnsOmitted, integer(int64(omitted)))
	}
	g.geometry(p.Geometry)
	g.text(vocab.ArcTableKind, p.Kind)
	if n := p.Subject; n > 0 && n <= columns {
		g.add(vocab.ArcSubjectColumn, column(n-1))
	}
	if p.TotalRows > 0 {
		g.add(vocab.ArcTotalRows, integer(p.TotalRows))
	}
	if p.SectionRows > 0 {
		g.add(vocab.ArcSectionRows, integer(p.SectionRows))
	}
	if p.Dialect.Delimiter != "" {
		g.add(vocab.CSVWDialectProp, dialect)
	}
	g.add(vocab.CSVWTableSchema, schema)

	if p.Dialect.Delimiter != "" { // sheets and JSON have no dialect
		g.about(dialect)
		g.isA(vocab.CSVWDialect)
		g.dialect(p.Dialect)
	}
	g.about(schema)
	g.isA(vocab.CSVWSchema)
	for i := range columns {
		g.add(vocab.CSVWColumnProp, column(i))
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
				g.add(vocab.ArcReferences, term.IRI(file+"#"+fragment(key.Table)+strconv.Itoa(key.To[i])))
			}
		}
	}
}

func (g *graph) dialect(d csvprofile.Dialect) {
	g.text(vocab.CSVWEncoding, d.Encoding)
	g.verbatim(vocab.CSVWDelimiter, d.Delimiter)
	g.verbatim(vocab.CSVWQuoteChar, d.QuoteChar)
	g.add(vocab.CSVWHeader, boolean(d.Header))
	g.verbatim(vocab.CSVWLineTerminators, d.LineTerminator)
	if d.Header {
		g.add(vocab.CSVWHeaderRowCount, integer(int64(d.HeaderRows)))
	}
	if d.Preamble > 0 {
		g.add(vocab.CSVWSkipRows, integer(int64(d.Preamble)))
	}
	g.verbatim(vocab.CSVWCommentPrefix, d.CommentPrefix)
}

// verbatim adds a string with its white space, since a delimiter may be a tab.
func (g *graph) verbatim(predicate, s string) {
	if s != "" {
		g.add(predicate, term.String(s))
	}
}

func boolean(b bool) term.Key { return term.Typed(strconv.FormatBool(b), vocab.XSDBoolean) }

// dbpediaClasses returns the classes of DBpedia's ontology for the class of a column, as Figure 5 of the ODArchive
// paper has them: the class and those above it.
func dbpediaClasses(class string) []string {
	switch class {
	case "http://schema.org/City":
		return []string{"City", "PopulatedPlace", "Place"}
	case "http://schema.org/Country":
		return []string{"Country", "PopulatedPlace", "Place"}
	case vocab.ArcPersonName:
		return []string{"Person"}
	}
	return nil
}

func (g *graph) column(c csvprofile.Column) {
	g.isA(vocab.CSVWColumn)
	g.text(vocab.CSVWName, c.Name)
	g.text(vocab.CSVWDatatype, c.Datatype) // its name, as the paper's data has it: "integer"
	if c.Class != "" {
		g.add(vocab.RDFSRange, term.IRI(c.Class))
		for _, class := range dbpediaClasses(c.Class) {
			g.add(vocab.RDFSRange, term.IRI("http://dbpedia.org/ontology/"+class))
		}
	}
	if c.Personal {
		g.add(vocab.ArcPersonalData, boolean(true))
	}
	g.add(vocab.ArcDistinct, integer(c.Distinct))
	g.add(vocab.ArcNulls, integer(c.Nulls))
	g.text(vocab.ArcFormat, c.Format)
	g.text(vocab.ArcUnit, c.Unit)
	if c.Key {
		g.add(vocab.ArcUniqueKey, boolean(true))
	}
	if c.MaxLen > 0 {
		g.add(vocab.ArcMaxLength, integer(int64(c.MaxLen)))
	}
	if c.Min != "" && c.Datatype != "string" {
		g.add(vocab.ArcMin, term.Typed(c.Min, vocab.XSDNS+c.Datatype))
		g.add(vocab.ArcMax, term.Typed(c.Max, vocab.XSDNS+c.Datatype))
	}
	if c.Mean != nil {
		g.add(vocab.ArcMean, term.Typed(strconv.FormatFloat(*c.Mean, 'E', -1, 64), vocab.XSDDouble))
	}
}
