package inspect

import (
	"iter"

	"odarchive/crawler/inspect/csvprofile"
)

// AllTables yields the tables of the file, and of its members. in may be nil.
func (in *Inside) AllTables() iter.Seq[*csvprofile.Profile] {
	return func(yield func(*csvprofile.Profile) bool) {
		if in == nil {
			return
		}
		each := func(list []*csvprofile.Profile) bool {
			for _, p := range list {
				if p != nil && !yield(p) {
					return false
				}
			}
			return true
		}
		if !each(in.Tables) {
			return
		}
		for _, m := range in.Members {
			if !each(m.Tables) {
				return
			}
		}
	}
}
