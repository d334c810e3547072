package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
	words "odarchive/triplestore/text"
	"odarchive/vocab"
)

// jenaText is the property function of Jena's text index.
const jenaText = "http://jena.apache.org/text#query"

// TextSearch finds the triples whose object is a literal that a query finds, the best first.
type TextSearch struct {
	Props
	Query      *words.Query
	Text       string     // of the query, as written
	Subject    Pos        // of the triples
	Graph      Pos        // the active graph
	Predicates []term.Key // of the triples; nil: those that the dataset has an index for
	Limit      int        // maximum rows; negative means no limit
	EachOnce   bool       // a subject comes once, with its best literal
	AnyOrder   bool       // the best need not come first
	// Slots of what is found; -1: not wanted.
	Score, Literal, Predicate, GraphName int
}

func (n *TextSearch) children() []*Node { return nil }

// prune keeps the columns: which rows there are depends on them.
func (n *TextSearch) prune(Set) {}

func (n *TextSearch) label(p *Plan) string {
	s := fmt.Sprintf("TextSearch %s %q", p.pos(n.Subject), n.Text)
	for _, k := range n.Predicates {
		s += " " + p.key(k)
	}
	if n.Limit >= 0 {
		s += " limit " + strconv.Itoa(n.Limit)
	}
	if n.AnyOrder {
		s += " in any order"
	}
	return s
}

// matchesFunction plans ?s arc:matches "query" and ?s arc:matches ("query" ?score ?literal ...). The kind of a member
// after the query shows what it is for: variables get the score and the literal, an integer is the limit, IRIs are
// predicates, and "lang:de" is the language. A literal must have all words of the query.
func matchesFunction(b *builder, subject, object []algebra.Node, sc scope) (Node, error) {
	if len(subject) != 1 {
		return nil, wrongArguments("the subject is one node")
	}
	a := textArguments{limit: -1, each: true}
	var vars []algebra.Node
	for _, o := range object {
		if o.Var != "" {
			vars = append(vars, o)
			continue
		}
		if err := a.add(o); err != nil {
			return nil, err
		}
	}
	if len(vars) > 2 {
		return nil, wrongArguments("at most two variables: for the score and the literal")
	}
	return b.textSearch(append(subject, vars...), a, sc)
}

// queryFunction plans Jena's text:query: (?s ?score ?literal ?graph ?property) text:query (property ... "query" limit
// "lang:de"). Any word of the query suffices, as in Lucene.
func queryFunction(b *builder, subject, object []algebra.Node, sc scope) (Node, error) {
	if len(subject) < 1 || len(subject) > 5 {
		return nil, wrongArguments("the subject is a node or a list of one to five")
	}
	a := textArguments{limit: -1, options: words.Options{Any: true}}
	for _, o := range object {
		if o.Var != "" {
			return nil, wrongArguments("?%s: the object has no variables", o.Var)
		}
		if err := a.add(o); err != nil {
			return nil, err
		}
	}
	a.each = false
	return b.textSearch(subject, a, sc)
}

// textArguments are the constant arguments of a text search.
type textArguments struct {
	query      string
	given      bool
	options    words.Options
	predicates []term.Key
	limit      int
	each       bool
}

func (a *textArguments) add(n algebra.Node) error {
	k := n.Term
	switch {
	case n.Triple != nil || k.Kind() == term.KindBlank:
		return wrongArguments("a triple term or blank node")
	case k.Kind() == term.KindIRI:
		a.predicates = append(a.predicates, k)
	case k.Datatype() == vocab.XSDInteger:
		limit, err := strconv.Atoi(k.Value())
		if err != nil {
			return wrongArguments("the limit %s", k.Value())
		}
		a.limit = limit // negative: none, as in Jena
	case k.Datatype() != term.XSDString && k.Lang() == "":
		return wrongArguments("a literal of type <%s>", k.Datatype())
	case strings.HasPrefix(k.Value(), "lang:") && a.given:
		a.options.Lang = strings.TrimPrefix(k.Value(), "lang:")
	case strings.HasPrefix(k.Value(), "highlight:") && a.given: // an option of Jena, which is ignored
	case a.given:
		return wrongArguments("more than one query")
	default:
		a.query, a.given = k.Value(), true
		if k.Lang() != "" {
			a.options.Lang = k.Lang()
		}
	}
	return nil
}

// textSearch makes the node. out are the subject and the nodes for score, literal, graph and predicate.
func (b *builder) textSearch(out []algebra.Node, a textArguments, sc scope) (Node, error) {
	if !a.given {
		return nil, wrongArguments("a query in a string is needed, not a variable")
	}
	q, err := words.ParseQuery(a.query, a.options)
	if err != nil {
		return nil, wrongArguments("%v", err)
	}
	n := &TextSearch{Query: q, Text: a.query, Limit: a.limit, Predicates: a.predicates, Graph: b.graph,
		Subject: Pos{Slot: -1}, Score: -1, Literal: -1, Predicate: -1, GraphName: -1}
	empty := false
	switch s := out[0]; {
	case s.Triple != nil:
		return nil, wrongArguments("a triple term")
	case s.Var != "":
		n.Subject.Slot = b.slot(sc, s.Var)
	default:
		id, ok, err := b.lookup(s.Term)
		if err != nil {
			return nil, err
		}
		n.Subject.ID, empty = id, !ok
	}
	slots := setOf()
	for i, to := range [4]*int{&n.Score, &n.Literal, &n.GraphName, &n.Predicate} {
		if i+1 >= len(out) {
			break
		}
		v := out[i+1]
		if v.Var == "" {
			return nil, wrongArguments("what a search returns are variables")
		}
		*to = b.slot(sc, v.Var)
		if slots.Has(*to) || *to == n.Subject.Slot {
			return nil, wrongArguments("?%s twice", v.Var)
		}
		slots = slots.With(*to)
	}
	n.EachOnce = a.each && n.Literal < 0
	for _, s := range []int{n.Subject.Slot, n.Score, n.Literal, n.Predicate, n.GraphName} {
		if s >= 0 {
			n.Cols = append(n.Cols, s)
		}
	}
	n.Sure = setOf(n.Cols...)
	if n.GraphName >= 0 {
		n.Sure = n.Sure.Minus(setOf(n.GraphName)) // unbound in the default graph
	}
	if s := n.Graph.Slot; s >= 0 && s != n.GraphName {
		n.Cols, n.Sure = append(n.Cols, s), n.Sure.With(s)
	}
	if empty {
		return b.nothing(n.Cols), nil
	}
	n.estimate(b)
	return n, nil
}

// costHit is the cost of reading the quads of one literal.
const costHit = 1500.0

func (n *TextSearch) estimate(b *builder) {
	hits := 1000.0
	if s, ok := words.SearcherOf(b.stats); ok {
		hits = s.CountText(n.Query)
		n.Cost = costSeek + hits*costHit
	} else { // every literal is read
		all := b.estimate(term.Pattern{G: n.Graph.ID}).Count
		hits = min(hits, all)
		n.Cost = costSeek + all*costTerm
	}
	n.Rows = hits * 1.5
	if n.Subject.Slot < 0 {
		n.Rows = min(n.Rows, 2)
	}
	if n.Limit >= 0 {
		n.Rows = min(n.Rows, float64(n.Limit))
	}
	n.Distinct = map[int]float64{}
	if n.Subject.Slot >= 0 {
		n.Distinct[n.Subject.Slot] = n.Rows
	}
	if n.Literal >= 0 {
		n.Distinct[n.Literal] = max(1, math.Min(hits, n.Rows))
	}
}
