// Reads documents that people write in TOML: rules, campaigns. Its errors say in which line a fault
// is, those of unknown settings included, because people misspell settings more often than they break the syntax.
//
// It does not limit the size of documents; callers do.

package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// TOMLText is a document in TOML, or "" where lines cannot be said, as for what was not written in TOML.
type TOMLText string

// Decode fills what into points to. A setting that has no place there is an error.
func (t TOMLText) Decode(into any) error {
	meta, err := toml.Decode(string(t), into)
	if syntax := (toml.ParseError{}); errors.As(err, &syntax) {
		return fmt.Errorf("%s%s", at(syntax.Position.Line), cmp.Or(syntax.Message, err.Error()))
	}
	if err != nil {
		return err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return fmt.Errorf("%sthere is no setting %q", t.setting(unknown[0][len(unknown[0])-1]), unknown[0].String())
	}
	return nil
}

// Table returns the line of a table as "line 3: ", or "" if it is not found. The table is the inner one with index j of
// the outer one with index i, both counted from 0, or the outer one itself if j is negative. Only tables that are
// written as [[outer]] and [[outer.inner]] are found.
func (t TOMLText) Table(outer string, i int, inner string, j int) string {
	isOuter, isInner := header(outer), header(outer, inner)
	outers, inners, number := -1, -1, 0
	for line := range strings.Lines(string(t)) {
		number++
		switch {
		case isOuter.MatchString(line):
			outers++
		case outers == i && isInner.MatchString(line):
			inners++
		default:
			continue
		}
		if outers == i && inners == max(j, -1) {
			return at(number)
		}
	}
	return ""
}

// header returns an expression for the line with which tables of an array begin.
func header(names ...string) *regexp.Regexp {
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	return regexp.MustCompile(`^\s*\[\[\s*` + strings.Join(names, `\s*\.\s*`) + `\s*\]\]`)
}

// setting returns the line of a setting as "line 3: ": the first that begins with its name, or else the first that
// contains it, as inline tables do; "" if there is none.
func (t TOMLText) setting(name string) string {
	number, inside := 0, 0
	for line := range strings.Lines(string(t)) {
		number++
		key, _, _ := strings.Cut(line, "=")
		if strings.Trim(key, " \t\"'[]") == name {
			return at(number)
		}
		if inside == 0 && slices.Contains(strings.FieldsFunc(line, isMark), name) {
			inside = number
		}
	}
	return at(inside)
}

func isMark(r rune) bool { return strings.ContainsRune(" \t\r\n[]{}=,.\"'", r) }

func at(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", line)
}
