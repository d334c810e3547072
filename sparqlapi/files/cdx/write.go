package cdx

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/catalog"
)

// classic has the default fields of a text line, ours those of a JSON object.
var (
	classic = []string{"urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"}
	ours    = []string{"original", "mimetype", "statuscode", "digest", "length", "charset", "filename", "id"}
)

const timestampLayout = "20060102150405"

// value returns the value of a field, or "-" if it has none, as in every CDX.
func value(c catalog.Capture, field string) (v string) {
	switch field {
	case "urlkey":
		v = c.Key
	case "timestamp":
		v = c.At.UTC().Format(timestampLayout)
	case "original":
		v = c.URL
	case "mimetype":
		v = c.Type
	case "statuscode":
		if c.Status > 0 {
			v = strconv.Itoa(c.Status)
		}
	case "digest":
		v = "sha256:" + hex.EncodeToString(c.Digests.SHA256[:])
	case "md5":
		v = hex.EncodeToString(c.Digests.MD5[:])
	case "length":
		v = strconv.FormatInt(c.Size, 10)
	case "filename":
		v = c.FileName
	case "charset":
		v = c.Charset
	case "id":
		v = c.ID
	case "etag":
		v = c.ETag
	case "lastmodified":
		v = c.LastModified
	}
	if v == "" {
		return "-"
	}
	return v
}

// keyName returns a field's name in the JSON of CDXJ, where pywb uses shorter names.
func keyName(field string) string {
	switch field {
	case "original":
		return "url"
	case "mimetype":
		return "mime"
	case "statuscode":
		return "status"
	}
	return field
}

// writer writes captures in one format. The buffer keeps errors of the connection.
type writer struct {
	out    *bufio.Writer
	format string
	fields []string
	lines  int
}

func newWriter(out *bufio.Writer, r request) *writer {
	w := &writer{out: out, format: r.format, fields: r.fields}
	if w.fields == nil {
		w.fields = classic
		if r.format == "cdxj" || r.format == "jsonl" {
			w.fields = ours
		}
		if r.format == "jsonl" {
			w.fields = slices.Concat([]string{"urlkey", "timestamp"}, ours)
		}
	}
	return w
}

func (w *writer) contentType() string {
	switch w.format {
	case "json":
		return "application/json"
	case "jsonl":
		return "application/x-ndjson"
	case "cdxj":
		return "text/x-cdxj; charset=utf-8"
	}
	return "text/plain; charset=utf-8"
}

func (w *writer) capture(c catalog.Capture) {
	switch w.format {
	case "json":
		if w.lines == 0 {
			w.out.WriteByte('[')
			w.row(w.fields)
		}
		w.out.WriteString(",\n")
		values := make([]string, len(w.fields))
		for i, f := range w.fields {
			values[i] = value(c, f)
		}
		w.row(values)
	case "text":
		for i, f := range w.fields {
			if i > 0 {
				w.out.WriteByte(' ')
			}
			w.out.WriteString(oneWord(value(c, f)))
		}
		w.out.WriteByte('\n')
	case "cdxj":
		w.out.WriteString(c.Key + " " + value(c, "timestamp") + " ")
		w.object(c)
	case "jsonl":
		w.object(c)
	}
	w.lines++
}

// row writes a row of the Wayback Machine's table.
func (w *writer) row(values []string) {
	raw, _ := json.Marshal(values) // strings
	w.out.Write(raw)
}

func (w *writer) object(c catalog.Capture) {
	w.out.WriteByte('{')
	first := true
	for _, f := range w.fields {
		v := value(c, f)
		if v == "-" {
			continue
		}
		if !first {
			w.out.WriteString(", ")
		}
		first = false
		raw, _ := json.Marshal(v) // a string
		w.out.WriteString(`"` + keyName(f) + `": `)
		w.out.Write(raw)
	}
	w.out.WriteString("}\n")
}

// end ends the answer. next is the key to continue after, or "".
func (w *writer) end(next string) {
	if w.format != "json" {
		if next != "" {
			w.out.WriteString("\n" + next + "\n")
		}
		return
	}
	if w.lines == 0 {
		w.out.WriteString("[")
	}
	if next != "" {
		w.out.WriteString(",\n[],\n")
		raw, _ := json.Marshal([]string{next}) // strings
		w.out.Write(raw)
	}
	w.out.WriteString("]\n")
}

// oneWord replaces white space in a field of a text line.
func oneWord(s string) string {
	if !strings.ContainsAny(s, " \t\r\n") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n", r) {
			return '+'
		}
		return r
	}, s)
}
