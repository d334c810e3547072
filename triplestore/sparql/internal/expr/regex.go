package expr

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"odarchive/triplestore/sparql/internal/algebra"
)

// maxPattern bounds a regular expression in bytes. Go's engine matches in linear time, without backtracking, so the
// back-references of XPath are not supported.
const maxPattern = 4096

// matcher is a compiled regular expression, with a cheap test that most texts without a match fail.
type matcher struct {
	re   *regexp.Regexp
	need []string // every match contains one of these; nil if there is no such test
	fold bool     // need is in lower case and ignores case
	pure bool     // every text that contains one of need matches
}

// compileRegex compiles an XPath regular expression with its flags (F&O §5.6.1).
func compileRegex(pattern, flags string) (*matcher, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("expr: regular expression of more than %d bytes", maxPattern)
	}
	var mode string
	literal, extended := false, false
	for _, f := range flags {
		switch f {
		case 'i', 's', 'm':
			if !strings.ContainsRune(mode, f) {
				mode += string(f)
			}
		case 'x':
			extended = true
		case 'q':
			literal = true
		default:
			return nil, fmt.Errorf("expr: unknown flag %q of a regular expression", f)
		}
	}
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	} else {
		var err error
		if pattern, err = translate(pattern, extended); err != nil {
			return nil, err
		}
	}
	if mode != "" {
		pattern = "(?" + mode + ")" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	m := &matcher{re: re}
	if tree, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		m.prefilter(tree.Simplify())
	}
	return m, nil
}

