package describe

import (
	"strconv"
	"strings"

	"odarchive/crawler/inspect/document"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// languageIRI is the beginning of the IRIs by which the Library of Congress names the languages of ISO 639-1.
const languageIRI = "http://id.loc.gov/vocabulary/iso639-1/"

// document describes what a file, which is the present subject, says of itself, except its title. label is that of its
// blank nodes.
func (g *graph) document(label string, d *document.Document, left *room) {
	file := g.subject
	defer g.about(file)
	g.text(vocab.DCTDescription, d.Description)
	g.text(vocab.ArcSoftware, d.Software)
	if d.Conforms != "" {
		g.add(vocab.DCTConformsTo, IRI(d.Conforms))
	}
	for _, tag := range d.Languages {
		if lang, _, _ := strings.Cut(tag, "-"); len(lang) == 2 {
			g.add(vocab.DCTLanguage, term.IRI(languageIRI+lang))
		}
	}
	if d.Created != "" {
		g.add(vocab.DCTCreated, moment(d.Created))
	}
	if d.Modified != "" {
		g.add(vocab.DCTModified, moment(d.Modified))
	}
	if d.Pages > 0 {
		g.add(vocab.SchemaNumberOfPages, integer(int64(d.Pages)))
	}
	if d.Tables > 0 {
		g.add(vocab.ArcTableCount, integer(int64(d.Tables)))
	}
	if d.Encrypted {
		g.add(vocab.ArcEncrypted, boolean(true))
	}
	omitted := d.Omitted
	// node adds a node about one of the facts, unless there is no more room.
	node := func(predicate, kind string, i int) (term.Key, bool) {
		if left.nodes == 0 {
			omitted++
			return term.Key(""), false
		}
		left.nodes--
		n := term.Blank(kind + "-" + label + "-" + strconv.Itoa(i+1))
		g.about(file)
		g.add(predicate, n)
		g.about(n)
		return n, true
	}
	if d.Creator != "" {
		if _, ok := node(vocab.DCTCreator, "creator", 0); ok {
			g.isA(vocab.FOAFAgent)
			g.text(vocab.FOAFName, d.Creator)
		}
	}
	axes := map[string]term.Key{}
	for i, x := range d.Dimensions {
		if n, ok := node(vocab.ArcDimension, "dimension", i); ok {
			axes[x.Name] = n
			g.text(vocab.SchemaName, named(x.Name, i))
			g.add(vocab.SchemaValue, integer(max(x.Size, 0)))
		}
	}
	for i, v := range d.Variables {
		if _, ok := node(vocab.SchemaVariableMeasured, "variable", i); ok {
			g.isA(vocab.SchemaPropertyValue)
			g.text(vocab.SchemaName, named(v.Name, i))
			g.text(vocab.DCTTitle, v.Title)
			g.text(vocab.SchemaUnitText, v.Unit)
			g.text(vocab.CSVWDatatype, v.Datatype)
			for _, name := range v.Dimensions {
				if axis, ok := axes[name]; ok {
					g.add(vocab.ArcDimension, axis)
				}
			}
		}
	}
	for i, a := range d.Attributes {
		if _, ok := node(vocab.SchemaAdditionalProperty, "attribute", i); ok {
			g.isA(vocab.SchemaPropertyValue)
			g.text(vocab.SchemaName, named(a.Name, i))
			g.text(vocab.SchemaValue, a.Value)
		}
	}
	if omitted > 0 {
		g.about(file)
		g.add(vocab.ArcFactsOmitted, integer(int64(omitted)))
	}
}

// named returns a name, or the number of what has none.
func named(name string, i int) string {
	if strings.TrimSpace(name) == "" {
		return strconv.Itoa(i + 1)
	}
	return name
}

// moment returns a date, or a date with a time, in its datatype.
func moment(s string) term.Key {
	if strings.Contains(s, "T") {
		return term.Typed(s, vocab.XSDDateTime)
	}
	return term.Typed(s, vocab.XSDDate)
}
