package bundle

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

	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/prov"
	"odarchive/vocab/spdx"
	"odarchive/vocab/xsd"
)

// The entries that are made from the list of entries.
const (
	manifestName = "manifest.json"
	metadataName = "metadata.ttl"
)

// document writes one of them; it gives the same bytes each time.
type document func(w *bufio.Writer, p *Plan)

// measure runs a document without keeping it.
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

// manifest lists the entries in JSON, a line each.
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
	b = member(b, "  ", "time", instant(p.modified), ",\n") // of the newest version, so that the zip stays the same
	b = fmt.Appendf(b, "  \"count\": %d,\n  \"size\": %d,\n  \"entries\": [", len(p.entries), p.rawSize)
	w.Write(b)
	for i := range p.entries {
		e := &p.entries[i]
		b = b[:0]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n    {"...)
		b = member(b, "", "name", e.Name, ", ")
		b = member(b, "", "url", e.URL, ", ")
		b = member(b, "", "version", e.VersionIRI, ", ")
		b = append(b, `"sha256": "`...)
		b = hex.AppendEncode(b, e.SHA256[:])
		b = append(b, `", "md5": "`...)
		b = hex.AppendEncode(b, e.MD5[:])
		b = append(b, `", "size": `...)
		b = strconv.AppendInt(b, e.Size, 10)
		b = append(b, ", "...)
		b = member(b, "", "type", e.MediaType, ", ")
		b = member(b, "", "time", instant(e.Modified), "}")
		w.Write(b)
	}
	w.WriteString("\n  ]\n}\n")
}

func member(b []byte, indent, name, value, end string) []byte {
	b = append(b, indent...)
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, `": `...)
	b = appendJSON(b, value)
	return append(b, end...)
}

// appendJSON quotes a string; plain ones without the reflection of encoding/json.
func appendJSON(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			quoted, err := json.Marshal(validText(s))
			if err != nil { // strings always marshal
				panic(err)
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// metadata describes the versions in Turtle, in the archive's own terms.
func metadata(w *bufio.Writer, p *Plan) {
	fmt.Fprintf(w, "@prefix dct: <%s> .\n@prefix dcat: <%s> .\n@prefix prov: <%s> .\n@prefix spdx: <%s> .\n@prefix xsd: <%s> .\n",
		dcterms.NS, dcat.NS, prov.NS, spdx.NS, xsd.NS)
	var b []byte
	for i := range p.entries {
		e := &p.entries[i]
		url, version := iri(e.URL), iri(e.VersionIRI)
		b = put(b[:0], "\n<", url, "> dct:hasVersion <", version, "> .\n<", version, "> a prov:Entity ;\n\tdct:isVersionOf <", url, "> ;\n\tdct:identifier \"")
		b = hex.AppendEncode(b, e.MD5[:])
		b = put(b, "\" ;\n\tdct:issued \"", instant(e.Modified), "\"^^xsd:dateTime ;\n\tdcat:byteSize ")
		b = strconv.AppendInt(b, e.Size, 10)
		if e.MediaType != "" {
			b = put(b, " ;\n\tdcat:mediaType ", turtleString(e.MediaType))
		}
		b = put(b, " ;\n\tdcat:downloadURL <", version, ">, <", relative(e.Name), "> ;\n",
			"\tspdx:checksum [ a spdx:Checksum ; spdx:algorithm spdx:checksumAlgorithm_sha256 ; spdx:checksumValue \"")
		b = hex.AppendEncode(b, e.SHA256[:])
		w.Write(put(b, "\"^^xsd:hexBinary ] .\n"))
	}
}

func put(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = append(b, s...)
	}
	return b
}

// iri escapes what no IRI reference in Turtle may hold.
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

func forbidden(r rune) bool {
	return r <= ' ' || r == 0x7f || r == '\uFFFD' || strings.ContainsRune("<>\"{}|\\^`", r)
}

// relative is the reference to an entry from metadata.ttl. The "./" keeps a colon from making it a scheme.
func relative(name string) string { return "./" + (&url.URL{Path: name}).EscapedPath() }

func turtleString(s string) string {
	return `"` + turtleEscapes.Replace(validText(s)) + `"`
}

var turtleEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// write runs a document into w.
func (d document) write(w io.Writer, p *Plan) error {
	b := bufio.NewWriterSize(w, 64<<10)
	d(b, p)
	return b.Flush()
}
