package software

import (
	"slices"
	"strings"
)

// ruleset are rules of one system, or of every site, filed so that an address is compared with few of them. Rules for
// what is avoided and for files come first, otherwise the order is that of the text.
type ruleset struct {
	rules     []*rule
	byParam   map[string][]int // exact names of parameters
	bySegment map[string][]int
	wild      []int            // rules with names of which only a part is given
	patterns  []int            // rules with neither parameters nor segments
	bySteps   map[string][]int // steps of a link's path: "li.pager", ".pager"
	byRel     map[string][]int
	ofPages   []int // rules that look at a page
	strip     []param
	stripped  map[string]bool // exact names of strip without a value
}

func newRuleset(systems []system) *ruleset {
	set := &ruleset{byParam: map[string][]int{}, bySegment: map[string][]int{}, bySteps: map[string][]int{}, byRel: map[string][]int{},
		stripped: map[string]bool{}}
	for i := range systems {
		for j := range systems[i].Page {
			set.rules = append(set.rules, &systems[i].Page[j])
		}
		for _, p := range systems[i].strip {
			if p.wild() || p.value != nil {
				set.strip = append(set.strip, p)
			} else {
				set.stripped[p.name] = true
			}
		}
	}
	slices.SortStableFunc(set.rules, func(a, b *rule) int { return a.tier() - b.tier() })
	for i, r := range set.rules {
		set.file(i, r)
	}
	return set
}

func (set *ruleset) file(i int, r *rule) {
	switch {
	case r.ofPage():
		set.ofPages = append(set.ofPages, i)
	case len(r.Link) > 0:
		for _, step := range r.Link {
			set.bySteps[step] = append(set.bySteps[step], i)
		}
	case len(r.Rel) > 0:
		for _, word := range r.Rel {
			set.byRel[word] = append(set.byRel[word], i)
		}
	case len(r.Segment) > 0:
		for _, segment := range r.Segment {
			set.bySegment[segment] = append(set.bySegment[segment], i)
		}
	case len(r.params) > 0:
		if slices.ContainsFunc(r.params, func(p param) bool { return p.wild() }) {
			set.wild = append(set.wild, i)
			return
		}
		for _, p := range r.params {
			set.byParam[p.name] = append(set.byParam[p.name], i)
		}
	default:
		set.patterns = append(set.patterns, i)
	}
}

// tier orders rules: what is avoided and what is a file is decided first, then what is a home page.
func (r *rule) tier() int {
	switch r.Level {
	case File, Noise, Trap, Login:
		return 0
	case Home:
		return 1
	}
	return 2
}

func (r *rule) ofPage() bool { return len(r.css) > 0 || r.title != nil }

// none is the number of no rule, greater than that of any.
const none = 1 << 30

// address returns the number of the first rule for an address.
func (set *ruleset) address(a *place) int {
	best := none
	for _, p := range a.params {
		best = set.first(set.byParam[p.name], a, best)
	}
	for segment := range strings.SplitSeq(a.path, "/") {
		if segment == "" {
			continue
		}
		segment, _, _ = strings.Cut(segment, ".")
		best = set.first(set.bySegment[segment], a, best)
	}
	if len(a.params) > 0 {
		best = set.first(set.wild, a, best)
	}
	return set.first(set.patterns, a, best)
}

// first returns the first of some rules that fits an address, best if that comes before.
func (set *ruleset) first(some []int, a *place, best int) int {
	for _, i := range some {
		if i >= best {
			break
		}
		if set.rules[i].fits(a) {
			return i
		}
	}
	return best
}

// link returns the number of the first rule for a link by where it stands, best if that comes before.
func (set *ruleset) link(l *Link, a *place, best int) int {
	if len(set.bySteps) > 0 {
		for step := range strings.SplitSeq(l.Path, "/") {
			best = set.first(set.bySteps[step], a, best)
			if dot := strings.IndexByte(step, '.'); dot > 0 {
				best = set.first(set.bySteps[step[dot:]], a, best)
			}
		}
	}
	if l.Rel != "" {
		for word := range strings.FieldsSeq(l.Rel) {
			best = set.first(set.byRel[strings.ToLower(word)], a, best)
		}
	}
	return best
}

// page returns the number of the first rule for a page by what it shows, best if that comes before.
func (set *ruleset) page(m *marks, a *place, best int) int {
	for _, i := range set.ofPages {
		if i >= best {
			break
		}
		r := set.rules[i]
		shown := len(r.css) == 0
		for _, n := range r.css {
			shown = shown || m.selected[n]
		}
		if shown && (r.title == nil || r.title.MatchString(m.title)) && r.fits(a) {
			return i
		}
	}
	return best
}

// fits reports whether an address has what the rule asks of addresses.
func (r *rule) fits(a *place) bool {
	if len(r.params) > 0 {
		found := false
		for i := range r.params {
			for _, p := range a.params {
				if r.params[i].matches(p.name, p.value) {
					found = true
				}
			}
		}
		if !found {
			return false
		}
	}
	return r.match == nil || r.match.matches(a.text)
}
