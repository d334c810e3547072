package archive

import (
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
)

// compareSchemas compares the columns of two files' tables, of which either may be unknown. Tables are compared as
// pairTables pairs them, columns by name. A column without values has no type.
func compareSchemas(from, to *inspect.Inside) (c catalog.SchemaChange) {
	if from == nil || to == nil || len(from.Tables) == 0 || len(to.Tables) == 0 || from.ColumnsOmitted+to.ColumnsOmitted > 0 {
		return c
	}
	for _, pair := range pairTables(from.Tables, to.Tables) {
		addSchemas(&c, pair[0], pair[1])
	}
	return c
}

// pairTables returns the columns of tables that are to be compared, older and newer ones, in the order of the newer
// tables; tables that only the older file has are last. Tables of the same name belong together wherever they are in
// their files, since a new sheet in front renames none; of several with one name, the first belong together. The
// others, such as renamed sheets, are paired in their order.
func pairTables(older, newer []*csvprofile.Profile) (pairs [][2][]csvprofile.Column) {
	places := map[string][]int{} // of older tables by name
	for i, t := range older {
		places[t.Name] = append(places[t.Name], i)
	}
	paired := make([]bool, len(older))
	partner := make([]int, len(newer)) // index in older, -1 if none
	for i, t := range newer {
		partner[i] = -1
		if same := places[t.Name]; len(same) > 0 {
			partner[i], places[t.Name] = same[0], same[1:]
			paired[same[0]] = true
		}
	}
	free := 0
	for i, t := range newer {
		for free < len(older) && paired[free] {
			free++
		}
		if partner[i] < 0 && free < len(older) {
			partner[i], paired[free] = free, true
		}
		var was []csvprofile.Column
		if partner[i] >= 0 {
			was = older[partner[i]].Columns
		}
		pairs = append(pairs, [2][]csvprofile.Column{was, t.Columns})
	}
	for i, t := range older {
		if !paired[i] {
			pairs = append(pairs, [2][]csvprofile.Column{t.Columns, nil})
		}
	}
	return pairs
}

func addSchemas(c *catalog.SchemaChange, older, newer []csvprofile.Column) {
	types := make(map[string]csvprofile.Column, len(older))
	for _, column := range older {
		types[column.Name] = column
	}
	for _, column := range newer {
		was, known := types[column.Name]
		switch {
		case !known:
			c.Added = append(c.Added, column.Name)
		case was.Datatype != column.Datatype && was.Distinct > 0 && column.Distinct > 0:
			c.Retyped = append(c.Retyped, catalog.Retyped{Name: column.Name, From: was.Datatype, To: column.Datatype})
		}
	}
	stays := make(map[string]bool, len(newer))
	for _, column := range newer {
		stays[column.Name] = true
	}
	for _, column := range older {
		if !stays[column.Name] {
			c.Removed = append(c.Removed, column.Name)
		}
	}
}
