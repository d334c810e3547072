package vocab

// CSVWNS is the namespace of the terms.
const CSVWNS = "http://www.w3.org/ns/csvw#"

const (
	CSVWTable           = CSVWNS + "Table"
	CSVWTableGroup      = CSVWNS + "TableGroup"
	CSVWSchema          = CSVWNS + "Schema"
	CSVWColumn          = CSVWNS + "Column"
	CSVWRow             = CSVWNS + "Row"
	CSVWCell            = CSVWNS + "Cell"
	CSVWDialect         = CSVWNS + "Dialect"
	CSVWUrl             = CSVWNS + "url"
	CSVWNote            = CSVWNS + "note"
	CSVWDialectProp     = CSVWNS + "dialect"
	CSVWTableSchema     = CSVWNS + "tableSchema"
	CSVWColumnProp      = CSVWNS + "column"
	CSVWName            = CSVWNS + "name"
	CSVWDatatype        = CSVWNS + "datatype"
	CSVWHeader          = CSVWNS + "header"
	CSVWHeaderRowCount  = CSVWNS + "headerRowCount"
	CSVWEncoding        = CSVWNS + "encoding"
	CSVWDelimiter       = CSVWNS + "delimiter"
	CSVWQuoteChar       = CSVWNS + "quoteChar"
	CSVWLineTerminators = CSVWNS + "lineTerminators"
	CSVWSkipRows        = CSVWNS + "skipRows"
	CSVWCommentPrefix   = CSVWNS + "commentPrefix"
)
