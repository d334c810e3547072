package diff

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Column of a table in one of its versions.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // integer, decimal, date, boolean, string; empty
}

// Renamed is a column that got another name.
type Renamed struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Retyped is a column whose values are of another type.
type Retyped struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// sketchSize is how many of a column's values, those with the lowest hashes, stand for all of them.
const sketchSize = 128

// column is what one pass over a table learns of a column.
type column struct {
	name    string
	types   typeSet
	sketch  []uint64 // ascending: the lowest hashes of different values
	unique  bool     // so far
	hashes  []uint64 // of all values, while the column may be a key
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

// plainNumber recognises digits with a sign and a point or comma, which most numbers are; 0 for anything else.
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

func (c *column) see(h uint64, value string) {
	if value != "" {
		c.nonNull++
		if c.types&isString == 0 { // a column with one text is of texts
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

// alike estimates which share of both columns' different values they have in common (bottom-k sketches).
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

// schema of one version: its columns, and how many rows it has.
type schema struct {
	columns []*column
	rows    int64
}

// Keys are looked for among so many columns from the left, in tables of so many rows at most.
const (
	keyColumns = 12
	keySample  = 2000
)

// readSchema passes over a table once. Columns that hold a value twice, or none, are no keys.
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
			c.see(h, value)
			if !c.unique {
				continue
			}
			c.hashes = append(c.hashes, h)
			if value == "" || s.rows > keyRows || (s.rows == keySample && twice(slices.Clone(c.hashes))) {
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
		c.unique = c.unique && s.rows > 0 && !twice(c.hashes)
		c.hashes = nil
	}
	return s
}

func twice(hashes []uint64) bool {
	slices.Sort(hashes)
	for i := 1; i < len(hashes); i++ {
		if hashes[i] == hashes[i-1] {
			return true
		}
	}
	return false
}

// uniqueNames gives nameless and doubled columns names of their own.
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
