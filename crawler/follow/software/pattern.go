package software

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// pattern is a regular expression over addresses in lower case. Most addresses are refused by a look for the texts of
// which every match contains one.
type pattern struct {
	re       *regexp.Regexp
	required []string // one of them is in every match; nil if that is not known
}

func newPattern(text string) (*pattern, error) {
	re, err := expression(text)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if hasUpper(tree) {
		return nil, errors.New("addresses are compared in lower case: write it without capital letters")
	}
	return &pattern{re: re, required: required(tree.Simplify())}, nil
}

func (p *pattern) matches(s string) bool {
	if p.required != nil {
		found := false
		for _, text := range p.required {
			if strings.Contains(s, text) {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return p.re.MatchString(s)
}

func hasUpper(tree *syntax.Regexp) bool {
	if tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 {
		for _, r := range tree.Rune {
			if unicode.IsUpper(r) {
				return true
			}
		}
	}
	for _, sub := range tree.Sub {
		if hasUpper(sub) {
			return true
		}
	}
	return false
}

// maxRequired is the maximum number of texts of which a match contains one.
const maxRequired = 30

// required returns texts of which every match of an expression contains one, nil if there are none.
func required(tree *syntax.Regexp) []string {
	switch tree.Op {
	case syntax.OpLiteral:
		if tree.Flags&syntax.FoldCase == 0 && len(tree.Rune) > 1 {
			return []string{string(tree.Rune)}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return required(tree.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range tree.Sub {
			if texts := required(sub); texts != nil && (best == nil || shortest(texts) > shortest(best)) {
				best = texts
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range tree.Sub {
			texts := required(sub)
			if texts == nil || len(all)+len(texts) > maxRequired {
				return nil
			}
			all = append(all, texts...)
		}
		return all
	}
	return nil
}

func shortest(texts []string) int {
	n := len(texts[0])
	for _, t := range texts {
		n = min(n, len(t))
	}
	return n
}

// param is a condition on a parameter of an address.
type param struct {
	name       string // in lower case
	begin, end bool   // the name is only the end, or the beginning, of the parameter's
	value      *regexp.Regexp
}

func newParam(text string) (p param, err error) {
	name, value, hasValue := strings.Cut(text, "=")
	if hasValue {
		if p.value, err = expression(value); err != nil {
			return p, err
		}
	}
	if name != strings.ToLower(name) {
		return p, errors.New("names are compared in lower case: write it without capital letters")
	}
	name, p.begin = strings.CutPrefix(name, "*")
	p.name, p.end = strings.CutSuffix(name, "*")
	if p.name == "" {
		return p, errors.New("the name is empty")
	}
	return p, nil
}

func (p *param) wild() bool { return p.begin || p.end }

// matches reports whether a parameter of an address fulfils the condition. name and value are in lower case.
func (p *param) matches(name, value string) bool {
	switch {
	case p.begin && p.end:
		if !strings.Contains(name, p.name) {
			return false
		}
	case p.begin:
		if !strings.HasSuffix(name, p.name) {
			return false
		}
	case p.end:
		if !strings.HasPrefix(name, p.name) {
			return false
		}
	case name != p.name:
		return false
	}
	return p.value == nil || p.value.MatchString(value)
}
