package conformance

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Result is the actual or expected result of a query: rows, a boolean or triples.
type Result struct {
	Vars    []string
	Rows    [][]term.Key
	Ordered bool // the order of the rows matters
	Boolean *bool
	Graph   []term.Quad
	IsGraph bool
	Plain   bool // terms are strings, as in CSV
}

// readResult reads an expected result by its IRI.
func readResult(iri string) (*Result, error) {
	name := path(iri)
	if f, ok := results.ByName(strings.TrimPrefix(filepath.Ext(name), ".")); ok {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return DecodeResult(file, f)
	}
	quads, err := readGraph(iri)
	if err != nil {
		return nil, err
	}
	if r := resultSet(NewGraph(quads)); r != nil {
		return r, nil
	}
	return &Result{Graph: quads, IsGraph: true}, nil
}

// DecodeResult reads a result in a SPARQL results format.
func DecodeResult(r io.Reader, f results.Format) (*Result, error) {
	rd, err := results.NewReader(r, f, results.Limits{})
	if err != nil {
		return nil, err
	}
	if v, ok := rd.Boolean(); ok {
		return &Result{Boolean: &v}, nil
	}
	out := &Result{Vars: rd.Vars(), Plain: f == results.CSV}
	for row, err := range rd.All() {
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

const rs = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"

// resultSet reads a result in the result set vocabulary of the first working group. It returns nil if g is none.
func resultSet(g *Graph) *Result {
	tops := g.Subjects(vocab.RDFType, term.IRI(rs+"ResultSet"))
	if len(tops) == 0 {
		return nil
	}
	top := tops[0]
	if b := g.One(top, rs+"boolean"); b != "" {
		v := b.Value() == "true"
		return &Result{Boolean: &v}
	}
	r := &Result{Vars: values(g.All(top, rs+"resultVariable"))}
	type numbered struct {
		index int
		row   []term.Key
	}
	var rows []numbered
	for _, s := range g.All(top, rs+"solution") {
		n := numbered{row: make([]term.Key, len(r.Vars))}
		if i := g.One(s, rs+"index"); i != "" {
			n.index, _ = strconv.Atoi(i.Value())
			r.Ordered = true
		}
		for _, b := range g.All(s, rs+"binding") {
			if i := slices.Index(r.Vars, g.One(b, rs+"variable").Value()); i >= 0 {
				n.row[i] = g.One(b, rs+"value")
			}
		}
		rows = append(rows, n)
	}
	slices.SortStableFunc(rows, func(a, b numbered) int { return a.index - b.index })
	for _, n := range rows {
		r.Rows = append(r.Rows, n.row)
	}
	return r
}

// Same describes how got differs from want, and returns "" if it does not. The order of rows matters only if want is
// ordered, and the names of blank nodes never matter. If lax is set, got may omit duplicates.
func Same(got, want *Result, lax bool) string {
	switch {
	case want.Boolean != nil || got.Boolean != nil:
		if want.Boolean == nil || got.Boolean == nil || *want.Boolean != *got.Boolean {
			return fmt.Sprintf("got boolean %v, want %v", deref(got.Boolean), deref(want.Boolean))
		}
		return ""
	case want.IsGraph != got.IsGraph:
		return fmt.Sprintf("got a graph: %v, want one: %v", got.IsGraph, want.IsGraph)
	case want.IsGraph:
		if !Isomorphic(got.Graph, want.Graph) {
			return "the graphs differ:\n got " + show(got.Graph) + "\nwant " + show(want.Graph)
		}
		return ""
	}
	if a, b := slices.Sorted(slices.Values(got.Vars)), slices.Sorted(slices.Values(want.Vars)); !slices.Equal(a, b) &&
		(len(want.Rows) > 0 || len(want.Vars) > 0) {
		return fmt.Sprintf("got variables %v, want %v", a, b)
	}
	g, w := rowQuads(got, want), rowQuads(want, want)
	if lax {
		g, w = distinctRows(g), distinctRows(w)
	}
	if Isomorphic(slices.Concat(g...), slices.Concat(w...)) {
		return ""
	}
	return fmt.Sprintf("the rows differ:\n got %d %v\nwant %d %v", len(got.Rows), showRows(got), len(want.Rows), showRows(want))
}

func deref(b *bool) any {
	if b == nil {
		return "none"
	}
	return *b
}

// rowQuads turns each row into a graph around a blank node, so that rows can be compared as graphs. A number tells
// duplicates apart.
func rowQuads(r, want *Result) [][]term.Quad {
	seen := map[string]int{}
	var out [][]term.Quad
	for i, row := range r.Rows {
		var quads []term.Quad
		node := term.Blank(fmt.Sprintf("row%d", i))
		text := ""
		blank := false
		for j, k := range row {
			if k == "" {
				continue
			}
			if want.Plain {
				if k.Kind() == term.KindIRI || k.Kind() == term.KindLiteral {
					k = term.String(k.Value())
				}
				if k == term.String("") {
					continue
				}
			}
			k = canonical(k, want.Plain)
			blank = blank || hasBlank(k)
			quads = append(quads, term.Quad{S: node, P: term.IRI("x:" + r.Vars[j]), O: k})
			text += r.Vars[j] + "\x00" + string(k) + "\x00"
		}
		if !blank { // numbers would depend on the names of blank nodes
			seen[text]++
			quads = append(quads, term.Quad{S: node, P: term.IRI("x-number"), O: term.String(strconv.Itoa(seen[text]))})
		} else {
			quads = append(quads, term.Quad{S: node, P: term.IRI("x-row"), O: term.String("")})
		}
		if want.Ordered {
			quads = append(quads, term.Quad{S: node, P: term.IRI("x-index"), O: term.String(strconv.Itoa(i))})
		}
		out = append(out, quads)
	}
	return out
}

func hasBlank(k term.Key) bool {
	if s, p, o, ok := k.Parts(); ok {
		return hasBlank(s) || hasBlank(p) || hasBlank(o)
	}
	return k.Kind() == term.KindBlank
}

// distinctRows removes duplicates from the rows of rowQuads.
func distinctRows(rows [][]term.Quad) [][]term.Quad {
	return slices.DeleteFunc(rows, func(r []term.Quad) bool {
		last := r[len(r)-1]
		return last.P.Value() == "x-number" && last.O.Value() != "1"
	})
}

// canonical writes a number in one form, since expected results contain "1.0" as well as "1.00". If plain is set,
// strings that look like numbers count as numbers, as in CSV.
func canonical(k term.Key, plain bool) term.Key {
	dt, _ := strings.CutPrefix(k.Datatype(), vocab.XSDNS)
	switch dt {
	case "decimal":
		s := strings.TrimPrefix(k.Value(), "+")
		if whole, frac, ok := strings.Cut(s, "."); ok && strings.Trim(whole+frac, "-0123456789") == "" {
			frac = strings.TrimRight(frac, "0")
			s = strings.TrimSuffix(whole+"."+frac, ".")
		}
		return term.Typed(s, k.Datatype())
	case "double", "float":
		if f, err := strconv.ParseFloat(k.Value(), 64); err == nil {
			return term.Typed(strconv.FormatFloat(f, 'g', 10, 64), k.Datatype())
		}
	case "string":
		if plain && strings.ContainsAny(k.Value(), "0123456789") {
			if f, err := strconv.ParseFloat(k.Value(), 64); err == nil {
				return term.String(strconv.FormatFloat(f, 'g', 10, 64))
			}
		}
	}
	return k
}

func show(quads []term.Quad) string {
	var lines []string
	for _, q := range quads {
		lines = append(lines, fmt.Sprintf("%q", []term.Key{q.S, q.P, q.O, q.G}))
	}
	slices.Sort(lines)
	if len(lines) > 30 {
		lines = append(lines[:30], fmt.Sprintf("... of %d", len(quads)))
	}
	return strings.Join(lines, "\n     ")
}

func showRows(r *Result) string {
	var lines []string
	for _, row := range r.Rows {
		var cells []string
		for i, k := range row {
			cells = append(cells, fmt.Sprintf("%s=%q", r.Vars[i], string(k)))
		}
		slices.Sort(cells)
		lines = append(lines, strings.Join(cells, " "))
	}
	if !r.Ordered {
		slices.Sort(lines)
	}
	if len(lines) > 30 {
		lines = append(lines[:30], "...")
	}
	return "\n     " + strings.Join(lines, "\n     ")
}
