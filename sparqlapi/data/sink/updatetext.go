package sink

import (
	"bytes"
	"slices"

	"strings"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// batch has the changes of one update. If a quad changes several times, only the last change counts.
type batch struct {
	index   map[string]int // text of a quad -> its index in changes
	changes []change
	bytes   int        // of the texts
	named   []term.Key // graphs that the target gets with this batch
	reached Position   // of the last commit that ends in this batch
}

// change adds or removes one quad.
type change struct {
	graph  string // "<iri>", or "" for the endpoint's default graph
	triple string // in N-Triples, with its full stop
	remove bool
}

func (b *batch) put(graph, triple string, remove bool) {
	text := graph + " " + triple
	if i, ok := b.index[text]; ok {
		b.changes[i].remove = remove
		return
	}
	if b.index == nil {
		b.index = map[string]int{}
	}
	b.index[text] = len(b.changes)
	b.changes = append(b.changes, change{graph, triple, remove})
	b.bytes += len(text)
}

func (b *batch) full(quads, bytes int) bool { return len(b.changes) >= quads || b.bytes >= bytes }

func (b *batch) empty() bool { return len(b.changes) == 0 }

func (b *batch) reset() { *b = batch{changes: b.changes[:0]} }

func (b *batch) counts() (added, removed int64) {
	for _, c := range b.changes {
		if c.remove {
			removed++
		} else {
			added++
		}
	}
	return added, removed
}

// perLine is the number of quads on a line. Virtuoso refuses texts of more than 10,000 lines.
const perLine = 10

// operations returns the update operations of the batch: removals, then additions, one operation for each graph. A
// DELETE DATA about several graphs would not delete literals with a language in Virtuoso 7.
func (b *batch) operations() (all []string) {
	for _, remove := range []bool{true, false} {
		word := "INSERT DATA"
		if remove {
			word = "DELETE DATA"
		}
		graphs := map[string]*strings.Builder{}
		var order []string
		for i, c := range b.changes {
			if c.remove != remove {
				continue
			}
			out := graphs[c.graph]
			if out == nil {
				out = &strings.Builder{}
				graphs[c.graph] = out
				order = append(order, c.graph)
			}
			out.WriteString(c.triple)
			out.WriteByte(' ')
			if i%perLine == 0 {
				out.WriteByte('\n')
			}
		}
		for _, g := range order {
			if g == "" {
				all = append(all, word+" { "+graphs[g].String()+"}")
			} else {
				all = append(all, word+" { GRAPH "+g+" { "+graphs[g].String()+"} }")
			}
		}
	}
	return all
}

// joined returns the text of one request with all operations. The last one has no semicolon, which some endpoints
// refuse.
func joined(operations []string) string { return strings.Join(operations, " ;\n") }

// marks returns the operations that record new graphs and the next standing in the state graph. The new standing is
// added before older ones are removed.
func (t *SPARQL) marks(named []term.Key, next standing) (all []string) {
	state := iriText(t.state)
	say := func(op string, p term.Key, object string) {
		all = append(all, op+" DATA { GRAPH "+state+" { "+state+" "+iriText(p)+" "+object+" } }")
	}
	for _, g := range named {
		say("INSERT", sinkGraph, iriText(g))
	}
	if !slices.Contains(t.said, next.text()) {
		say("INSERT", sinkPosition, literalText(next.text()))
	}
	for _, old := range t.said {
		if old != next.text() {
			say("DELETE", sinkPosition, literalText(old))
		}
	}
	return all
}

// clearText returns the operation that empties a graph.
func (t *SPARQL) clearText(g term.Key) string {
	if g == "" && t.o.Graph == "" {
		return "CLEAR SILENT DEFAULT"
	}
	if g == "" {
		g = term.IRI(t.o.Graph)
	}
	return "CLEAR SILENT GRAPH " + iriText(t.skolem(g))
}

// inDefault returns a group with a pattern over the graph that takes the archive's default graph.
func (t *SPARQL) inDefault(pattern string) string {
	if t.o.Graph == "" {
		return "{ " + pattern + " }"
	}
	return "{ GRAPH " + iriText(term.IRI(t.o.Graph)) + " { " + pattern + " } }"
}

// quad returns the graph and the triple of a quad for change.
func (t *SPARQL) quad(q term.Quad) (graph, triple string, err error) {
	g := t.skolem(q.G)
	if g == "" && t.o.Graph != "" {
		g = term.IRI(t.o.Graph)
	}
	if g != "" {
		graph = iriText(g)
	}
	var b bytes.Buffer
	w := rdfio.NewWriter(&b, rdfio.NTriples(), nil)
	if err := w.Write(term.Quad{S: t.skolem(q.S), P: q.P, O: t.skolem(q.O)}); err != nil {
		return "", "", err
	}
	if err := w.Close(); err != nil {
		return "", "", err
	}
	return graph, strings.TrimSuffix(b.String(), "\n"), nil
}

// skolem replaces a blank node by an IRI (RDF 1.1 Concepts §3.5), so that DELETE DATA can name it, also inside triple
// terms. It returns other terms unchanged.
func (t *SPARQL) skolem(k term.Key) term.Key {
	switch k.Kind() {
	case term.KindBlank:
		return term.IRI(t.o.Base + ".well-known/genid/" + rdfio.BlankLabel(k.Value()))
	case term.KindTriple:
		if s, p, o, ok := k.Parts(); ok {
			return term.Triple(t.skolem(s), p, t.skolem(o))
		}
	}
	return k
}

func iriText(k term.Key) string { return "<" + k.Value() + ">" }

func literalText(s string) string { return `"` + s + `"` } // s has only letters, digits and spaces
