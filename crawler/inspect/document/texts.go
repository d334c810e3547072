package document

import "iter"

// Texts yields what a file says of itself in words, the most telling first: its title, its standard, who made it, the
// names and titles of its variables, its description and the values of its attributes. d may be nil. Empty texts are
// left out.
func (d *Document) Texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		if d == nil {
			return
		}
		each := func(texts ...string) bool {
			for _, s := range texts {
				if s != "" && !yield(s) {
					return false
				}
			}
			return true
		}
		if !each(d.Title, d.Standard, d.Creator) {
			return
		}
		for _, v := range d.Variables {
			if !each(v.Name, v.Title) {
				return
			}
		}
		if !each(d.Description) {
			return
		}
		for _, a := range d.Attributes {
			if !each(a.Value) {
				return
			}
		}
	}
}
