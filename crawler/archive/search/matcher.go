package search

import (
	"math"
	"slices"
	"strings"

	"odarchive/crawler/address"
)

// matcher is a question in terms of the facts' numbers.
type matcher struct {
	facts    *facts
	q        question
	narrowed Set       // the documents that words and datasets leave; nil: all
	sets     [][]bool  // for each part, the sets of portals whose title or address has it; nil: none
	rarity   []float64 // of each part
	tests    []test
	ranges   []span
}

// test is a condition on one number of a fact.
type test struct {
	of func(*fact) uint32
	ok []bool // by number
}

// span is a condition on one figure of a fact.
type span struct {
	of          func(*fact, *figures) int64
	least, most int64
	not         bool
}

// matcher translates a question; ok is false if nothing can match.
func (f *facts) matcher(q question) (m *matcher, ok bool) {
	m = &matcher{facts: f, q: q}
	if !m.addFilters() {
		return nil, false
	}
	if q.only != nil {
		m.narrowed = append(Set{}, q.only...)
	}
	m.addParts()
	if len(q.not) > 0 {
		if m.narrowed == nil {
			for doc := range uint32(f.rows.len()) {
				m.narrowed.Put(doc)
			}
		}
		m.narrowed.Without(q.not)
	}
	return m, true
}

// addParts narrows to the documents with the parts of the question.
func (m *matcher) addParts() {
	f := m.facts
	var have []Set
	for _, p := range m.q.parts {
		all := append(Set{}, p.all...)
		var sets []bool
		if len(p.portals) > 0 {
			sets = f.setsWith(func(portal string) bool { return p.portals[portal] })
			for doc := range uint32(f.rows.len()) {
				if r := f.rows.at(doc); r.known && sets[r.set] {
					all.Put(doc)
				}
			}
		}
		m.sets = append(m.sets, sets)
		n := 0
		all.Each(func(uint32) { n++ })
		m.rarity = append(m.rarity, 1+math.Log(float64(f.rows.len()+1)/float64(n+1)))
		have = append(have, all)
	}
	if m.q.enough == 0 {
		for _, all := range have {
			m.narrow(all)
		}
		return
	}
	some := Set{}
	for _, all := range have {
		some.Union(all)
	}
	enough := Set{}
	some.Each(func(doc uint32) {
		n := 0
		for _, all := range have {
			if all.Has(doc) {
				n++
			}
		}
		if n >= m.q.enough {
			enough.Put(doc)
		}
	})
	m.narrow(enough)
}

func (m *matcher) narrow(to Set) {
	if m.narrowed == nil {
		m.narrowed = append(Set{}, to...)
	} else {
		m.narrowed.Intersect(to)
	}
}

// addFilters translates the filters. Several of one kind are alternatives, as are the values of a facet. It returns
// false if no fact meets one.
func (m *matcher) addFilters() bool {
	f := m.facts
	names := map[string]struct {
		list *names
		of   func(*fact) uint32
	}{
		"type": {&f.types, func(r *fact) uint32 { return r.typ }}, "host": {&f.hosts, func(r *fact) uint32 { return r.host }},
		"licence":   {&f.licences, func(r *fact) uint32 { return r.licence }},
		"publisher": {&f.publishers, func(r *fact) uint32 { return r.publisher }},
		"outcome":   {&f.outcomes, func(r *fact) uint32 { return uint32(r.outcome) }},
	}
	var tests = map[string]test{} // by key, and whether it excludes
	for _, one := range m.q.filters {
		switch one.key {
		case "dataset": // see question.ofDataset
			continue
		case "since", "before", "size", "rows", "gone":
			m.addSpan(one)
			continue
		}
		kind := one.key
		if one.not {
			kind = "-" + kind
		}
		t, known := tests[kind]
		if one.key == "portal" {
			if !known {
				t = test{func(r *fact) uint32 { return r.set }, make([]bool, len(f.setOf))}
			}
			for i, in := range f.setsWith(func(portal string) bool {
				return one.meets(portal) || !one.whole &&
					m.q.portalMeets(portal, one.value)
			}) {
				t.ok[i] = t.ok[i] || in
			}
			tests[kind] = t
			continue
		}
		by := names[one.key]
		if !known {
			t = test{by.of, make([]bool, len(by.list.list))}
		}
		any := false
		for i, name := range by.list.list {
			if one.meets(name) {
				t.ok[i], any = true, true
			}
		}
		if !any && one.key == "host" && one.whole { // older records keep the host as their source spelled it
			if i, known := f.hosts.find(address.HostGroup(strings.ToLower(one.value))); known {
				t.ok[i] = true
			}
		}
		tests[kind] = t
	}
	for kind, t := range tests {
		if kind[0] == '-' {
			for i := range t.ok {
				t.ok[i] = !t.ok[i]
			}
		}
		if !slices.Contains(t.ok, true) {
			return false
		}
		m.tests = append(m.tests, t)
	}
	return true
}

