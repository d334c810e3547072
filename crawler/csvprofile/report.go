package csvprofile

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Line is the profile of one file as `odarchive profile --json` prints it, without the line end.
func (p *Profile) Line(file string) ([]byte, error) {
	b, err := json.Marshal(struct {
		File       string   `json:"file"`
		Table      string   `json:"table,omitempty"`
		Delimiter  string   `json:"delimiter"`
		QuoteChar  string   `json:"quotechar"`
		EscapeChar string   `json:"escapechar"`
		Encoding   string   `json:"encoding"`
		Header     bool     `json:"header"`
		HeaderRows int      `json:"headerrows"`
		Preamble   int      `json:"preamble"`
		Footer     int      `json:"footer"`
		Terminator string   `json:"lineterminator"`
		Rows       int64    `json:"rows"`
		Columns    []Column `json:"columns"`
		Ragged     int64    `json:"ragged,omitempty"`
		Blank      int64    `json:"blank,omitempty"`
		Truncated  bool     `json:"truncated,omitempty"`
		Why        []string `json:"why,omitempty"`
	}{file, p.Name, p.Dialect.Delimiter, p.Dialect.QuoteChar, p.Dialect.EscapeChar, p.Dialect.Encoding, p.Dialect.Header, p.Dialect.HeaderRows,
		p.Dialect.Preamble, p.Dialect.Footer, p.Dialect.LineTerminator, p.Rows, p.Columns, p.Ragged, p.Blank, p.Truncated, p.Why})
	if err != nil {
		return nil, fmt.Errorf("csvprofile: %s: %w", file, err)
	}
	return b, nil
}

// CSVW is the table's metadata document after "Metadata Vocabulary for Tabular Data" (W3C, 2015): a table description
// with dialect and schema, for the file at url.
func (p *Profile) CSVW(url string) ([]byte, error) {
	type datatype struct {
		Base   string `json:"base"`
		Format any    `json:"format,omitempty"`
	}
	type column struct {
		Name     string `json:"name"`
		Titles   any    `json:"titles,omitempty"`
		Datatype any    `json:"datatype"`
		Null     any    `json:"null,omitempty"`
		Required bool   `json:"required,omitempty"`
		Suppress bool   `json:"suppressOutput,omitempty"`
	}
	dialect := map[string]any{"header": p.Dialect.Header, "headerRowCount": p.Dialect.HeaderRows, "skipRows": p.Dialect.Preamble}
	if n := p.Dialect.Encoding; n != "" {
		if n == "ascii" {
			n = "utf-8"
		}
		dialect["encoding"] = n
	}
	if p.Dialect.Delimiter != "" {
		dialect["delimiter"] = p.Dialect.Delimiter
	}
	if p.Dialect.QuoteChar != "" {
		dialect["quoteChar"] = p.Dialect.QuoteChar
		dialect["doubleQuote"] = p.Dialect.EscapeChar == ""
	} else {
		dialect["quoteChar"] = nil
	}
	if p.Dialect.CommentPrefix != "" {
		dialect["commentPrefix"] = p.Dialect.CommentPrefix
	}
	if p.Blank > 0 {
		dialect["skipBlankRows"] = true
	}
	dialect["lineTerminators"] = p.Dialect.LineTerminator
	used := map[string]bool{}
	columns := make([]column, 0, len(p.Columns))
	key := ""
	for i, c := range p.Columns {
		name := variableName(c.Name, i)
		for used[name] {
			name += "_"
		}
		used[name] = true
		out := column{Name: name, Datatype: c.Datatype, Required: c.Nulls == 0 && p.Rows > 0 && p.Ragged+p.Blank == 0 && p.Dialect.Footer == 0}
		switch {
		case len(c.Titles) > 0:
			out.Titles = c.Titles
		case p.Dialect.Header && !strings.HasPrefix(c.Name, "_col."):
			out.Titles = c.Name
		}
		if c.Format != "" || c.Decimal != "" || c.Group != "" {
			out.Datatype = datatype{c.Datatype, csvwFormat(c)}
			if !knownFormat(c) {
				out.Datatype = "string"
			}
		}
		if len(c.NullWords) > 0 {
			out.Null = append([]string{""}, c.NullWords...)
		}
		if c.Key && key == "" {
			key = name
		}
		columns = append(columns, out)
	}
	for i := range p.Empty {
		columns = append(columns, column{Name: fmt.Sprintf("col%d", len(p.Columns)+i+1), Datatype: "string", Suppress: true})
	}
	schema := map[string]any{"columns": columns}
	if key != "" {
		schema["primaryKey"] = key
	}
	doc := map[string]any{"@context": "http://www.w3.org/ns/csvw", "@type": "Table", "url": url, "dialect": dialect, "tableSchema": schema}
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("csvprofile: csvw of %s: %w", url, err)
	}
	return append(b, '\n'), nil
}

// knownFormat tells whether a date's or time's pattern is one that every implementation of CSVW knows (Metadata
// Vocabulary 6.4.4); cells in others are texts to it.
func knownFormat(c Column) bool {
	f := c.Format
	switch c.Datatype {
	case "date", "dateTime", "time":
		f = strings.TrimSuffix(f, "XXX")
		if strings.Contains(f, "MMM") || strings.Contains(f, "h") || strings.Contains(f, "z") || strings.Contains(f, "H") && !strings.Contains(f, "HH") {
			return false
		}
		return strings.Contains(f, "yyyy") || c.Datatype == "time"
	case "gYearMonth":
		return false
	}
	return true
}

// csvwFormat is the format property of a datatype: a text, or an object for numbers with characters of their own.
func csvwFormat(c Column) any {
	if c.Decimal == "" && c.Group == "" {
		return c.Format
	}
	f := map[string]string{}
	if c.Decimal != "" {
		f["decimalChar"] = c.Decimal
	}
	if c.Group != "" {
		f["groupChar"] = c.Group
	}
	return f
}

// variableName makes a column name that is legal in CSVW: a URI template variable that does not begin with "_".
func variableName(s string, i int) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_' && b.Len() > 0:
			b.WriteRune(c)
		case c == ' ' || c == '-' || c == '.' || c == '/' || c == ':':
			if b.Len() > 0 {
				b.WriteByte('_')
			}
		case c > 0x7f:
			for _, x := range []byte(string(c)) {
				fmt.Fprintf(&b, "%%%02X", x)
			}
		}
	}
	name := strings.TrimRight(b.String(), "_")
	if name == "" || strings.HasPrefix(s, "_col.") {
		return fmt.Sprintf("col%d", i+1)
	}
	return name
}
