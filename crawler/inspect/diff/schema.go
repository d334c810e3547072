package diff

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Column is a column of a table in one of its versions.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // integer, decimal, date, boolean, string or empty
}

// Renamed is a column with a new name.
type Renamed struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Retyped is a column whose values have another type.
type Retyped struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// sketchSize is the number of a column's values, those with the lowest hashes, that represent all of them.
const sketchSize = 64

// column is what one pass over a table finds out about a column.
type column struct {
	name    string
	types   typeSet  // of all values
	sketch  []uint64 // the lowest hashes of distinct values, ascending
	unique  bool     // so far, and the column may be a key
	hashes  []uint64 // of all values, while unique
	nonNull int64
}

type typeSet uint8

const (
	isInteger typeSet = 1 << iota
	isDecimal
	isDate
	isBoolean
	isString
)

// typeOf returns the type of a value, 0 for a blank one.
func typeOf(s string) typeSet {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
	case strings.EqualFold(s, "true") || strings.EqualFold(s, "false"):
		return isBoolean
	default:
		return isString
	}
	if t := plainNumber(s); t != 0 {
		return t
	}
	return typeOfOdd(s)
}

// plainNumber returns the type of digits with a sign and a point or comma, which most numbers are, and 0 for anything
// else.
func plainNumber(s string) typeSet {
	if s[0] == '-' || s[0] == '+' {
		s = s[1:]
	}
	if len(s) > 18 || s == "" || s[0] < '0' || s[0] > '9' {
		return 0
	}
	points := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
		case c == '.' || c == ',':
			points++
		default:
			return 0
		}
	}
	switch points {
	case 0:
		return isInteger
	case 1:
		return isDecimal
	}
	return 0
}

// typeOfOdd returns the type of a value that begins like a number but is not a plain one.
func typeOfOdd(s string) typeSet {
	if isDay := len(s) >= 10 && s[4] == '-' && s[7] == '-'; len(s) <= 20 && !isDay {
		if _, err := strconv.ParseInt(s, 10, 64); err == nil {
			return isInteger
		}
		if _, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64); err == nil && !strings.ContainsAny(s, "xXpPiInN_") {
			return isDecimal
		}
	}
	if len(s) >= 10 && len(s) <= 35 {
		if _, err := time.Parse("2006-01-02", s[:10]); err == nil {
			return isDate
		}
		if _, err := time.Parse("02.01.2006", s[:10]); err == nil {
			return isDate
		}
	}
	return isString
}

func (t typeSet) String() string {
	switch t {
	case 0:
		return "empty"
	case isInteger:
		return "integer"
	case isDecimal, isInteger | isDecimal:
		return "decimal"
	case isDate:
		return "date"
	case isBoolean:
		return "boolean"
	}
	return "string"
}

// add adds a value with its hash.
func (c *column) add(h uint64, value string) {
	if value != "" {
		c.nonNull++
		if c.types&isString == 0 { // one text makes a column of texts
			c.types |= typeOf(value)
		}
	}
	n := len(c.sketch)
	if n == sketchSize && h >= c.sketch[n-1] {
		return
	}
	if i, there := slices.BinarySearch(c.sketch, h); !there {
		c.sketch = slices.Insert(c.sketch, i, h)
		if len(c.sketch) > sketchSize {
			c.sketch = c.sketch[:sketchSize]
		}
	}
}

// alike estimates the share of both columns' distinct values that they have in common (bottom-k sketches).
func alike(a, b *column) float64 {
	if len(a.sketch) == 0 || len(b.sketch) == 0 {
		return 0
	}
	union := slices.Concat(a.sketch, b.sketch)
	slices.Sort(union)
	union = slices.Compact(union)
	union = union[:min(len(union), sketchSize)]
	both := 0
	for _, h := range union {
		_, inA := slices.BinarySearch(a.sketch, h)
		_, inB := slices.BinarySearch(b.sketch, h)
		if inA && inB {
			both++
		}
	}
	return float64(both) / float64(len(union))
}

// schema is the schema of one version: its columns and its number of rows.
type schema struct {
	columns []*column
	rows    int64
}

// Keys are searched for among the first keyColumns columns. Those with repeated values in the first keySample rows are
// excluded early.
const (
	keyColumns = 12
	keySample  = 2000
)

// readSchema reads a table once. Columns with repeated or missing values cannot be keys.
func readSchema(t *rows, header []string, seed maphash.Seed, keyRows int64) (*schema, error) {
	s := &schema{}
	for _, name := range uniqueNames(header) {
		s.add(name)
	}
	for {
		row, err := t.next()
		if err != nil {
			return s.finish(), ignoreEOF(err)
		}
		s.rows++
		for len(s.columns) < len(row) {
			s.add(numbered(len(s.columns) + 1)[len(s.columns)])
		}
		for i, c := range s.columns {
			value := ""
			if i < len(row) {
				value = row[i]
			}
			h := maphash.String(seed, value)
			c.add(h, value)
			if !c.unique {
				continue
			}
			c.hashes = append(c.hashes, h)
			if value == "" || s.rows > keyRows || (s.rows == keySample && repeats(slices.Clone(c.hashes))) {
				c.unique, c.hashes = false, nil
			}
		}
	}
}

func (s *schema) add(name string) {
	c := &column{name: name}
	c.unique = len(s.columns) < keyColumns && s.rows == 0
	s.columns = append(s.columns, c)
}

// finish decides which columns are unique.
func (s *schema) finish() *schema {
	for _, c := range s.columns {
		c.unique = c.unique && s.rows > 0 && !repeats(c.hashes)
		c.hashes = nil
	}
	return s
}

// repeats reports whether a hash occurs twice. It sorts the hashes.
func repeats(hashes []uint64) bool {
	n := len(hashes)
	slices.Sort(hashes)
	return len(slices.Compact(hashes)) < n
}

// uniqueNames names unnamed columns and renames repeated ones.
func uniqueNames(header []string) []string {
	seen := make(map[string]bool)
	names := make([]string, len(header))
	for i, name := range header {
		name = strings.TrimSpace(name)
		if name == "" {
			name = strconv.Itoa(i + 1)
		}
		for base, n := name, 2; seen[name]; n++ {
			name = base + " (" + strconv.Itoa(n) + ")"
		}
		seen[name] = true
		names[i] = name
	}
	return names
}

func (s *schema) list() []Column {
	out := make([]Column, len(s.columns))
	for i, c := range s.columns {
		out[i] = Column{c.name, c.types.String()}
	}
	return out
}
