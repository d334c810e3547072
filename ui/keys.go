package ui

import (
	"fmt"
	"path"
	"strings"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
)

// key is a foreign key on a page.
type key struct {
	From, FromLink, Columns string // the table, where it is, and its columns
	To, ToLink, Others      string // likewise the one that they refer to
	How                     string // how the key is known
}

// foreignKeys lists the first keys that tables of a version have of others. The links lead to the member of an archive,
// or to the table's line in the list of tables.
func (u *UI) foreignKeys(versionID string, in *inspect.Inside) (list []key) {
	files := map[string][]*csvprofile.Profile{"": in.Tables}
	for _, m := range in.Members {
		files[m.Path] = m.Tables
	}
	at := func(member string, table int) (name, link string) {
		p := files[member][table]
		switch name = p.Name; {
		case name == "" && member != "":
			name = path.Base(member)
		case name == "":
			name = fmt.Sprintf("table %d", table+1)
		}
		if member != "" {
			return name, u.memberPath(versionID, member) + "?format=html"
		}
		return name, fmt.Sprintf("#table-%d", table+1)
	}
	add := func(member string, tables []*csvprofile.Profile) {
		for i, p := range tables {
			for _, k := range p.ForeignKeys {
				other := k.Member
				if other == "" {
					other = member
				}
				if len(list) >= maxShown || k.Table >= len(files[other]) {
					continue
				}
				line := key{Columns: columnNames(p, k.Columns), Others: columnNames(files[other][k.Table], k.To), How: "declared"}
				if k.Found {
					line.How = "names and values agree"
				}
				line.From, line.FromLink = at(member, i)
				line.To, line.ToLink = at(other, k.Table)
				list = append(list, line)
			}
		}
	}
	add("", in.Tables)
	for _, m := range in.Members {
		add(m.Path, m.Tables)
	}
	return list
}

// columnNames returns the names of columns with these numbers, from 1.
func columnNames(p *csvprofile.Profile, numbers []int) string {
	var names []string
	for _, n := range numbers {
		if n >= 1 && n <= len(p.Columns) {
			names = append(names, shorten(p.Columns[n-1].Name))
		}
	}
	return strings.Join(names, ", ")
}
