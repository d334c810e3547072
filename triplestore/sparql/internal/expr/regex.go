package expr

import (
	"errors"
	"fmt"
	"strings"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/pattern"
)

// regexCache keeps compiled patterns, for programs whose pattern may change between rows.
type regexCache struct {
	m    map[[2]string]*pattern.Pattern
	key  [2]string // the last call of get, and its result
	last *pattern.Pattern
}

const maxRegexes = 64

// get returns a compiled pattern, or nil if the pattern or its flags are invalid.
func (c *regexCache) get(text, flags Value) *pattern.Pattern {
	if text.kind != Str || flags.kind != Str {
		return nil
	}
	key := [2]string{text.s, flags.s}
	if c.m != nil && key == c.key {
		return c.last
	}
	m, ok := c.m[key]
	if !ok {
		var err error
		if m, err = pattern.Compile(text.s, flags.s); err != nil {
			m = nil
		}
		if len(c.m) >= maxRegexes || c.m == nil {
			c.m = map[[2]string]*pattern.Pattern{}
		}
		c.m[key] = m
	}
	c.key, c.last = key, m
	return m
}

// regex compiles REGEX.
func regex(_ *Context, _ algebra.Call, a []Func) Func {
	cache := &regexCache{}
	return func(env *Env) Value {
		text, flags := a[0](env), newString("")
		if len(a) == 3 {
			flags = a[2](env)
		}
		p := cache.get(a[1](env), flags)
		if p == nil || !text.isString() {
			return errValue
		}
		found, err := p.Match(text.s)
		if err != nil {
			env.fail(fmt.Errorf("REGEX: %w", err))
			return errValue
		}
		return NewBool(found)
	}
}

// replace compiles REPLACE (fn:replace). A pattern that matches the empty string is an error.
func replace(_ *Context, _ algebra.Call, a []Func) Func {
	cache := &regexCache{}
	return func(env *Env) Value {
		text, with, flags := a[0](env), a[2](env), newString("")
		if len(a) == 4 {
			flags = a[3](env)
		}
		p := cache.get(a[1](env), flags)
		if p == nil || !text.isString() || with.kind != Str {
			return errValue
		}
		out, err := p.Replace(text.s, with.s, strings.Contains(flags.s, "q"), maxString)
		if errors.Is(err, pattern.ErrTime) {
			env.fail(fmt.Errorf("REPLACE: %w", err))
		}
		if err != nil {
			return errValue
		}
		return text.with(out)
	}
}
