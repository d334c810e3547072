package search

import (
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// metadata is what portals say of a resource and of its datasets.
type metadata struct {
	descriptions []string
	keywords     []string
	publishers   []string
	licences     []string // their known names, or else what the portal says
	declared     []string // as declared
}

// namesThings are the properties whose objects have names of their own.
var namesThings = map[string]bool{vocab.DCTPublisher: true, vocab.DCTCreator: true, vocab.DCTLicense: true, vocab.DCATTheme: true}

// addStatements adds what statements say of subjects. They may be about other things, such as publishers.
func (m *metadata) addStatements(subjects []term.Key, quads []term.Quad) {
	names := map[term.Key]string{}
	for _, q := range quads {
		if q.O.Kind() != term.KindLiteral {
			continue
		}
		switch q.P.Value() {
		case vocab.FOAFName, vocab.VCardFn, vocab.SKOSPrefLabel, vocab.RDFSLabel, vocab.DCTTitle:
			if _, has := names[q.S]; !has {
				names[q.S] = q.O.Value()
			}
		}
	}
	about := map[term.Key]bool{}
	for _, s := range subjects {
		about[s] = true
	}
	for _, q := range quads {
		if !about[q.S] {
			continue
		}
		switch q.P.Value() {
		case vocab.DCTDescription:
			addText(&m.descriptions, q.O)
		case vocab.DCATKeyword:
			addText(&m.keywords, q.O)
		case vocab.DCATTheme:
			m.keywords = addNew(m.keywords, names[q.O])
		case vocab.DCTPublisher, vocab.DCTCreator:
			name := names[q.O]
			if q.O.Kind() == term.KindLiteral {
				name = q.O.Value()
			}
			if name == "" && q.O.Kind() == term.KindIRI && q.P.Value() == vocab.DCTPublisher {
				name = lastPart(q.O.Value())
			}
			m.publishers = addNew(m.publishers, name)
		case vocab.DCTLicense:
			declared := q.O.Value()
			if q.O.Kind() == term.KindBlank {
				declared = names[q.O]
			}
			known, ok := catalog.LicenceOf(declared)
			if !ok {
				known, ok = catalog.LicenceOf(names[q.O])
			}
			if !ok {
				known.ID = names[q.O]
				if known.ID == "" {
					known.ID = declared
				}
			}
			m.licences = addNew(m.licences, known.ID)
			m.declared = addNew(addNew(m.declared, declared), names[q.O])
		}
	}
}

func addText(list *[]string, o term.Key) {
	if o.Kind() == term.KindLiteral {
		*list = addNew(*list, plainText(o.Value()))
	}
}

// maxList bounds the values of one property that are kept.
const maxList = 40

func addNew(list []string, s string) []string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, " ")), " ")
	if s == "" || len(list) >= maxList {
		return list
	}
	for _, o := range list {
		if o == s {
			return list
		}
	}
	return append(list, s)
}

// plainText returns a text without the tags of HTML that some portals write.
func plainText(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	var b strings.Builder
	for s != "" {
		before, rest, tag := strings.Cut(s, "<")
		b.WriteString(before)
		if !tag {
			break
		}
		name, after, closed := strings.Cut(rest, ">")
		if !closed || name == "" || !(name[0] == '/' || name[0] == '!' || name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z') {
			b.WriteByte('<') // less than
			s = rest
			continue
		}
		b.WriteByte(' ')
		s = after
	}
	return b.String()
}

// lastPart returns the last part of an IRI.
func lastPart(iri string) string {
	iri = strings.TrimRight(iri, "/#")
	return unescaped(iri[strings.LastIndexAny(iri, "/#")+1:])
}
