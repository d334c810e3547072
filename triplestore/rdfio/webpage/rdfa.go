package webpage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"

	"golang.org/x/net/html"
)

const (
	usesVocabulary = term.Key("<http://www.w3.org/ns/rdfa#usesVocabulary")
	xhvNS          = "http://www.w3.org/1999/xhtml/vocab#"
)

// context is the evaluation context of RDFa Core 1.1 §7.2.
type context struct {
	subject    term.Key // the parent subject
	object     term.Key // the parent object
	incomplete []incomplete
	lists      *lists
	lang       string
	prefixes   *prefixes
	vocab      string
}

// incomplete is a triple that lacks its other resource, which the next element with one completes (§7.2).
type incomplete struct {
	p         term.Key
	direction direction
}

type direction byte

const (
	forward direction = iota
	reverse
	inList
)

// lists collects the values of @inlist by predicate, with the predicates in the order of their first use.
type lists struct {
	order  []term.Key
	values map[term.Key][]term.Key
}

func newLists() *lists { return &lists{values: map[term.Key][]term.Key{}} }

// touch begins the list of a predicate.
func (l *lists) touch(p term.Key) {
	if _, ok := l.values[p]; !ok {
		l.order = append(l.order, p)
		l.values[p] = nil
	}
}

func (l *lists) add(p, v term.Key) {
	l.touch(p)
	l.values[p] = append(l.values[p], v)
}

// rdfa returns the statements of RDFa.
func (d *document) rdfa() ([]term.Quad, error) {
	d.out = nil
	if !d.hasRDFa {
		return nil, nil
	}
	page := d.key(term.IRI(d.base.String()))
	root := context{subject: page, object: page, lists: newLists(), prefixes: &prefixes{}}
	for c := d.root.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if err := d.process(c, root, 0); err != nil {
			return nil, err
		}
	}
	for _, p := range root.lists.order {
		d.emit(page, p, d.list(root.lists.values[p]))
	}
	return d.copyPatterns()
}

func (d *document) tooDeep() error {
	return fmt.Errorf("webpage: %w: a nesting of more than %d", rdfio.ErrLimit, d.o.Limits.Depth)
}

// step holds the local values of the processing of an element (§7.5, step 1).
type step struct {
	n              *html.Node
	ctx            context // of the element
	skip           bool
	newSubject     term.Key
	currentObject  term.Key
	typed          term.Key
	rel, rev       []term.Key
	hasRel, hasRev bool
	incomplete     []incomplete
	lists          *lists
	lang           string
	prefixes       *prefixes
	vocab          string
}

// process processes an element and its descendants (§7.5, with the additions of HTML+RDFa 1.1 §3.1).
func (d *document) process(n *html.Node, ctx context, depth int) error {
	if depth > d.o.Limits.Depth {
		return d.tooDeep()
	}
	s := &step{n: n, ctx: ctx, lists: ctx.lists, lang: ctx.lang, prefixes: ctx.prefixes, vocab: ctx.vocab}
	d.scope(s)
	d.relations(s)
	if s.hasRel || s.hasRev {
		d.chaining(s)
	} else {
		d.establishing(s)
	}
	if s.typed != "" { // step 7
		for _, t := range s.tokens("typeof") {
			d.emit(s.typed, rdfType, d.vocabTerm(s, t))
		}
	}
	if s.newSubject != "" && s.newSubject != ctx.object { // step 8
		s.lists = newLists()
	}
	d.emitRelations(s)
	d.property(s)
	if !s.skip && s.newSubject != "" { // step 12
		for _, i := range ctx.incomplete {
			switch i.direction {
			case inList:
				ctx.lists.add(i.p, s.newSubject)
			case forward:
				d.emit(ctx.subject, i.p, s.newSubject)
			case reverse:
				d.emit(s.newSubject, i.p, ctx.subject)
			}
		}
	}
	if err := d.checkSize(); err != nil {
		return err
	}
	inner := d.inner(s)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			if err := d.process(c, inner, depth+1); err != nil {
				return err
			}
		}
	}
	if s.lists != ctx.lists { // step 14
		for _, p := range s.lists.order {
			d.emit(s.newSubject, p, d.list(s.lists.values[p]))
		}
	}
	return nil
}

