package inspect

import (
	"slices"

	"odarchive/crawler/inspect/csvprofile"
)

// maxForeignKeys is the maximum number of foreign keys of all tables of a file.
const maxForeignKeys = 2000

// relate finds the keys that the tables of the file, or of its members, have of one another. It removes those of
// columns that are not listed, and those beyond the limit.
func (l *look) relate() {
	var all []csvprofile.KeyTable
	files := map[string][]*csvprofile.Profile{}
	add := func(member string, tables []*csvprofile.Profile) {
		files[member] = tables
		for i, p := range tables {
			if p != nil {
				all = append(all, csvprofile.KeyTable{Member: member, Index: i, Profile: p})
			}
		}
	}
	add("", l.found.Tables)
	for _, m := range l.found.Members {
		if _, twice := files[m.Path]; len(m.Tables) > 0 && !twice {
			add(m.Path, m.Tables)
		}
	}
	if len(all) > 1 {
		csvprofile.FindKeys(all)
	}
	left := maxForeignKeys
	for _, t := range all {
		p := t.Profile
		if len(p.PrimaryKey) > 0 && slices.Max(p.PrimaryKey) > len(p.Columns) {
			p.PrimaryKey = nil
		}
		p.ForeignKeys = slices.DeleteFunc(p.ForeignKeys, func(key csvprofile.ForeignKey) bool {
			if key.Member == "" {
				key.Member = t.Member
			}
			other := files[key.Member][key.Table]
			if left == 0 || slices.Max(key.Columns) > len(p.Columns) || other == nil || slices.Max(key.To) > len(other.Columns) {
				return true
			}
			left--
			return false
		})
		if len(p.ForeignKeys) == 0 {
			p.ForeignKeys = nil
		}
	}
}
