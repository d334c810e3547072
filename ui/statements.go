package ui

import (
	"context"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// statements are the triples about an IRI, for a page.
type statements struct {
	IRI     string
	Out     []statement
	In      []links // rarest predicate first
	Cut     bool    // there are more statements than shown
	Query   string  // finds all triples that point to the IRI
	Formats []format
}

// links are the subjects that point to the IRI by one predicate. More is folded until a reader opens it.
type links struct {
	Predicate   node
	First, More []node
}

type statement struct {
	Predicate node
	Other     node        // object of Out, subject of In
	Inside    []statement // statements about the object, if it is a blank node
}

// node is a term: its short text, its full text, and where it links to.
type node struct {
	Text, Full string
	Href       template.URL
	Note       string // datatype or language
}

type format struct{ Name, Href string }

const (
	maxStatements = 120
	maxLinks      = 8 // links of one predicate that are not folded: the visits of a file would hide its datasets
)

// statements returns the triples around an IRI, or nil if Options.Describe is not set.
func (u *UI) statements(ctx context.Context, iri string) (*statements, error) {
	if u.describe == nil {
		return nil, nil
	}
	var out, in []term.Quad
	for _, alias := range u.mint.Aliases(iriText(iri)) { // minted before the archive's base was changed
		var err error
		if out, in, err = u.describe(ctx, alias, maxStatements); err != nil {
			return nil, err
		}
		if len(out)+len(in) > 0 {
			iri = alias
			break
		}
	}
	s := &statements{IRI: iri}
	for _, f := range [][2]string{{"Turtle", "ttl"}, {"JSON-LD", "jsonld"}, {"RDF/XML", "rdf"}, {"N-Triples", "nt"}} {
		s.Formats = append(s.Formats, format{f[0], "/describe?iri=" + url.QueryEscape(iri) + "&format=" + f[1]})
	}
	bySubject := make(map[term.Key][]term.Quad)
	for _, q := range out {
		bySubject[q.S] = append(bySubject[q.S], q)
	}
	s.Out = u.about(term.IRI(iriText(iri)), bySubject)
	s.In = u.links(in)
	s.Cut = len(out) >= maxStatements || len(in) >= maxStatements
	s.Query = "SELECT ?from ?predicate WHERE {\n  ?from ?predicate <" + iriText(iri) + ">\n}\nLIMIT 10000"
	return s, nil
}

// links groups the statements that point here by predicate.
func (u *UI) links(in []term.Quad) []links {
	byPredicate := make(map[term.Key]int)
	var list []links
	for _, q := range in {
		if q.S == q.O {
			continue
		}
		i, known := byPredicate[q.P]
		if !known {
			i = len(list)
			byPredicate[q.P] = i
			list = append(list, links{Predicate: u.node(q.P)})
		}
		if l := &list[i]; len(l.First) < maxLinks {
			l.First = append(l.First, u.node(q.S))
		} else {
			l.More = append(l.More, u.node(q.S))
		}
	}
	slices.SortStableFunc(list, func(a, b links) int { return len(a.First) + len(a.More) - len(b.First) - len(b.More) })
	return list
}

// about returns the statements about a subject. Those about a blank node are inside the first statement that leads to
// it.
func (u *UI) about(subject term.Key, bySubject map[term.Key][]term.Quad) []statement {
	var list []statement
	quads := bySubject[subject]
	delete(bySubject, subject)
	for _, q := range quads {
		st := statement{Predicate: u.node(q.P), Other: u.node(q.O)}
		if q.O.Kind() == term.KindBlank {
			st.Inside = u.about(q.O, bySubject)
		}
		list = append(list, st)
	}
	return list
}

func (u *UI) node(k term.Key) node {
	v := k.Value()
	switch k.Kind() {
	case term.KindIRI:
		return node{Text: curie(v, u.mint.Base), Full: v, Href: u.iriHref(v)}
	case term.KindBlank:
		return node{Text: "_:" + v, Full: "_:" + v}
	case term.KindLiteral:
		n := node{Text: v, Full: v, Note: k.Lang()}
		if dt := k.Datatype(); n.Note == "" && dt != term.XSDString {
			n.Note = curie(dt, "")
		}
		return n
	}
	return node{Text: "a triple", Full: string(k)}
}

// iriHref returns a link to the archive's own page of an IRI, or "" if the IRI is not a web address.
func (u *UI) iriHref(iri string) template.URL {
	iri = u.mint.Moved(iri, u.mint.Base)
	if rest, ok := strings.CutPrefix(iri, u.mint.Base); ok {
		return template.URL("/" + rest)
	}
	if parsed, err := url.Parse(iri); err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https" && parsed.Scheme != "ftp") {
		return ""
	}
	return template.URL("/describe?iri=" + url.QueryEscape(iri))
}

// curie shortens an IRI with well-known prefixes, or to a path if it is below base, the archive's own.
func curie(iri, base string) string {
	best, bestNS := "", ""
	for prefix, ns := range vocab.Prefixes() {
		if strings.HasPrefix(iri, ns) && len(ns) > len(bestNS) {
			best, bestNS = prefix, ns
		}
	}
	if local := iri[len(bestNS):]; bestNS != "" && local != "" && !strings.ContainsAny(local, "/#?") {
		return best + ":" + local
	}
	if rest, ok := strings.CutPrefix(iri, base); ok && base != "" {
		return "/" + rest
	}
	return iri
}

// iriText makes a stranger's address safe between < and > in a query. It percent-encodes what RFC 3987 forbids, as the
// archive's triples do.
func iriText(address string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(address, "\uFFFD") {
		if r <= ' ' || strings.ContainsRune("<>\"{}|\\^`", r) || r == 0x7f {
			b.WriteString("%" + strings.ToUpper(strconv.FormatInt(int64(r)+0x100, 16)[1:]))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// sorted returns a copy of list in the order of key.
func sorted[T any](list []T, key func(T) string) []T {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	return list
}
