package pattern

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors of Replace besides ErrTime.
var (
	ErrMatchesEmpty = errors.New("the regular expression matches the empty string")
	ErrReplacement  = errors.New("the replacement is malformed")
	ErrTooLong      = errors.New("the result of the replacement is too long")
)

// maxReplaced bounds the replacements in a text.
const maxReplaced = 50_000

// Replace replaces all matches in s (fn:replace). The replacement may have $N for a group, \$ and \\; if literal is
// set, it is taken as it stands. The result has at most maxBytes bytes.
func (p *Pattern) Replace(s, with string, literal bool, maxBytes int) (string, error) {
	if empty, err := p.match(""); err != nil {
		return "", err
	} else if empty {
		return "", ErrMatchesEmpty
	}
	parts, ok := replacement(with, literal, p.groups)
	if !ok {
		return "", ErrReplacement
	}
	each := p.eachLinear
	if p.back != nil {
		each = p.eachBack
	}
	var out strings.Builder
	last, n := 0, 0
	err := each(s, func(loc []int) error {
		if n++; n > maxReplaced {
			return ErrTooLong
		}
		out.WriteString(s[last:loc[0]])
		for _, x := range parts {
			out.WriteString(x.text)
			if g := x.group; g >= 0 && 2*g+1 < len(loc) && loc[2*g] >= 0 {
				out.WriteString(s[loc[2*g]:loc[2*g+1]])
			}
		}
		last = loc[1]
		if out.Len() > maxBytes {
			return ErrTooLong
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if out.Len()+len(s)-last > maxBytes {
		return "", ErrTooLong
	}
	out.WriteString(s[last:])
	return out.String(), nil
}

// eachLinear calls f with the places of each match and of its groups, in bytes.
func (p *Pattern) eachLinear(s string, f func([]int) error) error {
	if p.steps*len(s) > 16*maxSteps { // this engine cannot be stopped
		return ErrTime
	}
	for _, loc := range p.linear.FindAllStringSubmatchIndex(s, maxReplaced+1) {
		if err := f(loc); err != nil {
			return err
		}
	}
	return nil
}

// eachBack is eachLinear for the backtracking engine, which counts characters.
func (p *Pattern) eachBack(s string, f func([]int) error) error {
	until := time.Now().Add(maxTime)
	bytes := make([]int, 0, len(s)+1)
	for i := range s {
		bytes = append(bytes, i)
	}
	bytes = append(bytes, len(s))
	m, err := p.back.FindStringMatch(s)
	for ; err == nil && m != nil; m, err = p.back.FindNextMatch(m) {
		if time.Now().After(until) {
			return ErrTime
		}
		loc := make([]int, 2*(p.groups+1))
		for i := range loc {
			loc[i] = -1
		}
		for i, g := range m.Groups() {
			if len(g.Captures) > 0 && 2*i+1 < len(loc) {
				loc[2*i], loc[2*i+1] = bytes[g.Index], bytes[g.Index+g.Length]
			}
		}
		if err := f(loc); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("%w", ErrTime)
	}
	return nil
}

// piece is a text and then a group of a replacement; the group is -1 if there is none.
type piece struct {
	text  string
	group int
}

// replacement parses the $N, \$ and \\ of a replacement. It returns false if s is malformed.
func replacement(s string, literal bool, groups int) ([]piece, bool) {
	if literal {
		return []piece{{s, -1}}, true
	}
	var out []piece
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i >= len(s) || s[i] != '\\' && s[i] != '$' {
				return nil, false
			}
			b.WriteByte(s[i])
		case '$':
			if i+1 >= len(s) || s[i+1] < '0' || s[i+1] > '9' {
				return nil, false
			}
			i++
			n := int(s[i] - '0')
			for i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' && n*10+int(s[i+1]-'0') <= groups {
				i++
				n = n*10 + int(s[i]-'0')
			}
			if n <= groups {
				out = append(out, piece{b.String(), n})
				b.Reset()
			}
		default:
			b.WriteByte(c)
		}
	}
	return append(out, piece{b.String(), -1}), true
}
