// Package csvw names the terms of CSV on the Web that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package csvw

// NS is the namespace; every other constant is a term in it.
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
	TableProp       = NS + "table"
	DialectProp     = NS + "dialect"
	TableSchema     = NS + "tableSchema"
	ColumnProp      = NS + "column"
	Name            = NS + "name"
	Title           = NS + "title"
	Datatype        = NS + "datatype"
	Header          = NS + "header"
	HeaderRowCount  = NS + "headerRowCount"
	Encoding        = NS + "encoding"
	Delimiter       = NS + "delimiter"
	QuoteChar       = NS + "quoteChar"
	DoubleQuote     = NS + "doubleQuote"
	LineTerminators = NS + "lineTerminators"
	SkipRows        = NS + "skipRows"
	SkipColumns     = NS + "skipColumns"
	SkipBlankRows   = NS + "skipBlankRows"
	CommentPrefix   = NS + "commentPrefix"
	Trim            = NS + "trim"
	Null            = NS + "null"
	PrimaryKey      = NS + "primaryKey"
	RowProp         = NS + "row"
	Rownum          = NS + "rownum"
	Describes       = NS + "describes"
	Format          = NS + "format"
	Base            = NS + "base"
	Lang            = NS + "lang"
	Required        = NS + "required"
	Virtual         = NS + "virtual"
	Separator       = NS + "separator"
	PropertyUrl     = NS + "propertyUrl"
	ValueUrl        = NS + "valueUrl"
	AboutUrl        = NS + "aboutUrl"
)
