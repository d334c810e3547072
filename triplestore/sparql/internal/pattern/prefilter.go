package pattern

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// prefilter is a cheap test that most texts without a match fail. The zero value tests nothing.
type prefilter struct {
	need []string // every match contains one of these; nil if there is no such test
	fold bool     // need is in lower case and ignores case
	pure bool     // every text that contains one of need matches
}

func newPrefilter(tree *syntax.Regexp) prefilter {
	need, fold, exact := required(tree)
	for _, s := range need {
		if len(s) < 2 || fold && !isASCII(s) {
			return prefilter{}
		}
	}
	if fold {
		for i, s := range need {
			need[i] = strings.ToLower(s)
		}
	}
	return prefilter{need, fold, exact}
}

// test returns whether s matches; sure is false if the test does not tell.
func (p *prefilter) test(s string) (found, sure bool) {
	if p.need == nil {
		return false, false
	}
	if p.fold {
		if !isASCII(s) { // characters outside ASCII may fold into ASCII, like the Kelvin sign
			return false, false
		}
		s = strings.ToLower(s)
	}
	found = slices.ContainsFunc(p.need, func(n string) bool { return strings.Contains(s, n) })
	return found, !found || p.pure
}

// required returns literals such that every match of re contains one of them, or nil. fold is true if they ignore case,
// exact if every text that contains one of them matches.
func required(re *syntax.Regexp) (lits []string, fold, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, re.Flags&syntax.FoldCase != 0, true
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		lits, fold, _ = required(re.Sub[0])
		return lits, fold, false
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			l, f, _ := required(sub)
			if l != nil && (lits == nil || shortest(l) > shortest(lits)) {
				lits, fold = l, f
			}
		}
		return lits, fold, false
	case syntax.OpAlternate:
		exact = true
		for i, sub := range re.Sub {
			l, f, e := required(sub)
			if l == nil || i > 0 && f != fold {
				return nil, false, false
			}
			lits, fold, exact = append(lits, l...), f, exact && e
		}
		return lits, fold, exact
	}
	return nil, false, false
}

// shortest returns the length of the shortest string in list.
func shortest(list []string) int {
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
