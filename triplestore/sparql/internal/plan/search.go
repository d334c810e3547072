package plan

import (
	"errors"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// maxFound bounds the solutions of one arc:search. A search that finds more is an error unless it has a limit, since an
// answer that silently lacks some would be wrong.
const maxFound = 50_000

// findKey is what a search depends on. The planner may ask for one several times.
type findKey struct {
	text  string
	limit int
}

// searchFunction plans ?s arc:search "text" and ?s arc:search ("text" ?score limit): the things that Options.Find
// finds, the best first. The search runs while the query is planned, so the plan has its solutions as inline data.
func searchFunction(b *builder, subject, object []algebra.Node, sc scope) (Node, error) {
	if b.opts.Find == nil {
		return nil, wrongArguments("there is nothing to search here")
	}
	if len(subject) != 1 || subject[0].Triple != nil {
		return nil, wrongArguments("the subject is one node")
	}
	if b.graph.Slot >= 0 {
		return nil, wrongArguments("what is found is in no graph: ask outside of GRAPH ?%s", b.plan.Vars[b.graph.Slot])
	}
	a := textArguments{limit: -1}
	score := algebra.Var("")
	for _, o := range object {
		switch {
		case o.Var != "" && score != "":
			return nil, wrongArguments("at most one variable: for the score")
		case o.Var != "":
			score = o.Var
		default:
			if err := a.add(o); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case !a.given:
		return nil, wrongArguments("the text of a search in a string is needed, not a variable")
	case len(a.predicates) > 0 || a.options.Lang != "":
		return nil, wrongArguments("expected a text, a variable for the score, and a limit")
	case score != "" && score == subject[0].Var:
		return nil, wrongArguments("?%s twice", score)
	}
	found, err := b.find(a)
	if err != nil {
		return nil, err
	}
	return b.foundValues(subject[0], score, found, sc)
}

// find runs a search, once for each text and limit.
func (b *builder) find(a textArguments) ([]Found, error) {
	key := findKey{a.query, a.limit}
	if found, ok := b.found[key]; ok {
		return found, nil
	}
	limit := a.limit
	if limit < 0 || limit > maxFound {
		limit = maxFound
	}
	var found []Found
	total := 0
	var err error
	if limit > 0 {
		found, total, err = b.opts.Find(a.query, limit)
	}
	if err := errors.Join(err, b.check()); err != nil {
		return nil, err
	}
	if total > len(found) && limit != a.limit {
		return nil, wrongArguments("the search finds %d, more than %d: narrow it, or give a limit behind its text", total, maxFound)
	}
	if b.found == nil {
		b.found = map[findKey][]Found{}
	}
	b.found[key] = found
	return found, nil
}

// foundValues makes inline data of what was found.
func (b *builder) foundValues(subject algebra.Node, score algebra.Var, found []Found, sc scope) (Node, error) {
	v := algebra.Values{}
	if subject.Var != "" {
		v.Vars = append(v.Vars, subject.Var)
	}
	if score != "" {
		v.Vars = append(v.Vars, score)
	}
	for _, f := range found {
		var row []term.Key
		if subject.Var != "" {
			row = append(row, term.IRI(f.IRI))
		} else if subject.Term != term.IRI(f.IRI) {
			continue
		}
		if score != "" {
			row = append(row, term.Typed(xsdval.PlainDouble(f.Score), xsdval.Double.IRI()))
		}
		v.Rows = append(v.Rows, row)
	}
	if len(v.Rows) == 0 {
		cols := []int{}
		for _, name := range v.Vars {
			cols = append(cols, b.slot(sc, name))
		}
		return b.nothing(cols), nil
	}
	return b.values(v, sc)
}