// meets reports whether a filter accepts a value.
func (f filter) meets(value string) bool {
	wanted := strings.ToLower(f.value)
	value = strings.ToLower(value)
	switch {
	case f.whole || value == wanted:
		return value == wanted
	case f.key == "type":
		wanted = strings.TrimPrefix(wanted, ".")
		if value == wanted {
			return true
		}
		_, sub, _ := strings.Cut(value, "/")
		return sub == wanted ||
			slices.Contains(strings.FieldsFunc(sub, func(r rune) bool { return r == '+' || r == '.' || r == '-' }), wanted) ||
			slices.Contains(typesNamed[wanted], value)
	case f.key == "host":
		return strings.HasSuffix(value, "."+wanted)
	}
	return false
}

// typesNamed are media types by the extensions that people write for them, where the type has another name.
var typesNamed = map[string][]string{
	"xls": {"application/vnd.ms-excel"}, "xlsx": {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	"ods":   {"application/vnd.oasis.opendocument.spreadsheet"},
	"excel": {"application/vnd.ms-excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	"tsv":   {"text/tab-separated-values"}, "geojson": {"application/geo+json"},
	"txt": {"text/plain"}, "ttl": {"text/turtle"},
	"rdf": {"application/rdf+xml", "text/turtle", "application/n-triples", "application/ld+json"}, "nt": {"application/n-triples"},
	"shp": {"application/vnd.shp"}, "shape": {"application/vnd.shp"}, "gpkg": {"application/geopackage+sqlite3"},
	"geopackage": {"application/geopackage+sqlite3"},
	"kml":        {"application/vnd.google-earth.kml+xml"}, "kmz": {"application/vnd.google-earth.kmz"},
	"parquet": {"application/vnd.apache.parquet", "application/x-parquet"},
	"docx":    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document"}, "doc": {"application/msword"},
	"htm": {"text/html"}, "jsonld": {"application/ld+json"},
}

// portalMeets reports whether the title or address of a portal has a word.
func (q question) portalMeets(portal, words string) bool {
	asked := Words(words, maxParts, false)
	for _, w := range asked {
		if !slices.ContainsFunc(q.portalWords[portal], func(p string) bool { return Meets(p, w) }) {
			return false
		}
	}
	return len(asked) > 0
}

// addSpan adds a condition on a figure.
func (m *matcher) addSpan(one filter) {
	s := span{least: math.MinInt64, most: math.MaxInt64, not: one.not}
	switch one.key {
	case "since", "before":
		at, err := parseDay(one.value, m.q.now)
		if err != nil {
			return // parseQuery has checked it
		}
		s.of = func(_ *fact, known *figures) int64 { return known.changed }
		if one.key == "since" {
			s.least = max(at.UnixMilli(), 1) // 0: no version
		} else {
			s.least, s.most = 1, at.UnixMilli()-1
		}
	case "gone":
		s.of = func(r *fact, _ *figures) int64 {
			if m.facts.isGone(r) {
				return 1
			}
			return 0
		}
		s.least, s.most = 1, 1
		if v := strings.ToLower(one.value); v == "no" || v == "nein" {
			s.not = !s.not
		}
	default:
		s.of = func(_ *fact, known *figures) int64 { return known.size }
		if one.key == "rows" {
			s.of = func(_ *fact, known *figures) int64 { return int64(known.tableRows) }
		}
		least, most, err := parseRange(one.value)
		if err != nil {
			return
		}
		s.least = least
		if most >= 0 {
			s.most = most
		}
	}
	m.ranges = append(m.ranges, s)
}

// setsWith reports which sets contain a portal for which which is true.
func (f *facts) setsWith(which func(portal string) bool) []bool {
	is := make([]bool, len(f.portals.list))
	for i, p := range f.portals.list {
		is[i] = which(p)
	}
	sets := make([]bool, len(f.setOf))
	for i, portals := range f.setOf {
		sets[i] = slices.ContainsFunc(portals, func(p uint32) bool { return is[p] })
	}
	return sets
}

// each calls visit with every match.
func (m *matcher) each(visit func(doc uint32, r *fact, figures *figures)) {
	rows := &m.facts.rows
	if m.narrowed != nil {
		m.narrowed.Each(func(doc uint32) {
			if int(doc) >= rows.len() {
				return // committed after the facts were loaded
			}
			r := rows.at(doc)
			if figures := m.facts.of(r); m.meets(r, figures) {
				visit(doc, r, figures)
			}
		})
		return
	}
	for doc, page := range rows.all() {
		for i := range page {
			r := &page[i]
			if figures := m.facts.of(r); m.meets(r, figures) {
				visit(doc+uint32(i), r, figures)
			}
		}
	}
}

// meets reports whether a fact meets all filters.
func (m *matcher) meets(r *fact, figures *figures) bool {
	if !r.known {
		return false
	}
	for i := range m.tests {
		if t := &m.tests[i]; !t.ok[t.of(r)] {
			return false
		}
	}
	for i := range m.ranges {
		s := &m.ranges[i]
		if n := s.of(r, figures); (n >= s.least && n <= s.most) == s.not {
			return false
		}
	}
	return true
}

func (m *matcher) place(doc uint32, r *fact, figures *figures) place {
	p := place{doc: doc}
	switch m.q.Sort {
	case "versions":
		p.n = int64(figures.versions)
	case "size":
		p.n = figures.size
	case "rows":
		p.n = int64(figures.tableRows)
	case "title":
		p.title = m.facts.titles.at(r.title)
	case "changed":
		p.n = figures.changed
	default:
		p.n = figures.changed
		p.score = m.score(doc, r, figures.versions > 0)
	}
	return p
}

// What a score is multiplied by, and more.
const (
	shareTitle   = 0.3  // all words are in titles
	shareShort   = 0.3  // the title has few other words
	shareNothing = 0.85 // there is no version to look at
)

// score sums up the worth of where each part of the question is, rare words more than frequent ones.
func (m *matcher) score(doc uint32, r *fact, archived bool) int {
	sum, inTitle := 0.0, 0
	for i, p := range m.q.parts {
		best := 0.0
		for _, h := range p.hits {
			if h.docs.Has(doc) {
				best = h.worth
				if h.title {
					inTitle++
				}
				break
			}
		}
		if best < worthPortal && m.sets[i] != nil && m.sets[i][r.set] {
			best = worthPortal
		}
		sum += best * m.rarity[i]
	}
	if n := len(m.q.parts); n > 0 && inTitle > 0 {
		if inTitle == n {
			sum *= 1 + shareTitle
		}
		sum *= 1 + shareShort*float64(inTitle)/float64(max(inTitle, 1+strings.Count(m.facts.titles.at(r.title), " ")))
	}
	if !archived {
		sum *= shareNothing
	}
	if m.q.isName && doc == m.q.named {
		sum += worthName
	}
	return int(math.Round(sum * scoreUnit))
}
