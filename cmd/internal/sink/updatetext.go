package sink

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// batch is the changes of one update. Of several changes of a quad, the last counts.
type batch struct {
	index   map[string]int // text of a quad -> its place in changes
	changes []change
	bytes   int
	named   []term.Key // graphs that are written for the first time
	reached Position   // of the last commit that is in the batch as a whole
}

type change struct {
	text   string
	remove bool
}

func (b *batch) put(text string, remove bool) {
	if i, ok := b.index[text]; ok {
		b.changes[i].remove = remove
		return
	}
	if b.index == nil {
		b.index = map[string]int{}
	}
	b.index[text] = len(b.changes)
	b.changes = append(b.changes, change{text, remove})
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

// perLine is how many quads are on a line. Virtuoso refuses texts of more than 10,000 lines.
const perLine = 10

// operations returns the removals as one operation, and the additions.
func (b *batch) operations() (all []string) {
	for _, remove := range []bool{true, false} {
		var out strings.Builder
		n := 0
		for _, c := range b.changes {
			if c.remove != remove {
				continue
			}
			out.WriteString(c.text)
			if n++; n%perLine == 0 {
				out.WriteByte('\n')
			}
		}
		switch {
		case n > 0 && remove:
			all = append(all, "DELETE DATA {\n"+out.String()+"}")
		case n > 0:
			all = append(all, "INSERT DATA {\n"+out.String()+"}")
		}
	}
	return all
}

// joined returns operations as one request. There is no semicolon behind the last: some endpoints refuse that.
func joined(operations []string) string { return strings.Join(operations, " ;\n") }

// marks returns operations that move the target to its next standing. The new position is there before older ones go.
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

// inDefault returns a group with a pattern in the graph that takes the default graph.
func (t *SPARQL) inDefault(pattern string) string {
	if t.o.Graph == "" {
		return "{ " + pattern + " }"
	}
	return "{ GRAPH " + iriText(term.IRI(t.o.Graph)) + " { " + pattern + " } }"
}

// quad returns a quad as it is in INSERT DATA and DELETE DATA.
func (t *SPARQL) quad(q term.Quad) (string, error) {
	g := t.skolem(q.G)
	if g == "" && t.o.Graph != "" {
		g = term.IRI(t.o.Graph)
	}
	var b bytes.Buffer
	w := rdfio.NewWriter(&b, rdfio.NTriples(), nil)
	if err := w.Write(term.Quad{S: t.skolem(q.S), P: q.P, O: t.skolem(q.O)}); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if g == "" {
		return text + " ", nil
	}
	return "GRAPH " + iriText(g) + " { " + text + " } ", nil
}

// skolem returns an IRI for a blank node (RDF 1.1 Concepts §3.5), so that it can be removed again, and other terms as
// they are.
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

func literalText(s string) string { return `"` + s + `"` } // of letters, digits and spaces

// keys returns the keys of a set, sorted.
func keys(set map[term.Key]bool) []term.Key {
	out := make([]term.Key, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}
