package csvprofile

// Dialect is how a CSV-like file is written, after the dialect description of CSV on the Web.
//
// A file has, in this order: Preamble records that are no part of the table (titles, notes, blank lines), HeaderRows
// records of column titles, the data, and Footer records that are no part of the table. A record is mostly a line;
// one with a line end inside quotes counts once.
type Dialect struct {
	Encoding         string `json:"encoding"`       // canonical name of package charset
	Delimiter        string `json:"delimiter"`      // "" when every line is one cell; may be longer than a character
	QuoteChar        string `json:"quotechar"`      // "" when nothing is quoted
	EscapeChar       string `json:"escapechar"`     // "" when nothing is escaped
	DoubleQuote      bool   `json:"doublequote"`    // a quote inside quotes is written twice
	LineTerminator   string `json:"lineterminator"` // "\n", "\r\n" or "\r", the commonest one; a reader accepts all three
	SkipInitialSpace bool   `json:"skipinitialspace,omitempty"`
	CommentPrefix    string `json:"commentprefix,omitempty"` // lines of the preamble or between rows that begin so are comments
	Header           bool   `json:"header"`
	HeaderRows       int    `json:"headerrows"`
	Preamble         int    `json:"preamble"`
	Footer           int    `json:"footer,omitempty"`
}
