// Package shacl validates triples against shapes, for tests. It implements the part of SHACL Core (W3C 2017) that the
// archive's own shapes and those of DCAT-AP 3 use. It reports an unknown constraint instead of ignoring it.
package shacl

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
)

const (
	sh      = "http://www.w3.org/ns/shacl#"
	rdf     = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	rdfs    = "http://www.w3.org/2000/01/rdf-schema#"
	rdfType = rdf + "type"
)

// Result is a violated constraint.
type Result struct {
	Focus, Path, Value term.Key
	Severity           string // "Violation", "Warning", "Info"
	What               string
}

func (r Result) String() string {
	return fmt.Sprintf("%s: %s of %s: %s (value %q)", r.Severity, r.Path.Value(), r.Focus.Value(), r.What, r.Value.Value())
}

// graph indexes statements by subject and by object.
type graph struct {
	out, in map[term.Key]map[string][]term.Key
}

func newGraph(quads []term.Quad) graph {
	g := graph{map[term.Key]map[string][]term.Key{}, map[term.Key]map[string][]term.Key{}}
	add := func(m map[term.Key]map[string][]term.Key, from term.Key, p string, to term.Key) {
		if m[from] == nil {
			m[from] = map[string][]term.Key{}
		}
		if !slices.Contains(m[from][p], to) {
			m[from][p] = append(m[from][p], to)
		}
	}
	for _, q := range quads {
		add(g.out, q.S, q.P.Value(), q.O)
		add(g.in, q.O, q.P.Value(), q.S)
	}
	return g
}

func (g graph) one(s term.Key, p string) (term.Key, bool) {
	if list := g.out[s][p]; len(list) > 0 {
		return list[0], true
	}
	return "", false
}

func (g graph) list(head term.Key) (items []term.Key) {
	for range 1000 {
		first, ok := g.one(head, rdf+"first")
		if !ok {
			return items
		}
		items = append(items, first)
		head, _ = g.one(head, rdf+"rest")
	}
	return items
}

type validator struct {
	shapes, data graph
	results      []Result
	faults       []string
	deep         int
}

// Validate checks data against every shape with a target. faults are the constraints that it does not implement.
func Validate(shapes, data []term.Quad) (results []Result, faults []string) {
	v := &validator{shapes: newGraph(shapes), data: newGraph(data)}
	for shape := range v.shapes.out {
		for _, focus := range v.targets(shape) {
			v.node(shape, focus, "Violation")
		}
	}
	slices.SortFunc(v.results, func(a, b Result) int { return strings.Compare(a.String(), b.String()) })
	slices.Sort(v.faults)
	return slices.Compact(v.results), slices.Compact(v.faults)
}

func (v *validator) targets(shape term.Key) (focus []term.Key) {
	for _, class := range v.shapes.out[shape][sh+"targetClass"] {
		for node := range v.data.out {
			if v.isA(node, class) {
				focus = append(focus, node)
			}
		}
	}
	for _, p := range v.shapes.out[shape][sh+"targetSubjectsOf"] {
		for node, statements := range v.data.out {
			if len(statements[p.Value()]) > 0 {
				focus = append(focus, node)
			}
		}
	}
	for _, p := range v.shapes.out[shape][sh+"targetObjectsOf"] {
		for node, statements := range v.data.in {
			if len(statements[p.Value()]) > 0 {
				focus = append(focus, node)
			}
		}
	}
	return append(focus, v.shapes.out[shape][sh+"targetNode"]...)
}

// isA reports whether node is an instance of class, following rdfs:subClassOf within the data.
func (v *validator) isA(node, class term.Key) bool {
	seen := map[term.Key]bool{}
	todo := slices.Clone(v.data.out[node][rdfType])
	for len(todo) > 0 {
		c := todo[0]
		todo = todo[1:]
		if c == class {
			return true
		}
		if !seen[c] {
			seen[c] = true
			todo = append(todo, v.data.out[c][rdfs+"subClassOf"]...)
		}
	}
	return false
}

// node checks a focus node against a node shape or a property shape.
func (v *validator) node(shape, focus term.Key, severity string) {
	if v.deep > 50 {
		return // a shape that refers to itself
	}
	v.deep++
	defer func() { v.deep-- }()
	if s, ok := v.shapes.one(shape, sh+"severity"); ok {
		severity = strings.TrimPrefix(s.Value(), sh)
	}
	values, path := []term.Key{focus}, term.Key("")
	if p, ok := v.shapes.one(shape, sh+"path"); ok {
		values, path = v.values(focus, p)
	}
	report := func(value term.Key, format string, args ...any) {
		v.results = append(v.results, Result{focus, path, value, severity, fmt.Sprintf(format, args...)})
	}
	for name, arguments := range v.shapes.out[shape] {
		local, ok := strings.CutPrefix(name, sh)
		if !ok {
			continue
		}
		for _, arg := range arguments {
			v.constraint(local, arg, focus, values, severity, report)
		}
	}
}

