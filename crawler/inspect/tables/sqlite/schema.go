package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// table is one table of the schema.
type table struct {
	name         string
	root         uint32
	virtual      bool // made by a module: its rows are elsewhere
	withoutRowID bool
	columns      []column
	key          []string  // names of the columns of the primary key, in order
	foreign      []foreign // the first maxForeign
}

// column is one column of a table.
type column struct {
	name    string
	stored  int   // index of its value in a row; negative if it has none
	rowID   bool  // a stored null stands for the row's id
	boolean bool  // declared as boolean
	real    bool  // of floating-point numbers
	preset  value // of rows that were written before the column was added
}

// Limits of the schema.
const (
	maxObjects = 20_000   // tables, indexes and others
	maxSQL     = 1 << 20  // bytes of one definition
	maxColumns = 2000     // the default limit of SQLite; more are read by no program
	maxSchema  = 16 << 20 // bytes of all definitions
	maxForeign = 50       // foreign keys of a table
)

// schema returns the tables, in the order of their definitions. If the schema is damaged, it returns those before.
func (db *base) schema(ctx context.Context) (list []*table, err error) {
	cursor, err := db.rows(&table{name: "sqlite_schema", root: 1})
	if err != nil {
		return nil, err
	}
	for objects, size := 0, 0; ; objects++ {
		row, err := cursor.next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, fmt.Errorf("the schema: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return list, err
		}
		if len(row.values) < 5 || row.values[4].kind != kindText || len(row.values[4].bytes) > maxSQL ||
			db.decode(row.values[0].bytes) != "table" {
			continue
		}
		if size += len(row.values[4].bytes); size > maxSchema || objects >= maxObjects {
			return list, errors.New("the schema is too large")
		}
		root := row.values[3].integer
		t := define(db.decode(row.values[4].bytes))
		if t == nil {
			continue
		}
		t.name, t.root = db.decode(row.values[1].bytes), uint32(root)
		if t.virtual = t.virtual || root == 0; !t.virtual && (root < 1 || root > db.pages) {
			return list, fmt.Errorf("the schema: %w: table %s is on page %d", errDamaged, t.name, root)
		}
		list = append(list, t)
	}
}

// define reads a CREATE TABLE statement, nil if it is not one.
func define(sql string) *table {
	words := tokens(sql)
	at := slices.Index(words, token{"(", false})
	t := &table{}
	if i := indexWord(words, "VIRTUAL"); i >= 0 && (at < 0 || i < at) {
		t.virtual = true
		return t
	}
	if at < 0 || !words[0].is("CREATE") {
		return nil
	}
	end := closing(words, at)
	for _, w := range words[min(end, len(words)-1):] {
		t.withoutRowID = t.withoutRowID || w.is("WITHOUT")
	}
	var key []string // columns of the primary key, in order
	for _, def := range split(words[at+1 : end]) {
		if len(t.columns) >= maxColumns {
			break
		}
		if c, isKey, ok := columnOf(def); ok {
			if isKey {
				key = []string{c.name}
			}
			t.columns = append(t.columns, c)
			t.refers([]string{c.name}, def)
			continue
		}
		if i := indexWord(def, "FOREIGN"); i >= 0 {
			if open := slices.Index(def, token{"(", false}); open > i {
				end := closing(def, open)
				t.refers(namesOf(def[open+1:end]), def[end:])
			}
		}
		if i := indexWord(def, "PRIMARY"); i >= 0 {
			if open := slices.Index(def, token{"(", false}); open > i {
				key = namesOf(def[open+1 : closing(def, open)])
			}
		}
	}
	t.key = key
	t.place(key)
	return t
}

// place sets where the values of the columns are in a row. Tables without row ids have those of the primary key first.
func (t *table) place(key []string) {
	n := 0
	put := func(c *column) {
		c.stored = n
		n++
	}
	for i := range t.columns {
		c := &t.columns[i]
		c.rowID = c.rowID && !t.withoutRowID && len(key) == 1 && strings.EqualFold(c.name, key[0])
	}
	placed := map[int]bool{}
	if t.withoutRowID {
		for _, name := range key {
			i := slices.IndexFunc(t.columns, func(c column) bool { return strings.EqualFold(c.name, name) })
			if i >= 0 && !placed[i] {
				placed[i] = true
				put(&t.columns[i])
			}
		}
	}
	for i := range t.columns {
		if c := &t.columns[i]; c.stored >= 0 && !placed[i] {
			put(c)
		}
	}
}

// columnOf reads the definition of a column. ok is false for a constraint of the table. The column's stored is negative
// if it is computed when it is read, and rowID says that its type is INTEGER.
func columnOf(def []token) (c column, isKey, ok bool) {
	if len(def) == 0 {
		return c, false, false
	}
	if !def[0].quoted {
		for _, w := range []string{"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"} {
			if def[0].is(w) {
				return c, false, false
			}
		}
	}
	c.name = def[0].text
	var kind []string // words of the type
	i := 1
	for ; i < len(def) && !def[i].startsConstraint(); i++ {
		if def[i].text == "(" && !def[i].quoted {
			i = closing(def, i)
			continue
		}
		kind = append(kind, strings.ToUpper(def[i].text))
	}
	declared := strings.Join(kind, " ")
	c.rowID = declared == "INTEGER"
	c.boolean = declared == "BOOLEAN" || declared == "BOOL" || declared == "INTEGER_BOOLEAN" // the last by GDAL
	if !strings.Contains(declared, "INT") && !strings.Contains(declared, "CHAR") && !strings.Contains(declared, "CLOB") &&
		!strings.Contains(declared, "TEXT") {
		c.real = strings.Contains(declared, "REAL") || strings.Contains(declared, "FLOA") || strings.Contains(declared, "DOUB")
	}
	computed, kept := false, false
	for ; i < len(def); i++ {
		switch w := def[i]; {
		case w.text == "(" && !w.quoted:
			i = closing(def, i)
		case w.is("PRIMARY"):
			isKey = true
		case w.is("DESC") && isKey && i > 2 && def[i-1].is("KEY") && def[i-2].is("PRIMARY"):
			c.rowID = false // an old fault that the format has to keep
		case w.is("AS"):
			computed = true
		case w.is("STORED"):
			kept = true
		case w.is("DEFAULT") && i+1 < len(def):
			c.preset = preset(def[i+1:])
		}
	}
	if computed && !kept {
		c.stored = -1
	}
	return c, isKey, true
}

// preset returns the value of a DEFAULT clause if it is a literal.
func preset(words []token) value {
	sign := ""
	if (words[0].text == "-" || words[0].text == "+") && len(words) > 1 {
		sign, words = strings.TrimPrefix(words[0].text, "+"), words[1:]
	}
	w := words[0]
	if w.quoted {
		return value{kind: kindText, preset: w.text}
	}
	if n, err := strconv.ParseInt(sign+w.text, 10, 64); err == nil {
		return value{kind: kindInteger, integer: n}
	}
	if f, err := strconv.ParseFloat(sign+w.text, 64); err == nil && w.text[0] <= '9' {
		return value{kind: kindReal, real: f}
	}
	switch {
	case w.is("TRUE"):
		return value{kind: kindInteger, integer: 1}
	case w.is("FALSE"):
		return value{kind: kindInteger}
	}
	return value{}
}
