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
	switch {
	case r == nil || r.Level == File: // an answer that is a page is no file
		return h.built(site, m)
	case r.Level == List: // of files, perhaps
		if built := h.built(site, m); built == FileList {
			return built
		}
	}
	return r.Level
}

// rule returns the rule that decides, nil for none: of the rules for software that find returns and of those for every
// site the first, where what is avoided and what is a file comes before everything else. What looks like a file on any
// site is none where the rules for the software say otherwise.
func (h *Helper) rule(site *Site, find func(*ruleset) int) *rule {
	var best *rule
	consider := func(set *ruleset) {
		if i := find(set); i != none &&
			(best == nil || set.rules[i].tier() < best.tier() && (set != h.always || set.rules[i].Level != File)) {
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

// built returns the level of a page by how it is built.
func (h *Helper) built(site *Site, m *marks) Level {
	s := &m.shape
	files, rows, list := 0, 0, 0
	for _, g := range s.groups {
		n := 0
		for _, l := range g.targets {
			if h.isFile(site, l) {
				n++
			}
		}
		files += n
		if g.row {
			rows += n
		}
		list = max(list, g.links-n)
	}
	switch {
	case files >= manyFiles || rows >= 3 || s.pager && files >= 2 && files >= list:
		return FileList
	case s.password && list < manyLinks && s.text < 2000:
		return Login
	case s.pager && list >= 2 || list >= manyLinks:
		return List
	}
	return Item
}

// isFile reports whether a link leads to a file.
func (h *Helper) isFile(site *Site, l target) bool {
	var space [16]pair
	a := placeOf(l.href, space[:])
	if what := formatOf(a, Link{Text: l.text, Type: l.mediaType, Download: l.download}); what.data > 0.5 || what.other {
		return true
	}
	r := h.rule(site, func(set *ruleset) int { return set.address(&a) })
	return r != nil && r.Level == File
}

// Link returns what a link of a page is worth.
func (h *Helper) Link(site *Site, page *Page, link Link) Hint {
	var space [16]pair
	a := placeOf(link.URL, space[:])
	set := h.first(site)
	hint := Hint{URL: h.canonical(link.URL, &a, set)}
	if hint.URL != link.URL {
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
		default: // a page, whatever its anchor says
			hint.File, hint.Document, hint.Format = 0, false, ""
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
