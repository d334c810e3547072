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
// Historical reads such a query as it was meant:
//
//   - http://purl.org/dc/elements/1.1 without the slash, followed by the name of a term, is that dct: term. No such IRI
//     was ever minted by anyone else.
//   - With the slash, the names that are not among the fifteen elements (hasVersion, issued, isVersionOf, ...) are the
//     dct: terms too: they do not exist as elements.
//   - With the slash, the elements are real and stay. But what the archive writes as dct:title, dct:identifier and
//     dct:format is found by dc:title, dc:identifier and dc:format as well, beside what a portal says with the element:
//     DCMI declares each of the fifteen dct: properties a subproperty of the element.
//   - STRDT(?x, xsd:dateTimeStamp) takes a literal that has a datatype already, by its lexical form: the paper writes
//     it over dates that the archive keeps as xsd:dateTime, which Virtuoso let pass. Every other STRDT is as strict as
//     SPARQL has it.
//
// Only queries are read this way, never the data of an update, nor what SERVICE sends elsewhere.

const (
	dcElements = "http://purl.org/dc/elements/1.1"
	dcTerms    = "http://purl.org/dc/terms/"

	dateTimeStamp = "http://www.w3.org/2001/XMLSchema#dateTimeStamp"
)

// elements are the fifteen of the Dublin Core Metadata Element Set; true for those the archive writes as dct:.
var elements = map[string]bool{
	"contributor": false, "coverage": false, "creator": false, "date": false, "description": false, "format": true,
	"identifier": true, "language": false, "publisher": false, "relation": false, "rights": false, "source": false,
	"subject": false, "title": true, "type": false,
}

// termsOnly are the properties of the Dublin Core terms that are no elements.
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

// Historical gives the query with the historical Dublin Core IRIs read as their dct: equivalents. The query that is
// passed in does not change.
func Historical(q *Query) *Query {
	r := rewriter{node: modernNode, path: modernPath, triple: elementTriple, call: lenientStrdt}
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

// modern gives the dct: IRI that a historical one stands for, or the IRI itself.
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

// asTerm is the dct: property that is found beside the element of the same name; false for every other IRI.
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

// elementTriple makes a triple whose predicate is such an element a path with two ways.
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

// modernIRIs are the members of a negated set: what is found as the term must be refused as the term too.
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
