package data

import (
	"strconv"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
)

// Comparison is one comparison of a condition.
type Comparison struct{ Column, Op, Value string }

// String returns the comparison as Request.Where has it, whatever its column and value contain.
func (c Comparison) String() string {
	if isPlain(c.Column) && isPlain(c.Value) && c.Op != "~" {
		return c.Column + c.Op + c.Value
	}
	return `"` + strings.ReplaceAll(c.Column, `"`, `""`) + `" ` + c.Op + ` '` + strings.ReplaceAll(c.Value, "'", "''") + "'"
}

// isPlain reports whether a word is the same without quotation marks.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' ||
			c == ':') {
			return false
		}
	}
	return s != ""
}

// Condition joins comparisons.
func Condition(list []Comparison) string {
	parts := make([]string, len(list))
	for i, c := range list {
		parts[i] = c.String()
	}
	return strings.Join(parts, joiner)
}

// Operators returns the operators of a condition.
func Operators() []string { return []string{"=", "!=", "<", "<=", ">", ">=", "~"} }

// Number reads a cell of a column of numbers.
func Number(c csvprofile.Column, cell string) (x float64, ok bool) {
	col := newColumn(c)
	if col.kind != numbers {
		return 0, false
	}
	v := col.read(cell)
	return v.num, !v.null && !v.odd
}

// Literal returns a number of a profile as cells of its column have it, so that a condition can compare with it.
func Literal(c csvprofile.Column, number string) string {
	if strings.HasSuffix(c.Format, "%") {
		if x, err := strconv.ParseFloat(number, 64); err == nil {
			number = strconv.FormatFloat(x*100, 'f', -1, 64)
		}
		number += "%"
	}
	if c.Decimal != "" && c.Decimal != "." {
		number = strings.Replace(number, ".", c.Decimal, 1)
	}
	return number
}
