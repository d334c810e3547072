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

// GroupTable is one of several tables.
type GroupTable struct {
	URL     string // address of its file
	Member  string // path of its member, if the file is an archive
	Index   int    // among the tables of its file or member
	Profile *Profile
}

// CSVWGroup returns the metadata document of several tables, at least one. Tables of one file differ by a fragment with
// their name or number.
func CSVWGroup(tables []GroupTable) ([]byte, error) {
	type place struct {
		member string
		index  int
	}
	addresses := make([]string, len(tables))
	at := make(map[place]int, len(tables))
	used := map[string]bool{}
	for i, t := range tables {
		address := t.URL
		if used[address] || i+1 < len(tables) && tables[i+1].URL == address {
			fragment := t.Profile.Name
			for n := i + 1; fragment == "" || used[t.URL+"#"+url.PathEscape(fragment)]; n++ {
				fragment = fmt.Sprintf("table %d", n)
			}
			address += "#" + url.PathEscape(fragment)
		}
		used[t.URL], used[address] = true, true
		addresses[i], at[place{t.Member, t.Index}] = address, i
	}
	group := make([]map[string]any, len(tables))
	for i, t := range tables {
		group[i] = t.Profile.csvw(addresses[i])
		var keys []map[string]any
		for _, key := range t.Profile.ForeignKeys {
			member := key.Member
			if member == "" {
				member = t.Member
			}
			to, ok := at[place{member, key.Table}]
			if !ok {
				continue
			}
			columns, others := namesAt(t.Profile.variables(), key.Columns), namesAt(tables[to].Profile.variables(), key.To)
			if columns != nil && others != nil {
				keys = append(keys,
					map[string]any{"columnReference": columns,
						"reference": map[string]any{"resource": addresses[to], "columnReference": others}})
			}
		}
		if keys != nil {
			group[i]["tableSchema"].(map[string]any)["foreignKeys"] = keys
		}
	}
	return indented(tables[0].URL, map[string]any{"@context": csvwContext, "@type": "TableGroup", "tables": group})
}

// namesAt returns the names with these numbers, from 1, nil if one does not exist.
func namesAt(names []string, numbers []int) (list []string) {
	for _, n := range numbers {
		if n < 1 || n > len(names) {
			return nil
		}
		list = append(list, names[n-1])
	}
	return list
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
	columns := make([]column, 0, len(p.Columns))
	names := p.variables()
	key := ""
	for i, c := range p.Columns {
		name := names[i]
		out := column{Name: name, Datatype: c.Datatype, Required: c.Nulls == 0 && p.Rows > 0 && p.Ragged+p.Blank == 0 &&
			p.Dialect.Footer == 0}
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
	if declared := namesAt(names, p.PrimaryKey); declared != nil {
		schema["primaryKey"] = declared
	} else if key != "" {
		schema["primaryKey"] = key
	}
	doc := map[string]any{"@type": "Table", "url": url, "tableSchema": schema}
	if len(p.Notes) > 0 {
		doc["rdfs:comment"] = p.Notes
	}
	if p.Dialect.Encoding != "" || p.Dialect.Delimiter != "" {
		doc["dialect"] = p.csvwDialect()
	}
	return doc
}

// variables returns the names of the columns in CSVW, all different.
func (p *Profile) variables() []string {
	names := make([]string, len(p.Columns))
	used := map[string]bool{}
	for i, c := range p.Columns {
		name := variableName(c.Name, i)
		for used[name] {
			name += "_"
		}
		used[name] = true
		names[i] = name
	}
	return names
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

// csvwFormat returns the format property of a datatype: a string, or an object for numbers with characters other than
// the defaults.
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