// values returns the values at the end of a path: an IRI, an inverse path, or a sequence.
func (v *validator) values(focus, path term.Key) ([]term.Key, term.Key) {
	if path.Kind() == term.KindIRI {
		return v.data.out[focus][path.Value()], path
	}
	if inverse, ok := v.shapes.one(path, sh+"inversePath"); ok {
		return v.data.in[focus][inverse.Value()], term.IRI("^" + inverse.Value())
	}
	if steps := v.shapes.list(path); len(steps) > 0 {
		values := []term.Key{focus}
		for _, step := range steps {
			var next []term.Key
			for _, value := range values {
				found, _ := v.values(value, step)
				next = append(next, found...)
			}
			values = next
		}
		return values, path
	}
	v.faults = append(v.faults, "a path that is neither an IRI, an inverse nor a sequence")
	return nil, path
}

func (v *validator) constraint(name string, arg, focus term.Key, values []term.Key, severity string,
	report func(term.Key, string, ...any)) {
	number := func() int { n, _ := strconv.Atoi(arg.Value()); return n }
	each := func(bad func(term.Key) bool, format string, args ...any) {
		for _, value := range values {
			if bad(value) {
				report(value, format, args...)
			}
		}
	}
	switch name {
	case "path", "severity", "message", "name", "description", "targetClass", "targetSubjectsOf", "targetObjectsOf", "targetNode", "order",
		"group", "flags", "deactivated", "qualifiedMinCount", "shape":
	case "property":
		for _, value := range values {
			v.node(arg, value, severity)
		}
	case "node":
		each(func(value term.Key) bool { return !v.conforms(arg, value) }, "does not have the shape %s", arg.Value())
	case "minCount":
		if len(values) < number() {
			report("", "%d values, at least %d are wanted", len(values), number())
		}
	case "maxCount":
		if len(values) > number() {
			report("", "%d values, at most %d are wanted", len(values), number())
		}
	case "class":
		each(func(value term.Key) bool { return !v.isA(value, arg) }, "is not of class %s", arg.Value())
	case "datatype":
		each(func(value term.Key) bool { return value.Datatype() != arg.Value() }, "is not of datatype %s", arg.Value())
	case "nodeKind":
		each(func(value term.Key) bool { return !isKind(value, strings.TrimPrefix(arg.Value(), sh)) }, "is no %s", arg.Value())
	case "pattern":
		expression, err := regexp.Compile(arg.Value())
		if err != nil {
			v.faults = append(v.faults, "pattern "+arg.Value())
			return
		}
		each(func(value term.Key) bool { return !expression.MatchString(value.Value()) }, "does not match %s", arg.Value())
	case "minLength":
		each(func(value term.Key) bool { return len([]rune(value.Value())) < number() }, "is shorter than %d", number())
	case "minInclusive":
		each(func(value term.Key) bool {
			f, err := strconv.ParseFloat(value.Value(), 64)
			return err != nil || f < float64(number())
		}, "is less than %d", number())
	case "hasValue":
		if !slices.Contains(values, arg) {
			report("", "lacks the value %s", arg.Value())
		}
	case "in":
		allowed := v.shapes.list(arg)
		each(func(value term.Key) bool { return !slices.Contains(allowed, value) }, "is not one of the values allowed")
	case "or":
		choices := v.shapes.list(arg)
		each(func(value term.Key) bool {
			return !slices.ContainsFunc(choices, func(c term.Key) bool { return v.conforms(c, value) })
		}, "has none of the shapes it may have")
	case "not":
		each(func(value term.Key) bool { return v.conforms(arg, value) }, "has a shape it must not have")
	default:
		v.faults = append(v.faults, "constraint sh:"+name)
	}
}

// conforms reports whether a value conforms, without adding results.
func (v *validator) conforms(shape, value term.Key) bool {
	sub := &validator{shapes: v.shapes, data: v.data, deep: v.deep}
	sub.node(shape, value, "Violation")
	v.faults = append(v.faults, sub.faults...)
	return !slices.ContainsFunc(sub.results, func(r Result) bool { return r.Severity == "Violation" })
}

func isKind(k term.Key, kind string) bool {
	switch kind {
	case "IRI":
		return k.Kind() == term.KindIRI
	case "BlankNode":
		return k.Kind() == term.KindBlank
	case "Literal":
		return k.Kind() == term.KindLiteral
	case "BlankNodeOrIRI":
		return k.Kind() == term.KindIRI || k.Kind() == term.KindBlank
	case "IRIOrLiteral":
		return k.Kind() == term.KindIRI || k.Kind() == term.KindLiteral
	case "BlankNodeOrLiteral":
		return k.Kind() == term.KindBlank || k.Kind() == term.KindLiteral
	}
	return false
}
