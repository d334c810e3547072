// Finds columns of tables whose values are keys of other tables of the same file.
//
// Two witnesses have to agree. The names: the column's name says that it is about the things of the other table
// ("customer_id" beside customers), or is the name of that table's key. And the values: they are among those of the
// key, as far as the sketches of both show. A wrong key is worse than none, so a column that could belong to several
// tables belongs to none, and tables whose file declares keys keep those alone.

package csvprofile

// KeyTable is a table of a file or of an archive.
type KeyTable struct {
	Member  string // path of its member of the archive, "" for the file itself
	Index   int    // among the tables of that member or file
	Profile *Profile
}

// Limits of Find. What is beyond them gets no keys.
const (
	MaxTables = 500
	MaxKeys   = 50 // foreign keys of one table

	maxParents = 20 // columns that one name may refer to; more are not looked at
)

// FindKeys sets ForeignKeys of the profiles of tables that have none declared. It needs the sketches of their columns.
func FindKeys(tables []KeyTable) {
	tables = tables[:min(len(tables), MaxTables)]
	declared := map[string]bool{} // members with declared keys
	for _, t := range tables {
		if len(t.Profile.ForeignKeys) > 0 {
			declared[t.Member] = true
		}
	}
	byName := map[string][]parent{} // by the names that columns may have that refer to them
	for _, t := range tables {
		if !declared[t.Member] {
			for _, p := range parents(t) {
				byName[p.name] = append(byName[p.name], p)
			}
		}
	}
	for _, t := range tables {
		if !declared[t.Member] {
			t.Profile.ForeignKeys = foreignKeys(t, byName)
		}
	}
}

// parent is a column that others may refer to by a name.
type parent struct {
	name   string
	table  KeyTable
	column int
	named  bool // the name is that of the table, and not only related to it
}

// parents returns what the candidate keys of a table may be called elsewhere: by their own name, if it is that of an
// identifier of what the table's name says; those that are called "id" or "code" only, with the name of the table in
// front. Tables of figures have keys, too, such as codes of regions, but others that have these do not refer to the
// figures.
func parents(t KeyTable) (list []parent) {
	thing := thingOf(t)
	for i, c := range t.Profile.Columns {
		if !c.Key || len(c.Sketch) == 0 || c.Datatype != "string" && c.Datatype != "integer" {
			continue
		}
		about, identifies := split(c.Name)
		switch {
		case !identifies:
		case len(about) == 0 && thing != "":
			list = append(list, parent{name: thing, table: t, column: i, named: true})
		case len(about) > 0 && joined(about) == thing:
			list = append(list, parent{name: thing, table: t, column: i, named: true})
		case t.Profile.Rows > 1 && related(about, t): // a single value is in many columns
			list = append(list, parent{name: joined(about), table: t, column: i})
		}
	}
	return list
}

// foreignKeys returns the columns of a table that refer to one of the parents.
func foreignKeys(t KeyTable, parents map[string][]parent) (list []ForeignKey) {
	own := thingOf(t)
	for i, c := range t.Profile.Columns {
		about, identifies := split(c.Name)
		if !identifies || len(about) == 0 || c.Distinct == 0 || len(list) >= MaxKeys || joined(about) == own {
			continue
		}
		var best []parent
		candidates := parents[joined(about)]
		if len(candidates) > maxParents {
			continue
		}
		for _, p := range candidates {
			switch {
			case p.table.Profile == t.Profile || c.Key && !p.named || !included(c.Sketch, p.table.Profile.Columns[p.column].Sketch):
			case len(best) > 0 && best[0].named && !p.named:
			case len(best) > 0 && !best[0].named && p.named:
				best = append(best[:0], p)
			default:
				best = append(best, p)
			}
		}
		if len(best) != 1 {
			continue
		}
		key := ForeignKey{Columns: []int{i + 1}, Table: best[0].table.Index, To: []int{best[0].column + 1}, Found: true}
		if best[0].table.Member != t.Member {
			key.Member = best[0].table.Member
		}
		list = append(list, key)
	}
	return list
}

// included reports whether the values of a column seem to be among those of another. Sketches are the smallest hashes:
// up to the largest one that both could have, the hashes of the column must be among those of the other.
func included(column, other Sketch) bool {
	if len(column) == 0 || len(other) == 0 {
		return false
	}
	low := uint32(1)<<max(column.Rough(), other.Rough()) - 1 // the bits that one of the two lacks
	limit := other[len(other)-1] &^ low
	if len(other) < WholeSketch { // these are all
		limit = ^uint32(0)
	}
	compared, at := 0, 0
	for _, h := range column {
		if h &^= low; h > limit {
			break
		}
		for at < len(other) && other[at]&^low < h {
			at++
		}
		if at == len(other) || other[at]&^low != h {
			return false
		}
		compared++
	}
	return compared > 0
}
