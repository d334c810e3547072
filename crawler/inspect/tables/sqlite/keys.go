package sqlite

import (
	"slices"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
)

// foreign is a foreign key: columns whose values are those of columns of another table.
type foreign struct {
	columns []string
	table   string
	to      []string // nil for the primary key
}

// refers adds the foreign key of columns that a definition declares with REFERENCES, if it does.
func (t *table) refers(columns []string, def []token) {
	i := indexWord(def, "REFERENCES")
	if i < 0 || i+1 >= len(def) || len(t.foreign) >= maxForeign {
		return
	}
	f := foreign{columns: columns, table: def[i+1].text}
	if i+2 < len(def) && def[i+2] == (token{"(", false}) {
		f.to = namesOf(def[i+3 : closing(def, i+2)])
	}
	t.foreign = append(t.foreign, f)
}

// namesOf returns the first words of the parts of a list.
func namesOf(list []token) (names []string) {
	for _, part := range split(list) {
		if len(part) > 0 {
			names = append(names, part[0].text)
		}
	}
	return names
}

// numbers returns the numbers, from 1, of columns by their names, nil if there is none or one of them is unknown.
func (t *table) numbers(names []string) (list []int) {
	for _, name := range names {
		i := slices.IndexFunc(t.columns, func(c column) bool { return strings.EqualFold(c.name, name) })
		if i < 0 {
			return nil
		}
		list = append(list, i+1)
	}
	return list
}

// Limits of keys: of the columns of one, and of the foreign keys of all tables.
const (
	maxKeyColumns = 16
	maxAllForeign = 1000
)

// declareKeys sets the declared keys of the profiles of tables, which are those at the same index. Keys of tables that
// have no profile are left out.
func declareKeys(tables []*table, found []*csvprofile.Profile) {
	all := 0
	for i, t := range tables {
		if len(t.key) <= maxKeyColumns {
			found[i].PrimaryKey = t.numbers(t.key)
		}
		for _, f := range t.foreign {
			at := slices.IndexFunc(tables, func(other *table) bool { return strings.EqualFold(other.name, f.table) })
			if at < 0 || len(f.columns) > maxKeyColumns || all >= maxAllForeign {
				continue
			}
			names := f.to
			if names == nil {
				names = tables[at].key
			}
			columns, to := t.numbers(f.columns), tables[at].numbers(names)
			if len(columns) > 0 && len(columns) == len(to) {
				all++
				found[i].ForeignKeys = append(found[i].ForeignKeys, csvprofile.ForeignKey{Columns: columns, Table: at, To: to})
			}
		}
	}
}
