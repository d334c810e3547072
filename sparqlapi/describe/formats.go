package describe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// A format is a form of a citation.
type format struct {
	name      string // in ?format=
	mediaType string // as Crossref and DataCite negotiate
	extension string
	write     func(Work) ([]byte, error)
}

// formats are the forms of a citation, in the order in which pages list them.
func formats() []format {
	return []format{
		{"bibtex", "application/x-bibtex", ".bib", func(w Work) ([]byte, error) { return w.BibTeX(), nil }},
		{"ris", "application/x-research-info-systems", ".ris", func(w Work) ([]byte, error) { return w.RIS(), nil }},
		{"csl", "application/vnd.citationstyles.csl+json", ".csl.json", Work.CSL},
		{"datacite", "application/vnd.datacite.datacite+json", ".datacite.json", func(w Work) ([]byte, error) { return w.DataCite("") }},
		{"datacite-xml", "application/vnd.datacite.datacite+xml", ".datacite.xml",
			func(w Work) ([]byte, error) { return w.DataCiteXML("") }},
		{"citation", "text/x-bibliography", ".txt", func(w Work) ([]byte, error) { return []byte(w.Text() + "\n"), nil }},
		{"robustlink", "text/plain", ".html.txt", func(w Work) ([]byte, error) { return []byte(w.RobustLink() + "\n"), nil }},
	}
}

// CitationNames returns the names of the formats.
func CitationNames() (names []string) {
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Format writes the citation in the format with a name. ok is false if there is none.
func (w Work) Format(name string) (text []byte, mediaType, extension string, ok bool, err error) {
	for _, f := range formats() {
		if f.name == name {
			text, err = f.write(w)
			return text, f.mediaType, f.extension, true, err
		}
	}
	return nil, "", "", false, nil
}

// line returns a text on one line, without control characters, and without those that turn the direction of text: they
// would also turn the address and the date that follow a title.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return r
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069: // embeddings, overrides, isolates
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// bibtexEscapes are what BibTeX and LaTeX read as something else. BibTeX counts braces behind a backslash, too: one
// that has no partner would end the field, and what follows it would be read as fields and entries.
var bibtexEscapes = strings.NewReplacer(`\`, `{\textbackslash}`, `{`, `{\textbraceleft}`, `}`, `{\textbraceright}`, `&`, `\&`, `%`, `\%`,
	`$`, `\$`, `#`, `\#`, `_`, `\_`, `~`, `{\textasciitilde}`, `^`, `{\textasciicircum}`, `"`, `{\textquotedbl}`)

// BibTeX returns an entry of type dataset, as BibLaTeX has it; older styles read it as misc.
func (w Work) BibTeX() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "@dataset{%s,\n", w.key())
	field := func(name, value string, verbatim bool) {
		if value = line(value); value == "" {
			return
		}
		if !verbatim {
			value = bibtexEscapes.Replace(value)
		}
		fmt.Fprintf(&b, "  %-12s = {%s},\n", name, value)
	}
	var authors []string
	for _, a := range w.Creators() {
		authors = append(authors, "{"+bibtexEscapes.Replace(line(a))+"}") // one name each, which nobody may split
	}
	fmt.Fprintf(&b, "  %-12s = {%s},\n", "author", strings.Join(authors, " and "))
	field("title", w.Title, false)
	field("publisher", w.From(), false)
	if d := w.Date(); !d.IsZero() {
		field("year", w.year(), true)
		field("date", d.UTC().Format(dayForm), true)
	}
	field("version", w.version(), true)
	field("url", address(w.IRI), true)
	if !w.Archived.IsZero() {
		field("urldate", w.Archived.UTC().Format(dayForm), true)
	}
	field("note", w.terms(), false)
	b.WriteString("}\n")
	return b.Bytes()
}

// address percent-encodes what would end a field.
func address(iri string) string {
	return strings.NewReplacer("{", "%7B", "}", "%7D", `\`, "%5C", " ", "%20", "\n", "%0A", "\r", "%0D").Replace(iri)
}

// RIS returns a record of type DATA. Each line is a tag, two spaces, a hyphen, a space and the value.
func (w Work) RIS() []byte {
	var b bytes.Buffer
	field := func(tag, value string) {
		if value = line(value); value != "" || tag == "ER" {
			fmt.Fprintf(&b, "%s  - %s\r\n", tag, value)
		}
	}
	field("TY", "DATA")
	field("TI", w.Title)
	for _, a := range w.Creators() {
		field("AU", a)
	}
	field("PB", w.From())
	if d := w.Date(); !d.IsZero() {
		field("PY", w.year())
		field("DA", d.UTC().Format("2006/01/02"))
	}
	field("ET", w.version())
	field("DP", w.Archive)
	field("UR", w.IRI)
	field("L2", w.URL)
	field("DO", w.DOI)
	field("AB", w.Description)
	for _, k := range w.Keywords {
		field("KW", k)
	}
	field("LA", w.Language)
	if !w.Archived.IsZero() {
		field("Y2", w.Archived.UTC().Format("2006/01/02"))
	}
	field("N1", w.terms())
	field("ER", "")
	return b.Bytes()
}

// cslName is a name that is not split into parts.
type cslName struct {
	Literal string `json:"literal"`
}

type cslDate struct {
	Parts [][]int `json:"date-parts"`
}

func cslDateOf(t time.Time) *cslDate {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &cslDate{[][]int{{t.Year(), int(t.Month()), t.Day()}}}
}

// cslItem is an item of CSL-JSON 1.0.
type cslItem struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Title     string    `json:"title"`
	Author    []cslName `json:"author"`
	Publisher string    `json:"publisher,omitempty"`
	Issued    *cslDate  `json:"issued,omitempty"`
	Accessed  *cslDate  `json:"accessed,omitempty"`
	Version   string    `json:"version,omitempty"`
	URL       string    `json:"URL"`
	Archive   string    `json:"archive,omitempty"`
	Language  string    `json:"language,omitempty"`
	Abstract  string    `json:"abstract,omitempty"`
	Keyword   string    `json:"keyword,omitempty"`
	Note      string    `json:"note,omitempty"`
}

// CSL returns an item of CSL-JSON.
func (w Work) CSL() ([]byte, error) {
	item := cslItem{ID: w.IRI, Type: "dataset", Title: w.Title, Publisher: w.From(), Issued: cslDateOf(w.Date()),
		Accessed: cslDateOf(w.Archived), Version: w.version(), URL: w.IRI,
		Archive: w.Archive, Language: w.Language, Abstract: w.Description, Keyword: strings.Join(w.Keywords, ", "), Note: w.terms()}
	for _, a := range w.Creators() {
		item.Author = append(item.Author, cslName{a})
	}
	return indented(item)
}

func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
