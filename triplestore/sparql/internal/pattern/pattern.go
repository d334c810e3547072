// Package pattern matches texts with the regular expressions of XPath (XPath and XQuery Functions and Operators 3.1
// §5.6.1, XML Schema Part 2 appendix G), which REGEX and REPLACE use.
//
// Compile parses a pattern by that grammar and writes it anew for an engine. Go's regexp, which needs linear time, runs
// all patterns that it can express. Back-references and counted repetitions beyond its limit run in a backtracking
// engine. Each match has a limit of time.
//
// A pattern may begin with flags in parentheses, as in "(?i)wien". XPath does not know them, most other engines do.
package pattern

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// ErrTime means that one match needs more than its limit of time.
var ErrTime = errors.New("the regular expression needs too much time")

const (
	maxBytes  = 64 << 10 // of a pattern
	maxRanges = 100_000  // of the character classes of a pattern, together
	maxTime   = 2 * time.Second
	// maxSteps is about how many steps of Go's engine take a second. Longer matches look at the clock.
	maxSteps = 1 << 26
)

// Pattern is a compiled regular expression. It may be used concurrently.
type Pattern struct {
	linear *regexp.Regexp
	steps  int // of linear, for one character at most
	back   *regexp2.Regexp
	filter prefilter
	groups int
}

// Compile compiles a pattern with the flags of XPath: i, s, m, x and q. The error says what is wrong with either.
func Compile(pattern, flags string) (*Pattern, error) {
	tree, o, groups, err := parse(pattern, flags)
	if err != nil {
		return nil, err
	}
	return newPattern(tree, o, groups)
}

// parse parses a pattern and its flags, and counts its groups.
func parse(pattern, flags string) (tree node, f options, groups int, err error) {
	if len(pattern) > maxBytes {
		return nil, f, 0, fmt.Errorf("the regular expression is longer than %d bytes", maxBytes)
	}
	if !utf8.ValidString(pattern) {
		return nil, f, 0, errors.New("the regular expression is not valid UTF-8")
	}
	if err := f.set(flags); err != nil {
		return nil, f, 0, err
	}
	if f.literal {
		return literal(pattern), f, 0, nil
	}
	if end := strings.IndexByte(pattern, ')'); end > 2 && strings.HasPrefix(pattern, "(?") && strings.Trim(pattern[2:end], "imsx") == "" {
		if err := f.set(pattern[2:end]); err != nil {
			return nil, f, 0, err
		}
		pattern = pattern[end+1:]
	}
	if f.extended {
		pattern = withoutSpace(pattern)
	}
	p := &parser{src: []rune(pattern), options: f}
	tree, err = p.parse()
	return tree, f, p.groups, err
}

// options are the flags of a pattern.
type options struct{ fold, dotAll, lines, extended, literal bool }

func (o *options) set(flags string) error {
	for _, f := range flags {
		switch f {
		case 'i':
			o.fold = true
		case 's':
			o.dotAll = true
		case 'm':
			o.lines = true
		case 'x':
			o.extended = true
		case 'q':
			o.literal = true
		default:
			return fmt.Errorf("unknown flag %q of a regular expression; the flags are i, m, s, x and q", f)
		}
	}
	return nil
}

// withoutSpace removes white space outside of character classes, as flag x asks for.
func withoutSpace(pattern string) string {
	var b strings.Builder
	depth, escaped := 0, false
	for _, c := range pattern {
		if depth == 0 && strings.ContainsRune(" \t\n\r", c) {
			continue
		}
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '[':
			depth++
		case c == ']' && depth > 0:
			depth--
		}
		b.WriteRune(c)
	}
	return b.String()
}

// newPattern compiles a tree for the first engine that takes it.
func newPattern(tree node, o options, groups int) (*Pattern, error) {
	p := &Pattern{groups: groups}
	linear := writer{options: o}
	linear.write(tree)
	if linear.ranges > maxRanges {
		return nil, fmt.Errorf("the character classes of the regular expression have more than %d ranges", maxRanges)
	}
	if !linear.back {
		text := linear.text()
		re, err := regexp.Compile(text)
		var fault *syntax.Error
		switch {
		case err == nil:
			p.linear = re
			p.analyse(text)
			return p, nil
		case !errors.As(err, &fault) || fault.Code != syntax.ErrInvalidRepeatSize && fault.Code != syntax.ErrLarge:
			return nil, fmt.Errorf("the regular expression cannot be compiled: %w", err)
		}
	}
	return newBacktracking(tree, o, groups)
}

// newBacktracking compiles a tree for the engine that takes everything.
func newBacktracking(tree node, o options, groups int) (*Pattern, error) {
	w := writer{options: o, backtracking: true}
	w.write(tree)
	re, err := regexp2.Compile(w.text(), regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("the regular expression cannot be compiled: %w", err)
	}
	re.MatchTimeout = maxTime
	return &Pattern{back: re, groups: groups}, nil
}

// analyse sets the cost and the prefilter of a pattern of Go's engine.
func (p *Pattern) analyse(text string) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return
	}
	tree = tree.Simplify()
	if prog, err := syntax.Compile(tree); err == nil {
		p.steps = len(prog.Inst)
	}
	p.filter = newPrefilter(tree)
}

// Match reports whether the pattern matches a part of s. The error is ErrTime.
func (p *Pattern) Match(s string) (bool, error) {
	if found, sure := p.filter.test(s); sure {
		return found, nil
	}
	return p.match(s)
}

func (p *Pattern) match(s string) (bool, error) {
	if p.back != nil {
		found, err := p.back.MatchString(s)
		if err != nil {
			return false, ErrTime
		}
		return found, nil
	}
	if p.steps*len(s) <= maxSteps {
		return p.linear.MatchString(s), nil
	}
	r := &timed{text: s, until: time.Now().Add(maxTime)}
	found := p.linear.MatchReader(r)
	if r.late {
		return false, ErrTime
	}
	return found, nil
}

// timed reads a text until a moment.
type timed struct {
	text  string
	n     int
	until time.Time
	late  bool
}

func (t *timed) ReadRune() (rune, int, error) {
	if t.n++; t.n&63 == 0 && time.Now().After(t.until) {
		t.late = true
	}
	if t.late || t.text == "" {
		return 0, 0, io.EOF
	}
	r, n := utf8.DecodeRuneInString(t.text)
	t.text = t.text[n:]
	return r, n, nil
}
