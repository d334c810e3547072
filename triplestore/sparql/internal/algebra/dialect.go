package algebra

import (
	"strings"

	"odarchive/triplestore/term"
)

// The archive's own dialect. Queries written for the original ODArchive bind dc: to the Dublin Core elements, often
// without the final slash, and then name terms that only exist among the Dublin Core terms:
//
//	PREFIX dc: <http://purl.org/dc/elements/1.1>
//	... ?datasetURL dc:hasVersion ?versionURL . ?versionURL dc:issued ?date
//
// Historical reads such a query as its author meant it:
//
//   - http://purl.org/dc/elements/1.1 without the slash, followed by the name of a term, is that dct: term. Nobody ever
//     minted such an IRI.
//   - With the slash, names other than the fifteen elements (hasVersion, issued, isVersionOf, ...) are dct: terms, too:
//     no such elements exist.
//   - With the slash, the elements stay. But dc:title, dc:identifier and dc:format also find what the archive writes as
//     dct:title, dct:identifier and dct:format: DCMI declares each of these dct: properties a subproperty of the
//     element.
//   - STRDT(?x, xsd:dateTimeStamp) accepts a literal that has a datatype and uses its lexical form. The queries of the
//     paper apply it to dates that the archive stores as xsd:dateTime, which Virtuoso allowed. Every other STRDT is as
//     strict as SPARQL requires.
//
// Queries are read this way, and the patterns and templates of updates. The data of INSERT DATA and DELETE DATA is not,
// nor what SERVICE sends to other endpoints.

const (
	dcElements = "http://purl.org/dc/elements/1.1"
	dcTerms    = "http://purl.org/dc/terms/"

	dateTimeStamp = "http://www.w3.org/2001/XMLSchema#dateTimeStamp"
)

// elements are the fifteen names of the Dublin Core Metadata Element Set. The value is true for those that the archive
// writes as dct: terms.
var elements = map[string]bool{
	"contributor": false, "coverage": false, "creator": false, "date": false, "description": false, "format": true,
	"identifier": true, "language": false, "publisher": false, "relation": false, "rights": false, "source": false,
	"subject": false, "title": true, "type": false,
}

// termsOnly are the properties among the Dublin Core terms that are not elements.
var termsOnly = set("abstract accessRights accrualMethod accrualPeriodicity accrualPolicy alternative audience available " +
	"bibliographicCitation conformsTo created dateAccepted dateCopyrighted dateSubmitted educationLevel extent hasFormat " +
	"hasPart hasVersion instructionalMethod isFormatOf isPartOf isReferencedBy isReplacedBy isRequiredBy issued isVersionOf " +
	"license mediator medium modified provenance references replaces requires rightsHolder spatial tableOfContents temporal valid")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func historical() rewriter {
	return rewriter{node: modernNode, path: modernPath, triple: elementTriple, call: lenientStrdt}
}

// HistoricalUpdate is Historical for DELETE and INSERT with a pattern.
func HistoricalUpdate(m Modify) Modify {
	r := historical()
	templates := func(in []QuadPattern) (out []QuadPattern) {
		for _, q := range in {
			out = append(out, QuadPattern{r.nodes(q.TriplePattern), r.node(q.Graph)})
		}
		return out
	}
	m.Delete, m.Insert, m.Where = templates(m.Delete), templates(m.Insert), r.op(m.Where)
	return m
}

// Historical returns the query with the historical Dublin Core IRIs replaced by their dct: equivalents. It does not
// change q.
func Historical(q *Query) *Query {
	r := historical()
	out := *q
	out.Pattern = r.op(q.Pattern)
	out.Template = nil
	for _, t := range q.Template {
		out.Template = append(out.Template, r.nodes(t))
	}
	out.Describe = nil
	for _, n := range q.Describe {
		out.Describe = append(out.Describe, r.node(n))
	}
	return &out
}

// modern returns the dct: IRI for a historical one, and every other IRI itself.
func modern(iri string) string {
	rest, ok := strings.CutPrefix(iri, dcElements)
	if !ok || rest == "" {
		return iri
	}
	name, slash := strings.CutPrefix(rest, "/")
	_, element := elements[name]
	if termsOnly[name] || element && !slash {
		return dcTerms + name
	}
	return iri
}

// lenientStrdt reads STRDT(x, xsd:dateTimeStamp) as STRDT(STR(x), xsd:dateTimeStamp).
func lenientStrdt(c Call) Call {
	if c.Func != "STRDT" || len(c.Args) != 2 || c.Args[1] != (ConstExpr{term.IRI(dateTimeStamp)}) {
		return c
	}
	return Call{Func: c.Func, Args: []Expr{Call{Func: "STR", Args: c.Args[:1]}, c.Args[1]}}
}

// asTerm returns the dct: property that is found together with the element of the same name. It returns false for
// every other IRI.
func asTerm(iri string) (string, bool) {
	name, ok := strings.CutPrefix(iri, dcElements+"/")
	if !ok || !elements[name] {
		return "", false
	}
	return dcTerms + name, true
}

func modernNode(n Node) Node {
	switch {
	case n.Triple != nil:
		return Node{Triple: &TriplePattern{modernNode(n.Triple.S), modernNode(n.Triple.P), modernNode(n.Triple.O)}}
	case n.Term.Kind() == term.KindIRI:
		return iriNode(modern(n.Term.Value()))
	}
	return n
}

// elementTriple replaces a triple with such an element as its predicate by a path with two alternatives.
func elementTriple(t TriplePattern) (Op, bool) {
	if t.P.Term.Kind() != term.KindIRI {
		return nil, false
	}
	element := t.P.Term.Value()
	dct, ok := asTerm(element)
	if !ok {
		return nil, false
	}
	return PathPattern{S: t.S, Path: PathAlt{PathIRI{element}, PathIRI{dct}}, O: t.O}, true
}

func modernPath(p Path) Path {
	switch p := p.(type) {
	case PathIRI:
		if dct, ok := asTerm(p.IRI); ok {
			return PathAlt{p, PathIRI{dct}}
		}
		return PathIRI{modern(p.IRI)}
	case PathInverse:
		return PathInverse{modernPath(p.Path)}
	case PathSeq:
		return PathSeq{modernPath(p.L), modernPath(p.R)}
	case PathAlt:
		return PathAlt{modernPath(p.L), modernPath(p.R)}
	case PathMany:
		return PathMany{Path: modernPath(p.Path), Min: p.Min, Once: p.Once}
	case PathNot:
		return PathNot{Forward: modernIRIs(p.Forward), Inverse: modernIRIs(p.Inverse)}
	}
	return p
}

// modernIRIs returns the members of a negated set. An element that also finds a dct: term excludes that term, too.
func modernIRIs(iris []string) []string {
	var out []string
	for _, iri := range iris {
		out = append(out, modern(iri))
		if dct, ok := asTerm(iri); ok {
			out = append(out, dct)
		}
	}
	return out
}
