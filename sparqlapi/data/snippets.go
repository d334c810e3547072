package data

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Snippet is a short program that gets a table.
type Snippet struct {
	Language string // of the program, or the library that it needs
	Code     string
}

// Snippets returns programs that get rows of a version: those that the parameters of Table in q ask for. iri is the
// version's, file is the name that a download gets, without its extension.
func Snippets(iri, file string, q url.Values) []Snippet {
	address := func(format string) string {
		a := iri + "/table." + format
		if len(q) > 0 {
			a += "?" + strings.ReplaceAll(q.Encode(), "'", "%27")
		}
		return a
	}
	csv, file := quoted(address("csv")), plainName(file)
	return []Snippet{
		{"Python, pandas", "import pandas as pd\n\ntable = pd.read_csv(" + csv + ")\nprint(table)"},
		{"Python, polars", "import polars as pl\n\ntable = pl.read_csv(" + csv + ", try_parse_dates=True)\nprint(table)"},
		{"R", "table <- read.csv(" + csv + ", check.names = FALSE, encoding = \"UTF-8\")\nstr(table)"},
		{
			"DuckDB", "curl -sSfL -o " + file + ".parquet '" + address("parquet") + "'\nduckdb -c \"SELECT * FROM '" + file +
				".parquet' LIMIT 10\""},
		{
			"JavaScript", "const answer = await fetch(" + quoted(address("json")) +
				");\nconst table = await answer.json();\nconsole.log(table.length, table[0]);"},
		{"curl", "curl -sSfL -o " + file + ".csv '" + address("csv") + "'"},
	}
}

// quoted returns a string as Python, R and JavaScript write it.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(string(b))
}

// plainName returns a name that every shell takes as it is.
func plainName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || slices.Contains([]rune("._-"), r) {
			return r
		}
		return '-'
	}, s)
	if s = strings.Trim(s, ".-"); s == "" {
		return "table"
	}
	return s[:min(len(s), 60)]
}
