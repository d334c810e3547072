package files

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"odarchive/vocab"
)

// The entries that describe the others.
const (
	manifestName = "manifest.json"
	metadataName = "metadata.ttl"
	crateName    = "ro-crate-metadata.json"
)

// document writes one of them, with the same bytes each time.
type document func(w *bufio.Writer, p *Plan)

// measure runs a document and discards its bytes.
func measure(d document, p *Plan) (size int64, crc uint32) {
	m := &meter{}
	w := bufio.NewWriterSize(m, 64<<10)
	d(w, p)
	w.Flush() // a meter never fails
	return m.size, m.crc
}

type meter struct {
	size int64
	crc  uint32
}

func (m *meter) Write(b []byte) (int, error) {
	m.size += int64(len(b))
	m.crc = crc32.Update(m.crc, crc32.IEEETable, b)
	return len(b), nil
}

// manifest writes the entries as JSON, one on each line.
func manifest(w *bufio.Writer, p *Plan) {
	var b []byte
	b = append(b, "{\n"...)
	b = member(b, "  ", "archive", p.meta.Base, ",\n")
	if p.meta.Title != "" {
		b = member(b, "  ", "title", p.meta.Title, ",\n")
	}
	if p.meta.Query != "" {
		b = member(b, "  ", "query", p.meta.Query, ",\n")
	}
	b = append(b, `  "time": "`...)
	b = appendInstant(b, p.modified) // of the newest version, so that the zip stays the same
	b = append(b, "\",\n"...)
	b = fmt.Appendf(b, "  \"count\": %d,\n  \"size\": %d,\n", len(p.entries), p.rawSize)
	b = p.appendLeftOut(b)
	b = append(b, "  \"entries\": ["...)
	w.Write(b)
	for i := range p.entries {
		e := &p.entries[i]
		b = b[:0]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n    {"...)
		b = e.text(b, `"name": `, e.Name)
		b = e.text(b, `, "url": `, e.URL)
		if e.plain {
			b = put(b, `, "version": "`, p.versions, e.ID, `"`)
		} else {
			b = appendJSON(append(b, `, "version": `...), p.iri(e))
		}
		b = append(b, ", "...)
		b = append(b, `"sha256": "`...)
		b = hex.AppendEncode(b, e.Ref.SHA256[:])
		b = append(b, `", "md5": "`...)
		b = hex.AppendEncode(b, e.Ref.MD5[:])
		b = append(b, `", "size": `...)
		b = strconv.AppendInt(b, e.Ref.Size, 10)
		b = e.text(b, `, "type": `, e.Type)
		b = append(b, `, "time": "`...)
		b = appendInstant(b, e.At)
		b = append(b, `"}`...)
		w.Write(b)
	}
	w.WriteString("\n  ]\n}\n")
}

// appendLeftOut writes the list of files that are left out.
func (p *Plan) appendLeftOut(b []byte) []byte {
	if len(p.leftOut) == 0 {
		return b
	}
	b = append(b, "  \"leftOut\": ["...)
	for i := range p.leftOut {
		e := &p.leftOut[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n    {"...)
		b = member(b, "", "url", e.URL, ", ")
		b = member(b, "", "version", p.iri(e), ", ")
		b = member(b, "", "why", e.LeftOut, "}")
	}
	return append(b, "\n  ],\n"...)
}

// text writes a name, which is already quoted, and one of the entry's texts.
func (e *Entry) text(b []byte, name, value string) []byte {
	b = append(b, name...)
	if !e.plain {
		return appendJSON(b, value)
	}
	b = append(b, '"')
	b = append(b, value...)
	return append(b, '"')
}

func member(b []byte, indent, name, value, end string) []byte {
	b = append(b, indent...)
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, `": `...)
	b = appendJSON(b, value)
	return append(b, end...)
}

// appendJSON writes a string in quotes. For plain strings it avoids the cost of encoding/json.
func appendJSON(b []byte, s string) []byte {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f || r == '"' || r == '\\' }) >= 0 {
		quoted, err := json.Marshal(validText(s))
		if err != nil { // strings always marshal
			panic(err)
		}
		return append(b, quoted...)
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendInstant writes a time as 2006-01-02T15:04:05.000Z.
func appendInstant(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, "2006-01-02T15:04:05.000Z")
	}
	hour, minute, second := t.Clock()
	b = digits(b, year, 4)
	b = digits(append(b, '-'), int(month), 2)
	b = digits(append(b, '-'), day, 2)
	b = digits(append(b, 'T'), hour, 2)
	b = digits(append(b, ':'), minute, 2)
	b = digits(append(b, ':'), second, 2)
	b = digits(append(b, '.'), t.Nanosecond()/1e6, 3)
	return append(b, 'Z')
}

