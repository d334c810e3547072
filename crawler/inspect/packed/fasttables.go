package packed

import (
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/extent"
)

// The structs of parseInside: the fields are in the order of the structs.

func (p *parser) inside(in *inspect.Inside) {
	p.object(func(name []byte) int {
		switch string(name) {
		case "tables":
			in.Tables = p.tables()
			return 1
		case "rdf":
			p.other(&in.RDF)
			return 2
		case "members":
			in.Members = make([]inspect.Member, 0, 4)
			p.list(func() {
				in.Members = append(in.Members, inspect.Member{})
				p.member(&in.Members[len(in.Members)-1])
			})
			return 3
		case "document":
			p.other(&in.Document)
			return 4
		case "more":
			in.More = p.truth()
			return 5
		case "faults":
			in.Faults = p.texts()
			return 6
		case "period":
			in.Period = &extent.Period{}
			p.period(in.Period)
			return 7
		case "columnsOmitted":
			in.ColumnsOmitted = int(p.whole())
			return 8
		case "membersOmitted":
			in.MembersOmitted = int(p.whole())
			return 9
		case "sketchesOmitted":
			in.SketchesOmitted = int(p.whole())
			return 10
		}
		return 0
	})
}

func (p *parser) period(of *extent.Period) {
	p.object(func(name []byte) int {
		switch string(name) {
		case "start":
			of.Start = p.text()
			return 1
		case "end":
			of.End = p.text()
			return 2
		case "datatype":
			of.Datatype = p.text()
			return 3
		}
		return 0
	})
}

func (p *parser) member(m *inspect.Member) {
	p.object(func(name []byte) int {
		switch string(name) {
		case "path":
			m.Path = p.text()
			return 1
		case "size":
			m.Size = p.whole()
			return 2
		case "modified":
			p.other(&m.Modified)
			return 3
		case "type":
			m.Type = p.text()
			return 4
		case "charset":
			m.Charset = p.text()
			return 5
		case "tables":
			m.Tables = p.tables()
			return 6
		case "rdf":
			p.other(&m.RDF)
			return 7
		case "document":
			p.other(&m.Document)
			return 8
		}
		return 0
	})
}

func (p *parser) tables() []*csvprofile.Profile {
	tables := make([]*csvprofile.Profile, 0, 1)
	p.list(func() {
		t := &csvprofile.Profile{}
		p.table(t)
		tables = append(tables, t)
	})
	return tables
}

func (p *parser) table(t *csvprofile.Profile) {
	p.object(func(name []byte) int {
		switch string(name) {
		case "profile":
			t.Version = int(p.whole())
			return 1
		case "name":
			t.Name = p.text()
			return 2
		case "dialect":
			p.dialect(&t.Dialect)
			return 3
		case "rows":
			t.Rows = p.whole()
			return 4
		case "columns":
			t.Columns = make([]csvprofile.Column, 0, 8)
			p.list(func() {
				t.Columns = append(t.Columns, csvprofile.Column{})
				p.column(&t.Columns[len(t.Columns)-1])
			})
			return 5
		case "emptycolumns":
			t.Empty = int(p.whole())
			return 6
		case "omittedcolumns":
			t.Omitted = int(p.whole())
			return 7
		case "blank":
			t.Blank = p.whole()
			return 8
		case "ragged":
			t.Ragged = p.whole()
			return 9
		case "truncated":
			t.Truncated = p.truth()
			return 10
		case "why":
			t.Why = p.texts()
			return 11
		case "notes":
			t.Notes = p.texts()
			return 12
		case "kind":
			t.Kind = p.text()
			return 13
		case "subject":
			t.Subject = int(p.whole())
			return 14
		case "totals":
			t.Totals = p.wholes()
			return 15
		case "totalrows":
			t.TotalRows = p.whole()
			return 16
		case "sections":
			t.Sections = p.wholes()
			return 17
		case "sectionrows":
			t.SectionRows = p.whole()
			return 18
		case "primarykey":
			t.PrimaryKey = p.ints()
			return 19
		case "foreignkeys":
			p.other(&t.ForeignKeys)
			return 20
		case "extent":
			p.other(&t.Extent)
			return 21
		case "geometry":
			p.other(&t.Geometry)
			return 22
		}
		return 0
	})
}

func (p *parser) dialect(t *csvprofile.Dialect) {
	p.object(func(name []byte) int {
		switch string(name) {
		case "encoding":
			t.Encoding = p.text()
			return 1
		case "delimiter":
			t.Delimiter = p.text()
			return 2
		case "quotechar":
			t.QuoteChar = p.text()
			return 3
		case "escapechar":
			t.EscapeChar = p.text()
			return 4
		case "doublequote":
			t.DoubleQuote = p.truth()
			return 5
		case "lineterminator":
			t.LineTerminator = p.text()
			return 6
		case "skipinitialspace":
			t.SkipInitialSpace = p.truth()
			return 7
		case "commentprefix":
			t.CommentPrefix = p.text()
			return 8
		case "header":
			t.Header = p.truth()
			return 9
		case "headerrows":
			t.HeaderRows = int(p.whole())
			return 10
		case "preamble":
			t.Preamble = int(p.whole())
			return 11
		case "footer":
			t.Footer = int(p.whole())
			return 12
		}
		return 0
	})
}

func (p *parser) column(t *csvprofile.Column) {
	p.object(func(name []byte) int {
		switch string(name) {
		case "name":
			t.Name = p.text()
			return 1
		case "titles":
			t.Titles = p.texts()
			return 2
		case "datatype":
			t.Datatype = p.text()
			return 3
		case "format":
			t.Format = p.text()
			return 4
		case "decimal":
			t.Decimal = p.text()
			return 5
		case "group":
			t.Group = p.text()
			return 6
		case "unit":
			t.Unit = p.text()
			return 7
		case "personal":
			t.Personal = p.truth()
			return 8
		case "class":
			t.Class = p.text()
			return 9
		case "nulls":
			t.Nulls = p.whole()
			return 10
		case "nullwords":
			t.NullWords = p.texts()
			return 11
		case "distinct":
			t.Distinct = p.whole()
			return 12
		case "exact":
			t.Exact = p.truth()
			return 13
		case "unique":
			t.Unique = p.truth()
			return 14
		case "key":
			t.Key = p.truth()
			return 15
		case "min":
			t.Min = p.text()
			return 16
		case "max":
			t.Max = p.text()
			return 17
		case "mean":
			t.Mean = p.float()
			return 18
		case "stddev":
			t.StdDev = p.float()
			return 19
		case "quantiles":
			t.Quantiles = p.texts()
			return 20
		case "minlen":
			t.MinLen = int(p.whole())
			return 21
		case "maxlen":
			t.MaxLen = int(p.whole())
			return 22
		case "top":
			t.Top = make([]csvprofile.Count, 0, 10)
			p.list(func() {
				t.Top = append(t.Top, csvprofile.Count{})
				p.count(&t.Top[len(t.Top)-1])
			})
			return 23
		case "mostly":
			t.Mostly = p.text()
			return 24
		case "labels":
			p.other(&t.Labels)
			return 25
		case "sketch":
			p.other(&t.Sketch)
			return 26
		}
		return 0
	})
}

func (p *parser) count(t *csvprofile.Count) {
	p.object(func(name []byte) int {
		switch string(name) {
		case "value":
			t.Value = p.text()
			return 1
		case "count":
			t.Count = p.whole()
			return 2
		}
		return 0
	})
}