// translate rewrites the syntax that differs between XPath and Go: \i and \c for name characters, and white space under
// flag x. Class subtraction and back-references are errors.
func translate(p string, extended bool) (string, error) {
	var b strings.Builder
	inClass := 0
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case c == '\\' && i+1 < len(p):
			i++
			switch e := p[i]; e {
			case 'i', 'c':
				set := `\pL_:`
				if e == 'c' {
					set += `\pN.\-·`
				}
				if inClass == 0 {
					set = "[" + set + "]"
				}
				b.WriteString(set)
			case '1', '2', '3', '4', '5', '6', '7', '8', '9':
				return "", errors.New("expr: back-references in regular expressions are not supported")
			case 'p', 'P', 'd', 'D', 's', 'S', 'w', 'W', 'n', 'r', 't', '\\', '|', '.', '-', '^', '?', '*', '+', '{', '}', '(', ')', '[', ']', '$', '/':
				b.WriteByte('\\')
				b.WriteByte(e)
			default:
				return "", fmt.Errorf("expr: unknown escape sequence \\%c in a regular expression", e)
			}
		case c == '[':
			if inClass > 0 {
				if p[i-1] == '-' {
					return "", errors.New("expr: class subtraction in regular expressions is not supported")
				}
				b.WriteByte('\\')
			} else {
				inClass = 1
			}
			b.WriteByte(c)
		case c == ']' && inClass > 0:
			inClass = 0
			b.WriteByte(c)
		case extended && inClass == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// prefilter sets the cheap test, if there is one.
func (m *matcher) prefilter(tree *syntax.Regexp) {
	need, fold, exact := required(tree)
	for _, s := range need {
		if len(s) < 2 || fold && !isASCII(s) {
			return
		}
	}
	if fold {
		for i, s := range need {
			need[i] = strings.ToLower(s)
		}
	}
	m.need, m.fold, m.pure = need, fold, exact
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

func (m *matcher) match(s string) bool {
	if m.need != nil {
		text := s
		if m.fold {
			if !isASCII(s) { // characters outside ASCII may fold into ASCII, like the Kelvin sign
				return m.re.MatchString(s)
			}
			text = strings.ToLower(s)
		}
		found := slices.ContainsFunc(m.need, func(n string) bool { return strings.Contains(text, n) })
		if !found || m.pure {
			return found
		}
	}
	return m.re.MatchString(s)
}

// regexCache keeps compiled patterns, for programs whose pattern may change between rows.
type regexCache struct {
	m map[[2]string]*matcher
}

const maxRegexes = 64

// get returns the matcher of a pattern, or nil if the pattern or its flags are invalid.
func (c *regexCache) get(pattern, flags Value) *matcher {
	if pattern.kind != Str || flags.kind != Str {
		return nil
	}
	key := [2]string{pattern.s, flags.s}
	if m, ok := c.m[key]; ok {
		return m
	}
	m, err := compileRegex(pattern.s, flags.s)
	if err != nil {
		m = nil
	}
	if len(c.m) >= maxRegexes || c.m == nil {
		c.m = map[[2]string]*matcher{}
	}
	c.m[key] = m
	return m
}

// constantRegex compiles the pattern of REGEX if it and its flags are constants.
func constantRegex(args []algebra.Expr) (m *matcher, isConst bool) {
	pattern, ok := args[1].(algebra.ConstExpr)
	flags := algebra.ConstExpr{Term: "\""}
	if ok && len(args) == 3 {
		flags, ok = args[2].(algebra.ConstExpr)
	}
	if !ok {
		return nil, false
	}
	var c regexCache
	return c.get(FromKey(pattern.Term), FromKey(flags.Term)), true
}

// regex compiles REGEX.
func regex(_ *Context, e algebra.Call, a []Func) Func {
	if m, ok := constantRegex(e.Args); ok {
		return func(env *Env) Value {
			text := a[0](env)
			if m == nil || !text.isString() {
				return errValue
			}
			return NewBool(m.match(text.s))
		}
	}
	cache := &regexCache{}
	return func(env *Env) Value {
		text, flags := a[0](env), newString("")
		if len(a) == 3 {
			flags = a[2](env)
		}
		m := cache.get(a[1](env), flags)
		if m == nil || !text.isString() {
			return errValue
		}
		return NewBool(m.match(text.s))
	}
}

// replace compiles REPLACE (fn:replace), with $1 and \$ in replacements. A pattern that matches the empty string is an
// error.
func replace(_ *Context, _ algebra.Call, a []Func) Func {
	cache := &regexCache{}
	return func(env *Env) Value {
		text, with, flags := a[0](env), a[2](env), newString("")
		if len(a) == 4 {
			flags = a[3](env)
		}
		m := cache.get(a[1](env), flags)
		if m == nil || !text.isString() || with.kind != Str || m.re.MatchString("") {
			return errValue
		}
		template, ok := replacement(with.s, strings.Contains(flags.s, "q"), m.re.NumSubexp())
		if !ok {
			return errValue
		}
		found := m.re.FindAllStringSubmatchIndex(text.s, maxReplaced+1)
		if len(found) > maxReplaced {
			return errValue
		}
		var out []byte
		last := 0
		for _, loc := range found {
			out = append(out, text.s[last:loc[0]]...)
			out = m.re.ExpandString(out, template, text.s, loc)
			if last = loc[1]; len(out) > maxString {
				return errValue
			}
		}
		return text.with(string(append(out, text.s[last:]...)))
	}
}

// maxReplaced bounds the replacements in a string. More are an error of the expression.
const maxReplaced = 50_000

// replacement translates $N and \$ of XPath into the template syntax of Go. It returns false if s is malformed.
func replacement(s string, literal bool, groups int) (string, bool) {
	if literal {
		return strings.ReplaceAll(s, "$", "$$"), true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i >= len(s) || s[i] != '\\' && s[i] != '$' {
				return "", false
			}
			if s[i] == '$' {
				b.WriteString("$$")
			} else {
				b.WriteByte('\\')
			}
		case '$':
			if i+1 >= len(s) || s[i+1] < '0' || s[i+1] > '9' {
				return "", false
			}
			i++
			n := int(s[i] - '0')
			for i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' && n*10+int(s[i+1]-'0') <= groups {
				i++
				n = n*10 + int(s[i]-'0')
			}
			if n <= groups {
				fmt.Fprintf(&b, "${%d}", n)
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}