func digits(b []byte, n, width int) []byte {
	b = append(b, "0000"[:width]...)
	for i := len(b) - 1; n > 0; i-- {
		b[i] = '0' + byte(n%10)
		n /= 10
	}
	return b
}

// metadata writes a description of the versions in Turtle.
func metadata(w *bufio.Writer, p *Plan) {
	fmt.Fprintf(w, "@prefix dct: <%s> .\n@prefix dcat: <%s> .\n@prefix prov: <%s> .\n@prefix spdx: <%s> .\n@prefix xsd: <%s> .\n",
		vocab.DCTNS, vocab.DCATNS, vocab.PROVNS, vocab.SPDXNS, vocab.XSDNS)
	var b []byte
	for i := range p.entries {
		e := &p.entries[i]
		url, prefix, id, mediaType, name := e.URL, p.versions, e.ID, e.Type, e.Name // prefix and id make the IRI
		if !e.plain {
			url, prefix, id, mediaType, name = iri(url), "", iri(p.iri(e)), turtleEscapes.Replace(validText(mediaType)), relative(name)
		}
		if e.Member != nil {
			b = put(b[:0], "\n<", id, "> a prov:Entity ;\n\tdct:isPartOf <", iri(p.mint.Version(e.ID)), "> ;\n\tdct:identifier \"")
		} else {
			b = put(b[:0], "\n<", url, "> dct:hasVersion <", prefix, id, "> .\n<", prefix, id, "> a prov:Entity ;\n\tdct:isVersionOf <",
				url, "> ;\n\tdct:identifier \"")
		}
		b = hex.AppendEncode(b, e.Ref.MD5[:])
		b = appendInstant(put(b, "\" ;\n\tdct:issued \""), e.At)
		b = put(b, "\"^^xsd:dateTime ;\n\tdcat:byteSize ")
		b = strconv.AppendInt(b, e.Ref.Size, 10)
		if e.Type != "" {
			b = put(b, " ;\n\tdcat:mediaType \"", mediaType, "\"")
		}
		b = put(b, " ;\n\tdcat:downloadURL <", prefix, id, ">, <./", name, "> ;\n",
			"\tspdx:checksum [ a spdx:Checksum ; spdx:algorithm spdx:checksumAlgorithm_sha256 ; spdx:checksumValue \"")
		b = hex.AppendEncode(b, e.Ref.SHA256[:])
		w.Write(put(b, "\"^^xsd:hexBinary ] .\n"))
	}
	for i := range p.leftOut { // only the reason is stated, since dct:hasVersion and others would promise bytes
		e := &p.leftOut[i]
		b = put(b[:0], "\n<", iri(p.iri(e)), "> a prov:Entity")
		if e.Member != nil {
			b = put(b, " ;\n\tdct:isPartOf <", iri(p.mint.Version(e.ID)), ">")
		}
		w.Write(put(b, " ;\n\t<", vocab.ArcFault, "> \"", turtleEscapes.Replace(validText(e.LeftOut)), "\" .\n"))
	}
}

func put(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = append(b, s...)
	}
	return b
}

// iri percent-encodes the characters that an IRI reference in Turtle must not contain.
func iri(s string) string {
	if strings.IndexFunc(s, forbidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range validText(s) {
		if forbidden(r) {
			fmt.Fprintf(&b, "%%%02X", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isPlainASCII reports whether s needs no escaping in any document. Most addresses and names do not.
func isPlainASCII(s string) bool {
	for i := range len(s) {
		if !unreserved[s[i]] {
			return false
		}
	}
	return true
}

// unreserved are letters, digits and the punctuation of ordinary addresses.
var unreserved = func() (table [256]bool) {
	for c := byte('0'); c <= 'z'; c++ {
		table[c] = c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a'
	}
	for _, c := range []byte("-._~/:?=&+") {
		table[c] = true
	}
	return table
}()

func forbidden(r rune) bool {
	return r <= ' ' || r == 0x7f || r == '\uFFFD' || strings.ContainsRune("<>\"{}|\\^`", r)
}

// relative returns the reference to an entry from metadata.ttl, to be written after "./" so that a colon cannot be
// taken for the end of a scheme.
func relative(name string) string { return (&url.URL{Path: name}).EscapedPath() }

var turtleEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// write writes a document to w.
func (d document) write(w io.Writer, p *Plan) error {
	b := bufio.NewWriterSize(w, 64<<10)
	d(b, p)
	return b.Flush()
}
