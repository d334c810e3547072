package csvprofile

// Dialect says how a CSV-like file is written, after the dialect description of CSV on the Web.
//
// A file has, in this order: Preamble records that are not part of the table (titles, notes, blank lines), HeaderRows
// records of column titles, the data, and Footer records that are not part of the table. A record is usually a line;
// one with line ends inside quotes counts once.
type Dialect struct {
	Encoding         string `json:"encoding"`       // canonical name in package charset
	Delimiter        string `json:"delimiter"`      // "" if every line is one cell; may have several characters
	QuoteChar        string `json:"quotechar"`      // "" if nothing is quoted
	EscapeChar       string `json:"escapechar"`     // "" if nothing is escaped
	DoubleQuote      bool   `json:"doublequote"`    // a quote inside quotes is doubled
	LineTerminator   string `json:"lineterminator"` // "\n", "\r\n" or "\r", the most frequent one; Rows accepts all three
	SkipInitialSpace bool   `json:"skipinitialspace,omitempty"`
	CommentPrefix    string `json:"commentprefix,omitempty"` // prefix of comment lines, in the preamble or between rows
	Header           bool   `json:"header"`
	HeaderRows       int    `json:"headerrows"`
	Preamble         int    `json:"preamble"`
	Footer           int    `json:"footer,omitempty"`
}
