package csvprofile

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// CSVW returns the table's metadata document after "Metadata Vocabulary for Tabular Data" (W3C, 2015): a table
// description with dialect and schema, for the file at url.
func (p *Profile) CSVW(url string) ([]byte, error) {
	doc := p.csvw(url)
	doc["@context"] = csvwContext
	return indented(url, doc)
}

// CSVWGroup returns the metadata document of several tables. urls are the addresses of their files. Tables of one file
// differ by a fragment with their name or number.
func CSVWGroup(urls []string, tables []*Profile) ([]byte, error) {
	group := make([]map[string]any, len(tables))
	used := map[string]bool{}
	for i, p := range tables {
		address := urls[i]
		if used[address] || i+1 < len(urls) && urls[i+1] == address {
			fragment := p.Name
			for n := i + 1; fragment == "" || used[urls[i]+"#"+url.PathEscape(fragment)]; n++ {
				fragment = fmt.Sprintf("table %d", n)
			}
			address += "#" + url.PathEscape(fragment)
		}
		used[urls[i]], used[address] = true, true
		group[i] = p.csvw(address)
	}
	return indented(urls[0], map[string]any{"@context": csvwContext, "@type": "TableGroup", "tables": group})
}

const csvwContext = "http://www.w3.org/ns/csvw"

func indented(url string, doc map[string]any) ([]byte, error) {
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("csvprofile: csvw of %s: %w", url, err)
	}
	return append(b, '\n'), nil
}

// csvw returns the table description without the context.
func (p *Profile) csvw(url string) map[string]any {
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
		ValueURL string `json:"valueUrl,omitempty"`
	}
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
		if before := addressOf(c.Class); before != "" && c.Datatype == "string" {
			out.ValueURL = before + "{+" + name + "}"
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
	doc := map[string]any{"@type": "Table", "url": url, "tableSchema": schema}
	if p.Dialect.Encoding != "" || p.Dialect.Delimiter != "" {
		doc["dialect"] = p.csvwDialect()
	}
	return doc
}

// csvwDialect returns the dialect description of a delimited table.
func (p *Profile) csvwDialect() map[string]any {
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
	if p.Dialect.SkipInitialSpace {
		dialect["skipInitialSpace"] = true
	}
	if p.Dialect.CommentPrefix != "" {
		dialect["commentPrefix"] = p.Dialect.CommentPrefix
	}
	if p.Blank > 0 {
		dialect["skipBlankRows"] = true
	}
	dialect["lineTerminators"] = p.Dialect.LineTerminator
	return dialect
}

// knownFormat reports whether every implementation of CSVW supports a date's or time's pattern (Metadata Vocabulary
// 6.4.4). Cells in other patterns have to be strings.
func knownFormat(c Column) bool {
	f := strings.TrimSuffix(c.Format, "XXX")
	switch c.Datatype {
	case "date", "dateTime", "time":
		if strings.Contains(f, "MMM") || strings.ContainsAny(f, "hz") || strings.Contains(f, "H") && !strings.Contains(f, "HH") {
			return false
		}
		return c.Datatype == "time" || strings.Contains(f, "yyyy") && !strings.HasPrefix(f, "yyyy.M.d")
	case "gYearMonth":
		return false
	}
	return true
}

// csvwFormat returns the format property of a datatype: a string, or an object for numbers with characters other than the
// defaults.
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

// variableName returns a column name that is valid in CSVW: a URI template variable that does not begin with "_".
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