// inner returns the context of the children of the element (step 13).
func (d *document) inner(s *step) context {
	in := s.ctx
	in.lang, in.prefixes, in.vocab = s.lang, s.prefixes, s.vocab
	if s.skip {
		return in
	}
	if s.newSubject != "" {
		in.subject = s.newSubject
	}
	switch {
	case s.currentObject != "":
		in.object = s.currentObject
	case s.newSubject != "":
		in.object = s.newSubject
	default:
		in.object = s.ctx.subject
	}
	in.incomplete, in.lists = s.incomplete, s.lists
	return in
}

// scope sets vocabulary, prefixes and language (steps 2 to 4).
func (d *document) scope(s *step) {
	if v, ok := attr(s.n, "vocab"); ok {
		s.vocab = ""
		if k := d.resource(v); k != "" && strings.TrimSpace(v) != "" {
			s.vocab = k.Value()
			d.emit(d.key(term.IRI(d.base.String())), usesVocabulary, k)
		}
	}
	s.prefixes = s.prefixes.with(s.n)
	if lang, ok := attr(s.n, "lang"); ok {
		s.lang = lang
	} else if lang, ok := attr(s.n, "xml:lang"); ok {
		s.lang = lang
	}
}

// relations reads @rel and @rev. If the element has @property, they ignore words that are neither CURIEs nor IRIs
// (HTML+RDFa §3.1).
func (d *document) relations(s *step) {
	read := func(name string) (keys []term.Key, has bool) {
		if _, has = attr(s.n, name); !has {
			return nil, false
		}
		tokens := s.tokens(name)
		if _, property := attr(s.n, "property"); property {
			tokens = slices.DeleteFunc(tokens, func(t string) bool { return !strings.Contains(t, ":") })
			if len(tokens) == 0 {
				return nil, false
			}
		}
		for _, t := range tokens {
			if k := d.vocabTerm(s, t); k.Kind() == term.KindIRI {
				keys = append(keys, k)
			}
		}
		return keys, true
	}
	s.rel, s.hasRel = read("rel")
	s.rev, s.hasRev = read("rev")
}

// establishing determines the subject of an element without @rel and @rev (step 5).
func (d *document) establishing(s *step) {
	_, hasProperty := attr(s.n, "property")
	_, hasContent := attr(s.n, "content")
	_, hasDatatype := attr(s.n, "datatype")
	_, hasTypeof := attr(s.n, "typeof")
	about := d.about(s)
	if hasProperty && !hasContent && !hasDatatype {
		s.newSubject = cmp.Or(about, d.byPlace(s), s.ctx.object)
		if hasTypeof {
			s.typed = about
			if s.typed == "" && d.isRoot(s.n) {
				s.typed = d.byPlace(s)
			}
			s.typed = d.orFresh(cmp.Or(s.typed, d.objectResource(s)))
			s.currentObject = s.typed
		}
		return
	}
	s.newSubject = cmp.Or(about, d.objectResource(s), d.byPlace(s))
	if hasTypeof {
		s.newSubject = d.orFresh(s.newSubject)
	}
	if s.newSubject == "" {
		s.newSubject = s.ctx.object
		s.skip = !hasProperty
	}
	if hasTypeof {
		s.typed = s.newSubject
	}
}

// chaining determines subject and object of an element with @rel or @rev (step 6).
func (d *document) chaining(s *step) {
	_, hasTypeof := attr(s.n, "typeof")
	about := d.about(s)
	s.newSubject = cmp.Or(about, d.byPlace(s), s.ctx.object)
	if hasTypeof && about != "" {
		s.typed = about
	}
	s.currentObject = d.objectResource(s)
	if hasTypeof && about == "" {
		s.currentObject = d.orFresh(s.currentObject)
		s.typed = s.currentObject
	}
}

// orFresh returns k, or a new blank node if k is empty.
func (d *document) orFresh(k term.Key) term.Key {
	if k == "" {
		return d.fresh("a-")
	}
	return k
}

func (d *document) isRoot(n *html.Node) bool { return n.Parent == d.root }
