package ui

import (
	"net/http"
	"strconv"
)

// column is one line of a table's profile.
type column struct {
	I                                               int
	Name, Datatype, Distinct, Nulls, Min, Max, Mean string
}

// columns reads a version's table profile from its triples; nothing where it is no table. It is an extra: a failing
// query leaves it out.
func (u *UI) columns(r *http.Request, iri string) []column {
	if u.query == nil {
		return nil
	}
	rows, err := u.query(r.Context(), withPrefixes(`SELECT ?column ?name ?datatype ?distinct ?nulls ?min ?max ?mean WHERE {
  ?table csvw:url <`+iri+`> ; csvw:tableSchema ?schema .
  ?schema csvw:column ?column .
  ?column csvw:name ?name .
  OPTIONAL { ?column csvw:datatype ?datatype }
  OPTIONAL { ?column arc:distinct ?distinct }
  OPTIONAL { ?column arc:nulls ?nulls }
  OPTIONAL { ?column arc:min ?min }
  OPTIONAL { ?column arc:max ?max }
  OPTIONAL { ?column arc:mean ?mean }
}`), 2000)
	if err != nil {
		u.log.WarnContext(r.Context(), "columns left out of a page", "version", iri, "err", err)
		return nil
	}
	seen := make(map[int]bool)
	var list []column
	for _, row := range rows.Rows {
		ref, _ := u.mint.Parse(row[0].Value())
		if seen[ref.Column] && ref.Column != 0 {
			continue
		}
		seen[ref.Column] = true
		list = append(list, column{I: ref.Column, Name: row[1].Value(), Datatype: curie(row[2].Value(), ""), Distinct: row[3].Value(), Nulls: row[4].Value(),
			Min: row[5].Value(), Max: row[6].Value(), Mean: row[7].Value()})
	}
	return sorted(list, func(c column) string { return strconv.Itoa(c.I + 1_000_000) })
}
