package csvw

import (
	"bytes"
	"encoding/json"
	"fmt"

	"odarchive/crawler/inspect/charset"
)

// dialect parses a dialect description (Metadata Vocabulary 5.9).
func (p *parser) dialect(v any) (*Dialect, error) {
	o, q, err := p.refer(v, "dialect")
	if err != nil || o == nil {
		return nil, err
	}
	defer func() {
		if q != p {
			p.warnings = append(p.warnings, q.warnings...)
		}
	}()
	if err := q.kind(o, "Dialect"); err != nil {
		return nil, err
	}
	if _, err := q.id(o); err != nil {
		return nil, err
	}
	d := defaultDialect()
	text := func(key string, to *string) {
		switch v := o[key].(type) {
		case string:
			*to = v
		case nil:
			if _, there := o[key]; there && (key == "quoteChar" || key == "commentPrefix") {
				*to = ""
			}
		default:
			q.warn("dialect %s is %v", key, v)
		}
	}
	count := func(key string, to *int) {
		switch v := o[key].(type) {
		case nil:
		case json.Number:
			if n, err := v.Int64(); err == nil && n >= 0 && n < 1<<20 {
				*to = int(n)
				return
			}
			q.warn("dialect %s is %v", key, v)
		default:
			q.warn("dialect %s is %v", key, v)
		}
	}
	text("commentPrefix", &d.CommentPrefix)
	text("delimiter", &d.Delimiter)
	text("quoteChar", &d.QuoteChar)
	text("encoding", &d.Encoding)
	if _, err := charset.NewReader(bytes.NewReader(nil), d.Encoding); err != nil {
		q.warn("dialect encoding is %q", d.Encoding)
		d.Encoding = "utf-8"
	}
	d.DoubleQuote = q.boolean(o, "doubleQuote", true)
	d.SkipBlankRows = q.boolean(o, "skipBlankRows", false)
	d.SkipInitialSpace = q.boolean(o, "skipInitialSpace", false)
	if !q.boolean(o, "header", true) {
		d.HeaderRowCount = 0
	}
	count("headerRowCount", &d.HeaderRowCount)
	count("skipRows", &d.SkipRows)
	count("skipColumns", &d.SkipColumns)
	switch t := o["trim"].(type) {
	case nil:
		if d.SkipInitialSpace {
			d.Trim = "start"
		}
	case bool:
		d.Trim = fmt.Sprint(t)
	case string:
		switch t {
		case "true", "false", "start", "end":
			d.Trim = t
		default:
			q.warn("dialect trim is %q", t)
		}
	default:
		q.warn("dialect trim is %v", t)
	}
	switch v := o["lineTerminators"].(type) {
	case nil, string:
	case []any:
		for _, e := range v {
			if _, ok := e.(string); !ok {
				q.warn("dialect lineTerminators has %v", e)
			}
		}
	default:
		q.warn("dialect lineTerminators is %v", v)
	}
	for k := range o {
		switch k {
		case "@id", "@type", "commentPrefix", "delimiter", "quoteChar", "encoding", "doubleQuote", "skipBlankRows", "skipInitialSpace", "header", "headerRowCount", "skipRows",
			"skipColumns", "trim", "lineTerminators":
		default:
			q.warn("dialect: unknown property %s", k)
		}
	}
	return d, nil
}
