package data

import (
	"fmt"
	"strings"
)

// Limits of a condition.
const (
	maxWhere   = 4 << 10 // bytes
	maxClauses = 50
)

// clause is one comparison of a condition.
type clause struct {
	at    int // index of the column
	op    string
	text  string // what the column is compared with
	value value  // the same, read
}

// operators, longer ones first.
var operators = []string{"<=", ">=", "!=", "<>", "==", "=", "<", ">", "~"}

// parseWhere parses "column op value and column op value …".
//
// A column is one of the table's, as it stands or in double quotes. A value may be in single or double quotes; without
// them it ends at the next " and " that a column and an operator follow.
func parseWhere(text string, columns []column) ([]clause, error) {
	if len(text) > maxWhere {
		return nil, fmt.Errorf("where is longer than %d bytes", maxWhere)
	}
	var list []clause
	for rest := text; strings.TrimSpace(rest) != ""; {
		if len(list) == maxClauses {
			return nil, fmt.Errorf("where has more than %d comparisons", maxClauses)
		}
		c, after, err := parseHead(rest, columns)
		if err != nil {
			return nil, err
		}
		if c.text, rest, err = parseValue(after, columns); err != nil {
			return nil, err
		}
		col := &columns[c.at]
		c.value = col.read(c.text)
		if c.value.odd && c.op != "~" {
			return nil, fmt.Errorf("%q is not of the datatype of the column %q, %s", c.text, col.name, col.datatype)
		}
		list = append(list, c)
	}
	return list, nil
}

// parseHead parses a column and an operator, and returns what follows.
func parseHead(text string, columns []column) (c clause, rest string, err error) {
	text = strings.TrimLeft(text, " ")
	c.at = -1
	if name, after, ok := quotation(text, '"'); ok {
		if c.at = indexOf(columns, name); c.at < 0 {
			return c, "", unknownColumn(name, columns)
		}
		text = after
	} else {
		for i := range columns { // the longest name that an operator follows
			after, ok := strings.CutPrefix(text, columns[i].name)
			if ok && operatorOf(after) != "" && (c.at < 0 || len(columns[i].name) > len(columns[c.at].name)) {
				c.at, rest = i, after
			}
		}
		if c.at < 0 {
			name := text
			if i := strings.IndexAny(text, "<>=!~"); i >= 0 {
				name = strings.TrimSpace(text[:i])
			}
			return c, "", unknownColumn(name, columns)
		}
		text = rest
	}
	if c.op = operatorOf(text); c.op == "" {
		return c, "", fmt.Errorf("after the column %q one of = != < <= > >= ~ is expected", columns[c.at].name)
	}
	return c, strings.TrimLeft(text, " ")[len(c.op):], nil
}

// operatorOf returns the operator that a text begins with, after spaces, "" if there is none.
func operatorOf(text string) string {
	text = strings.TrimLeft(text, " ")
	for _, op := range operators {
		if strings.HasPrefix(text, op) {
			return op
		}
	}
	return ""
}

const joiner = " and "

// parseValue parses a value and the joiner behind it.
func parseValue(text string, columns []column) (value, rest string, err error) {
	text = strings.TrimLeft(text, " ")
	for _, quote := range []byte{'"', '\''} {
		value, rest, ok := quotation(text, quote)
		if !ok {
			continue
		}
		if strings.TrimSpace(rest) == "" {
			return value, "", nil
		}
		if len(rest) >= len(joiner) && strings.EqualFold(rest[:len(joiner)], joiner) {
			return value, rest[len(joiner):], nil
		}
		return "", "", fmt.Errorf("after the value %q the word and is expected, or nothing", value)
	}
	for i := 0; i+len(joiner) <= len(text); i++ {
		if !strings.EqualFold(text[i:i+len(joiner)], joiner) {
			continue
		}
		if _, _, err := parseHead(text[i+len(joiner):], columns); err == nil {
			return strings.TrimSpace(text[:i]), text[i+len(joiner):], nil
		}
	}
	return strings.TrimSpace(text), "", nil
}

// quotation returns the text of a quotation that s begins with, in which a doubled quote stands for one. ok is false if
// s does not begin with one that ends.
func quotation(s string, quote byte) (text, rest string, ok bool) {
	if s == "" || s[0] != quote {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != quote {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == quote {
			b.WriteByte(quote)
			i++
			continue
		}
		return b.String(), s[i+1:], true
	}
	return "", "", false
}

func indexOf(columns []column, name string) int {
	for i := range columns {
		if columns[i].name == name {
			return i
		}
	}
	return -1
}

// unknownColumn names some of the columns that there are.
func unknownColumn(name string, columns []column) error {
	var some []string
	for _, c := range columns[:min(len(columns), 30)] {
		some = append(some, fmt.Sprintf("%q", shortened(c.name)))
	}
	more := ""
	if len(columns) > len(some) {
		more = " …"
	}
	return fmt.Errorf("there is no column %q; there are %s%s", shortened(name), strings.Join(some, ", "), more)
}

// shortened returns the beginning of a long name.
func shortened(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// fits reports whether a cell of the clause's column fulfils it. A cell without a value equals only "", and is neither
// less nor greater than anything.
func (c *clause) fits(col *column, cell string) bool {
	if c.op == "~" {
		return strings.Contains(strings.ToLower(cell), strings.ToLower(c.text))
	}
	v := col.read(cell)
	if v.null || c.value.null {
		same := v.null && c.value.null
		return same && (c.op == "=" || c.op == "==" || c.op == "<=" || c.op == ">=") || !same && (c.op == "!=" || c.op == "<>")
	}
	order := col.compare(v, c.value)
	switch c.op {
	case "=", "==":
		return order == 0
	case "!=", "<>":
		return order != 0
	case "<":
		return order < 0 && !v.odd
	case "<=":
		return order <= 0 && !v.odd
	case ">":
		return order > 0 && !v.odd
	}
	return order >= 0 && !v.odd
}
