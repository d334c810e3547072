package main

import (
	"fmt"
	"strings"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
)

// shownKeys is how many notes and how many keys of a table are printed for people.
const shownKeys = 5

// whatItIs returns what a table of a file is beside its columns, a line each: its kind and what its rows are about,
// rows that are sums or only head others, its keys, and the notes around it.
func whatItIs(p *csvprofile.Profile, in *inspect.Inside) (lines []string) {
	if p.Kind != "" {
		line := p.Kind + " table"
		if p.Subject > 0 && p.Subject <= len(p.Columns) {
			line += ", about " + p.Columns[p.Subject-1].Name
		}
		lines = append(lines, line)
	}
	if p.TotalRows > 0 {
		lines = append(lines, manyOrOne(p.TotalRows, "row has sums of others", "rows have sums of others")+", first "+
			fmt.Sprint(p.Totals[0]))
	}
	if p.SectionRows > 0 {
		lines = append(lines, manyOrOne(p.SectionRows, "row only heads", "rows only head")+" others, first "+fmt.Sprint(p.Sections[0]))
	}
	if len(p.PrimaryKey) > 0 {
		lines = append(lines, "key "+namesOf(p, p.PrimaryKey))
	}
	for i, key := range p.ForeignKeys {
		if i == shownKeys {
			lines = append(lines, fmt.Sprintf("… and %d more keys of other tables; --json lists all", len(p.ForeignKeys)-i))
			break
		}
		line := namesOf(p, key.Columns) + " refers to "
		to := referred(in, key)
		switch {
		case to == nil:
			line += "another table"
		case key.Member != "":
			line += namesOf(to, key.To) + " of " + key.Member
		default:
			line += namesOf(to, key.To) + " of " + to.Name
		}
		if key.Found {
			line += " (by names and values)"
		}
		lines = append(lines, line)
	}
	for i, note := range p.Notes {
		if i == shownKeys {
			lines = append(lines, fmt.Sprintf("… and %d more notes; --json lists all", len(p.Notes)-i))
			break
		}
		lines = append(lines, "note: "+note)
	}
	return lines
}

// referred returns the table that a key refers to; nil if the profile of the file has it no more.
func referred(in *inspect.Inside, key csvprofile.ForeignKey) *csvprofile.Profile {
	tables := in.Tables
	if key.Member != "" {
		tables = nil
		for _, m := range in.Members {
			if m.Path == key.Member {
				tables = m.Tables
			}
		}
	}
	if key.Table < 0 || key.Table >= len(tables) {
		return nil
	}
	return tables[key.Table]
}

// namesOf returns the names of columns, whose numbers are from 1.
func namesOf(p *csvprofile.Profile, columns []int) string {
	var names []string
	for _, n := range columns {
		if n > 0 && n <= len(p.Columns) {
			names = append(names, p.Columns[n-1].Name)
		}
	}
	return strings.Join(names, ", ")
}

func manyOrOne(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
