package about

import (
	"context"
	"slices"
	"strings"

	"odarchive/triplestore/term"
)

// reader reads statements of one state of the triples. After an error, err is set and everything else is empty.
type reader struct {
	ctx        context.Context
	ds         term.Dataset
	predicates map[string]term.ID // 0 if the store has no such predicate
	withdrawn  map[term.ID]bool   // by graph
	terms      map[term.ID]term.Key
	err        error
}

// value is an object of a statement.
type value struct {
	id  term.ID
	key term.Key
}

// values returns the objects of a subject's statements with one predicate, each once, in the order of their text. Those
// of graphs with withdrawn datasets are returned only if there are no others.
func (r *reader) values(subject term.ID, predicate string) []value {
	p, ok := r.predicate(predicate)
	if !ok || r.err != nil {
		return nil
	}
	var live, gone []value
	cursor := r.ds.Scan(term.Pattern{S: subject, P: p}, term.SPO)
	defer cursor.Close()
	for len(live)+len(gone) < maxValues+maxFiles {
		batch, err := cursor.Next()
		if r.fail(err) || r.fail(r.ctx.Err()) || len(batch) == 0 {
			break
		}
		for _, q := range batch {
			list := &live
			if r.isWithdrawn(q.G) {
				list = &gone
			}
			if v := (value{q.O, r.term(q.O)}); !slices.Contains(*list, v) {
				*list = append(*list, v)
			}
		}
	}
	if len(live) == 0 {
		live = gone
	}
	slices.SortFunc(live, func(a, b value) int { return strings.Compare(string(a.key), string(b.key)) })
	return live[:min(len(live), max(maxValues, maxFiles))]
}

func (r *reader) fail(err error) bool {
	if err != nil && r.err == nil {
		r.err = err
	}
	return r.err != nil
}

func (r *reader) predicate(iri string) (term.ID, bool) {
	if id, ok := r.predicates[iri]; ok {
		return id, id != 0
	}
	id, ok, err := r.ds.Lookup(term.IRI(iri))
	if r.fail(err) || !ok {
		id = 0
	}
	r.predicates[iri] = id
	return id, id != 0
}

func (r *reader) isWithdrawn(graph term.ID) bool {
	if graph == term.DefaultGraph {
		return false
	}
	gone, ok := r.withdrawn[graph]
	if !ok {
		gone = strings.HasSuffix(r.term(graph).Value(), Withdrawn)
		r.withdrawn[graph] = gone
	}
	return gone
}

func (r *reader) term(id term.ID) term.Key {
	if k, ok := r.terms[id]; ok {
		return k
	}
	keys := make([]term.Key, 1)
	if r.fail(r.ds.Keys([]term.ID{id}, keys)) {
		return ""
	}
	r.terms[id] = keys[0]
	return keys[0]
}

// texts returns the literals of a property.
func (r *reader) texts(id term.ID, predicate string) (all []Text) {
	for _, v := range r.values(id, predicate) {
		if t := cut(strings.TrimSpace(v.key.Value()), maxText); v.key.Kind() == term.KindLiteral && t != "" && len(all) < maxValues {
			all = append(all, Text{t, v.key.Lang()})
		}
	}
	return all
}

// text returns the first value of the first of some properties that has one.
func (r *reader) text(id term.ID, predicates ...string) string {
	for _, p := range predicates {
		for _, v := range r.values(id, p) {
			if k := v.key.Kind(); k == term.KindLiteral || k == term.KindIRI {
				return cut(strings.TrimSpace(v.key.Value()), maxText)
			}
		}
	}
	return ""
}

// label returns a text as one short line.
func label(s string) string { return cut(strings.Join(strings.Fields(s), " "), maxLabel) }

// cut returns at most n bytes of a text, whole characters only.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-3], "") + "…"
}
