package webpage

import (
	"strings"

	"golang.org/x/net/html"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

const schemaOrg = "http://schema.org/"

// items makes the statements of Microdata (Microdata to RDF, second edition, §6).
type items struct {
	*document
	subjects map[*html.Node]term.Key // of items that have begun, so that cycles end
	depth    int
}

// microdata returns the statements of Microdata.
func (d *document) microdata() ([]term.Quad, error) {
	d.out = nil
	m := &items{document: d, subjects: map[*html.Node]term.Key{}}
	for _, n := range d.items {
		if _, err := m.item(n, ""); err != nil {
			return nil, err
		}
	}
	return d.out, nil
}

// item makes the statements of an item and returns its subject (§6.3, "generate the triples"). vocab is the vocabulary
// of the item around it.
func (m *items) item(n *html.Node, vocab string) (term.Key, error) {
	if s, ok := m.subjects[n]; ok {
		return s, nil
	}
	subject := term.Key("")
	if id, ok := attr(n, "itemid"); ok {
		subject = m.resource(id)
	}
	if subject == "" {
		subject = m.fresh("m-")
	}
	m.subjects[n] = subject
	types, _ := attr(n, "itemtype")
	first := ""
	for _, t := range strings.Fields(types) {
		if iri.Check(t) != nil {
			continue
		}
		if first == "" {
			first = t
		}
		m.emit(subject, rdfType, m.key(term.IRI(t)))
	}
	if first != "" {
		vocab = vocabularyOf(first)
	}
	if m.depth++; m.depth > m.o.Limits.Depth {
		return "", m.tooDeep()
	}
	err := m.properties(n, subject, vocab)
	m.depth--
	if err == nil {
		err = m.checkSize()
	}
	return subject, err
}

// vocabularyOf returns the vocabulary of a type, with which its properties begin (§6.3 step 6).
func vocabularyOf(typ string) string {
	for _, registered := range []string{schemaOrg, "https://schema.org/", "http://microformats.org/profile/hcard"} {
		if strings.HasPrefix(typ, registered) {
			return registered
		}
	}
	if i := strings.LastIndexByte(typ, '#'); i >= 0 {
		return typ[:i+1]
	}
	return typ[:strings.LastIndexByte(typ, '/')+1]
}

// properties makes the statements of the properties of the item at n. These are below n and below the elements that
// itemref names, but not below other items (HTML, "the properties of an item").
func (m *items) properties(n *html.Node, subject term.Key, vocab string) error {
	roots := []*html.Node{}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		roots = append(roots, c)
	}
	if refs, ok := attr(n, "itemref"); ok {
		for _, id := range strings.Fields(refs) {
			if e := m.ids[id]; e != nil && e != n {
				roots = append(roots, e)
			}
		}
	}
	seen := map[*html.Node]bool{n: true}
	var walk func(e *html.Node) error
	walk = func(e *html.Node) error {
		if e.Type != html.ElementNode || seen[e] {
			return nil
		}
		seen[e] = true
		if names, ok := attr(e, "itemprop"); ok {
			if err := m.property(e, names, subject, vocab); err != nil {
				return err
			}
		}
		if _, other := attr(e, "itemscope"); other {
			return nil
		}
		for c := e.FirstChild; c != nil; c = c.NextSibling {
			if err := walk(c); err != nil {
				return err
			}
		}
		return nil
	}
	for _, e := range roots {
		if err := walk(e); err != nil {
			return err
		}
	}
	return nil
}

// property makes the statements of an element with itemprop.
func (m *items) property(e *html.Node, names string, subject term.Key, vocab string) error {
	fields := strings.Fields(names)
	if len(fields) == 0 {
		return nil
	}
	value, err := m.value(e, vocab)
	if err != nil {
		return err
	}
	for _, name := range fields {
		p := m.predicate(name, vocab)
		m.emit(subject, p, value)
		if p == term.IRI(schemaOrg+"additionalType") && value.Kind() == term.KindIRI {
			m.emit(subject, rdfType, value) // the only entailment of the registry
		}
	}
	return m.checkSize()
}

// predicate returns the predicate of a property (§6.3.1). Names that are not IRIs are appended to the vocabulary or,
// without one, to the address of the page.
func (m *items) predicate(name, vocab string) term.Key {
	if iri.Check(name) == nil {
		return m.key(term.IRI(name))
	}
	if vocab == "" {
		return m.resource("#" + iri.Escape(name))
	}
	if !strings.HasSuffix(vocab, "/") && !strings.HasSuffix(vocab, "#") {
		vocab += "#"
	}
	return m.checked(vocab + iri.Escape(name))
}

// value returns the value of a property element (HTML, "property values"; §6.2).
func (m *items) value(e *html.Node, vocab string) (term.Key, error) {
	if _, ok := attr(e, "itemscope"); ok {
		return m.item(e, vocab)
	}
	lang := languageOf(e)
	text := func(name string) (string, bool) { return attr(e, name) }
	switch e.Data {
	case "meta":
		s, _ := text("content")
		return m.literal(s, lang), nil
	case "audio", "embed", "iframe", "img", "source", "track", "video":
		s, _ := text("src")
		return m.resource(s), nil
	case "a", "area", "link":
		s, _ := text("href")
		return m.resource(s), nil
	case "object":
		s, _ := text("data")
		return m.resource(s), nil
	case "data", "meter":
		s, _ := text("value")
		return m.numberValue(s, lang), nil
	case "time":
		s, ok := text("datetime")
		if !ok {
			s = m.textOf(e)
		}
		return m.timeValue(strings.TrimSpace(s), lang), nil
	}
	if s, ok := text("content"); ok {
		return m.literal(s, lang), nil
	}
	return m.literal(m.textOf(e), lang), nil
}

// languageOf returns the language of an element, or of the nearest element around it that has one.
func languageOf(e *html.Node) string {
	for ; e != nil; e = e.Parent {
		if lang, ok := attr(e, "lang"); ok {
			return lang
		}
		if lang, ok := attr(e, "xml:lang"); ok {
			return lang
		}
	}
	return ""
}
