package algebra

import (
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// TranslateUpdate turns an update request into its operations, in order (SPARQL 1.1 Update §4). DELETE WHERE is a
// Modify whose template is its pattern.
func TranslateUpdate(u *syntax.Update) ([]UpdateOp, error) {
	t := &translator{}
	ops := mapAll(u.Ops, t.operation)
	return ops, t.err
}

func (t *translator) operation(op syntax.Operation) UpdateOp {
	switch op := op.(type) {
	case *syntax.InsertData:
		return InsertData{t.data(op.Quads)}
	case *syntax.DeleteData:
		return DeleteData{t.data(op.Quads)}
	case *syntax.DeleteWhere:
		return Modify{Delete: t.quads(op.Quads), Where: t.quadPattern(op.Quads)}
	case *syntax.Modify:
		return Modify{
			With: op.With, Delete: t.quads(op.Delete), Insert: t.quads(op.Insert),
			Using: op.Using, UsingNamed: op.UsingNamed, Where: t.group(op.Where), Base: op.Base,
		}
	case *syntax.Load:
		return Load{Source: op.Source, Into: op.Into, Silent: op.Silent}
	case *syntax.Clear:
		return Clear{Target: target(op.Target), Silent: op.Silent, Drop: op.Drop}
	case *syntax.Create:
		return Create{IRI: op.IRI, Silent: op.Silent}
	case *syntax.Transfer:
		return Transfer{Kind: op.Kind, From: target(op.From), To: target(op.To), Silent: op.Silent}
	}
	t.fail("unexpected operation %T", op)
	return nil
}

func target(x syntax.Target) GraphTarget {
	return GraphTarget{IRI: x.IRI, Default: x.Default, Named: x.Named, All: x.All}
}

func (t *translator) data(quads []syntax.Quad) []term.Quad {
	return mapAll(quads, func(q syntax.Quad) term.Quad {
		return term.Quad{S: t.key(q.S), P: t.key(q.P), O: t.key(q.O), G: t.key(q.Graph)}
	})
}

// key returns a term of data, which must not contain variables.
func (t *translator) key(x syntax.Term) term.Key {
	if x.Var != "" {
		t.fail("a variable in data")
	}
	if x.Triple != nil {
		return term.Triple(t.key(x.Triple.S), t.key(x.Triple.P), t.key(x.Triple.O))
	}
	return x.Key
}

func (t *translator) quads(quads []syntax.Quad) []QuadPattern {
	return mapAll(quads, func(q syntax.Quad) QuadPattern {
		return QuadPattern{
			TriplePattern: TriplePattern{t.templateNode(q.S), t.templateNode(q.P), t.templateNode(q.O)},
			Graph:         t.templateNode(q.Graph),
		}
	})
}

// quadPattern returns the pattern of DELETE WHERE: the triples of each graph, joined.
func (t *translator) quadPattern(quads []syntax.Quad) Op {
	var op Op = BGP{}
	for i := 0; i < len(quads); {
		g := quads[i].Graph
		var b BGP
		for ; i < len(quads) && quads[i].Graph == g; i++ {
			q := quads[i]
			b.Patterns = append(b.Patterns, TriplePattern{t.node(q.S), t.node(q.P), t.node(q.O)})
		}
		if g == (syntax.Term{}) {
			op = join(op, b)
		} else {
			op = join(op, Graph{Name: t.node(g), In: b})
		}
	}
	return op
}

func iriNode(iri string) Node { return Node{Term: term.IRI(iri)} }
