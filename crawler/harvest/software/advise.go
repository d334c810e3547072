package software

import (
	"cmp"
	"strings"
)

// Level returns what a page is: by the rules of the site's software, by those of every site, or by how the page is
// built.
func (h *Helper) Level(site *Site, page *Page) Level {
	m := h.marks(page)
	if page.Status >= 400 {
		if page.Status == 401 {
			return Login
		}
		return Unknown
	}
	if page.Root == nil {
		return File
	}
	r := h.rule(site, func(set *ruleset) int { return set.page(m, &m.place, set.address(&m.place)) })
	if r != nil && r.Level != File { // an answer that is a page is no file
		return r.Level
	}
	return m.shape.level()
}

// rule returns the rule that decides, nil for none: of the rules for software that find returns and of those for every
// site the first, where what is avoided and what is a file comes before everything else.
func (h *Helper) rule(site *Site, find func(*ruleset) int) *rule {
	var best *rule
	consider := func(set *ruleset) {
		if i := find(set); i != none && (best == nil || set.rules[i].tier() < best.tier()) {
			best = set.rules[i]
		}
	}
	for i := range site.Systems {
		if s := &site.Systems[i]; s.Weight >= Likely {
			if set, known := h.of[s.Name]; known {
				consider(set)
			}
		}
	}
	consider(h.always)
	return best
}

// Thresholds of structure.
const (
	manyLinks = 5 // links in one place of a page that make a list
	manyFiles = 8 // files that make a list of files
)

// level returns the level of a page by how it is built.
func (s *shape) level() Level {
	var biggest group
	rows := 0
	for _, g := range s.groups {
		if g.links-g.files > biggest.links-biggest.files {
			biggest = *g
		}
		if g.row {
			rows += g.files
		}
	}
	pagesOfList := biggest.links - biggest.files
	switch {
	case s.files >= manyFiles || rows >= 3 || s.pager && s.files >= 2 && s.files >= pagesOfList:
		return FileList
	case s.password && pagesOfList < manyLinks && s.text < 2000:
		return Login
	case s.pager && pagesOfList >= 2 || pagesOfList >= manyLinks:
		return List
	}
	return Item
}

// Link returns what a link of a page is worth.
func (h *Helper) Link(site *Site, page *Page, link Link) Hint {
	var space [16]pair
	a := placeOf(link.URL, space[:])
	set := h.first(site)
	hint := Hint{URL: h.canonical(link.URL, &a, set)}
	if len(hint.URL) != len(link.URL) {
		a = placeOf(hint.URL, space[:])
	}
	what := formatOf(a, link)
	hint.Format, hint.Document = what.format, what.other
	hint.File = what.data
	if what.plain { // a file by its extension
		hint.Level = File
		return hint
	}
	r := h.rule(site, func(set *ruleset) int { return set.link(&link, &a, set.address(&a)) })
	if r != nil {
		hint.Level, hint.Follow, hint.Boost, hint.Why = r.Level, r.Follow, r.Boost, r.Why
		switch r.Level {
		case Noise, Trap, Login:
			hint.Avoid, hint.File, hint.Document = cmp.Or(r.Why, string(r.Level)), 0, false
			return hint
		case File:
			hint.Document = r.Doc || what.other
			if !hint.Document {
				hint.File = max(r.File, what.data)
			}
			return hint
		}
	}
	if hint.File >= 0.8 || hint.Document {
		hint.Level = File
	}
	if strings.EqualFold(link.Rel, "next") {
		hint.Follow = true
	}
	return hint
}

// first returns the rules of the most likely software, nil if there is none.
func (h *Helper) first(site *Site) *ruleset {
	return h.of[site.Software()]
}
