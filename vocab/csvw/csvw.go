// Package csvw defines the terms of CSV on the Web that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package csvw

// NS is the namespace of the terms.
const NS = "http://www.w3.org/ns/csvw#"

const (
	Table           = NS + "Table"
	TableGroup      = NS + "TableGroup"
	Schema          = NS + "Schema"
	Column          = NS + "Column"
	Row             = NS + "Row"
	Cell            = NS + "Cell"
	Dialect         = NS + "Dialect"
	Url             = NS + "url"
	Note            = NS + "note"
	DialectProp     = NS + "dialect"
	TableSchema     = NS + "tableSchema"
	ColumnProp      = NS + "column"
	Name            = NS + "name"
	Datatype        = NS + "datatype"
	Header          = NS + "header"
	HeaderRowCount  = NS + "headerRowCount"
	Encoding        = NS + "encoding"
	Delimiter       = NS + "delimiter"
	QuoteChar       = NS + "quoteChar"
	LineTerminators = NS + "lineTerminators"
	SkipRows        = NS + "skipRows"
	CommentPrefix   = NS + "commentPrefix"
)
