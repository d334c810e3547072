package webapi

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"odarchive/crawler/harvest/loose"
)

// Limits of one expression.
const (
	maxExpression = 2000 // bytes
	maxNested     = 20
	maxSteps      = 1_000_000 // of one evaluation: a filter may look at the whole answer for each element
)

// expression is a compiled expression. A nil expression has no value.
//
//	or      = and { "||" and }                       the first that is not empty and not false
//	and     = test { "&&" test }                     the last, if none is empty or false
//	test    = pipe [ ( "==" | "!=" | "~" | "!~" ) pipe ]
//	pipe    = primary { "|" function }
//	primary = path | text | "(" or ")" | "!" primary
//	path    = ( "@" | "$" name | name | quoted ) { "." ( name | quoted ) | "[" number "]" | "[]" | "[?" or "]" }
//	text    = "'" { character | "{" or "}" } "'"     empty if one of its holes is
//
// Where they overlap, it reads as JMESPath does, except that a member of a list is the list of the members of its
// elements. It works on loosejson.Value, so that documents that are not quite JSON can be read, and every step is
// counted; no library of JSONPath or JMESPath offers both.
type expression struct {
	text string
	root node
}

// node is a part of an expression.
type node interface {
	eval(*scope) loose.Value
}

// scope is what an expression is evaluated on.
type scope struct {
	current loose.Value
	vars    map[string]loose.Value // by name, without "$"
	steps   int
	failed  error // the evaluation took too many steps
}

// errSteps is the error of an expression that looks at too much.
var errSteps = errors.New("takes too many steps on this answer")

func (s *scope) step() bool {
	if s.steps++; s.steps > maxSteps {
		s.failed = errSteps
	}
	return s.failed == nil
}

// on evaluates a node on another value.
func (s *scope) on(v loose.Value, n node) loose.Value {
	before := s.current
	s.current = v
	v = n.eval(s)
	s.current = before
	return v
}

// eval returns the value of the expression, null for a nil one. After too many steps, the values are null and s.failed
// is set.
func (e *expression) eval(s *scope) loose.Value {
	if e == nil || s.failed != nil {
		return loose.Value{}
	}
	s.steps = 0
	v := e.root.eval(s)
	if s.failed != nil {
		if errors.Is(s.failed, errSteps) {
			s.failed = fmt.Errorf("the expression %q %w", e.text, errSteps)
		}
		return loose.Value{}
	}
	return v
}

// textOf evaluates the expression to a text.
func (e *expression) textOf(s *scope) string { return e.eval(s).Text() }

// holds reports whether the value is neither empty nor false.
func holds(v loose.Value) bool { return !v.Empty() && v.Text() != "false" }

func boolean(b bool) loose.Value {
	if b {
		return loose.String("true")
	}
	return loose.Value{}
}

type (
	current  struct{}
	variable string // without "$"
	member   struct {
		of   node
		name string
	}
	element struct {
		of node
		at int
	}
	flat   struct{ of node }
	filter struct{ of, test node }
	or     []node
	and    []node
	not    struct{ of node }
	equal  struct {
		a, b node
		not  bool
	}
	match struct {
		of      node
		pattern *regexp.Regexp
		not     bool
	}
	call struct {
		of   node
		name string
	}
	// text is literals and holes in turn, beginning and ending with a literal.
	text struct {
		literals []string
		holes    []node
	}
)

func (current) eval(s *scope) loose.Value { return s.current }

func (v variable) eval(s *scope) loose.Value { return s.vars[string(v)] }

func (m member) eval(s *scope) loose.Value {
	v := m.of.eval(s)
	if !v.IsArray() {
		s.step()
		found := v.Get(m.name)
		if _, bare := m.of.(current); bare && found.IsNull() && m.name == "keyword" {
			return s.vars["keyword"]
		}
		return found
	}
	var list []loose.Value
	for _, e := range v.List() {
		if !s.step() {
			return loose.Value{}
		}
		if e.IsArray() { // only lists of objects have members
			continue
		}
		if one := e.Get(m.name); !one.IsNull() {
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return loose.Value{}
	}
	return loose.Array(list)
}

func (n element) eval(s *scope) loose.Value {
	list := n.of.eval(s).List()
	at := n.at
	if at < 0 {
		at += len(list)
	}
	if at < 0 || at >= len(list) || !s.step() {
		return loose.Value{}
	}
	return list[at]
}

func (n flat) eval(s *scope) loose.Value {
	var list []loose.Value
	for _, e := range n.of.eval(s).List() {
		for _, one := range e.List() {
			if !s.step() {
				return loose.Value{}
			}
			list = append(list, one)
		}
	}
	return loose.Array(list)
}

func (n filter) eval(s *scope) loose.Value {
	var list []loose.Value
	for _, e := range n.of.eval(s).List() {
		if !s.step() {
			return loose.Value{}
		}
		if holds(s.on(e, n.test)) {
			list = append(list, e)
		}
	}
	return loose.Array(list)
}

func (n or) eval(s *scope) (v loose.Value) {
	for _, one := range n {
		if v = one.eval(s); holds(v) {
			return v
		}
	}
	return loose.Value{}
}

func (n and) eval(s *scope) (v loose.Value) {
	for _, one := range n {
		if v = one.eval(s); !holds(v) {
			return loose.Value{}
		}
	}
	return v
}

func (n not) eval(s *scope) loose.Value { return boolean(!holds(n.of.eval(s))) }

// eval compares texts. A list is equal to a text if one of its elements is.
func (n equal) eval(s *scope) loose.Value {
	a, b := n.a.eval(s), n.b.eval(s).Text()
	found := a.Empty() && b == ""
	for _, one := range a.List() {
		found = found || s.step() && !one.Empty() && one.Text() == b
	}
	return boolean(found != n.not)
}

func (n match) eval(s *scope) loose.Value {
	found := false
	for _, one := range n.of.eval(s).List() {
		found = found || s.step() && n.pattern.MatchString(one.Text())
	}
	return boolean(found != n.not)
}

func (n text) eval(s *scope) loose.Value {
	var b strings.Builder
	for i, literal := range n.literals {
		b.WriteString(literal)
		if i == len(n.holes) {
			break
		}
		part := n.holes[i].eval(s).Text()
		if part == "" {
			return loose.Value{}
		}
		b.WriteString(part)
	}
	return loose.String(b.String())
}

// number parses the index of an element.
func number(t string) (int, bool) {
	n, err := strconv.Atoi(t)
	return n, err == nil && n > -1_000_000 && n < 1_000_000
}
