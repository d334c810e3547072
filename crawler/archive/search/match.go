package search

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/tallies"
	"odarchive/crawler/archive/wordindex"
	"odarchive/crawler/catalog"
)

// place is the place of a resource in the results: ordered by the highest score, then the highest figure, then the
// title.
type place struct {
	score int
	n     int64
	title string
	doc   uint32
}

func (p place) compare(o place) int {
	switch { // cmp.Or would compare everything; this runs for every match
	case p.score != o.score:
		return o.score - p.score
	case p.n != o.n:
		return cmp.Compare(o.n, p.n)
	}
	if c := strings.Compare(p.title, o.title); c != 0 {
		return c
	}
	return cmp.Compare(p.doc, o.doc)
}

// String returns the place as the mark of a page.
func (p place) String() string {
	return fmt.Sprintf("%d.%d.%d.%s", p.score, p.n, p.doc, hex.EncodeToString([]byte(p.title)))
}

// parsePlace reads a mark; ok is false if it is malformed.
func parsePlace(s string) (p place, ok bool) {
	var title string
	if n, _ := fmt.Sscanf(s+"\n", "%d.%d.%d.%s\n", &p.score, &p.n, &p.doc, &title); n < 3 {
		return p, false
	}
	raw, err := hex.DecodeString(title)
	p.title = string(raw)
	return p, err == nil
}

// facetCount counts one value of a facet.
type facetCount struct {
	n     int
	bytes int64
}

func (c *facetCount) add(r *fact) {
	c.n++
	c.bytes += r.size
}

// answer goes through the facts once. It counts what matches and returns the documents of the page.
func (f *facts) answer(q question) (catalog.Found, []uint32) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	found := catalog.Found{}
	m, possible := f.matcher(q)
	if !possible || q.none {
		return found, nil
	}
	hosts, types, sets := make([]facetCount, len(f.hosts.list)), make([]facetCount, len(f.types.list)), make([]facetCount, len(f.setOf))
	first := make([]place, 0, q.Limit+1)
	m.each(func(doc uint32, r *fact) {
		found.Total++
		if q.Facets {
			hosts[r.host].add(r)
			types[r.typ].add(r)
			sets[r.set].add(r)
		}
		p := m.place(doc, r)
		if len(first) > q.Limit { // most matches come after the page, and most of those by their figure alone
			last := &first[q.Limit]
			if p.score == last.score && p.n < last.n || p.compare(*last) > 0 {
				return
			}
		}
		if q.isNext && p.compare(q.mark) <= 0 {
			return
		}
		i, _ := slices.BinarySearchFunc(first, p, place.compare)
		if len(first) > q.Limit {
			first = first[:q.Limit]
		}
		first = slices.Insert(first, i, p)
	})
	docs := make([]uint32, 0, q.Limit)
	for _, p := range first[:min(q.Limit, len(first))] {
		docs = append(docs, p.doc)
	}
	if len(first) > q.Limit {
		found.Next = first[q.Limit-1].String()
	}
	if q.Facets {
		portals := make([]facetCount, len(f.portals.list))
		for set, t := range sets {
			for _, p := range f.setOf[set] {
				portals[p].n += t.n
				portals[p].bytes += t.bytes
			}
		}
		found.Hosts, found.Types, found.Portals = largest(f.hosts.list, hosts), largest(f.types.list, types), largest(f.portals.list, portals)
	}
	return found, docs
}

// largest returns the most frequent values of a facet, in order, without sorting the many others.
func largest(names []string, all []facetCount) (list []catalog.Count) {
	for i, t := range all {
		if t.n == 0 || names[i] == "" || len(list) == maxFacet && t.n < list[maxFacet-1].Count {
			continue
		}
		list = append(list, catalog.Count{Key: names[i], Count: t.n, Bytes: t.bytes})
		if len(list) > maxFacet {
			tallies.SortCounts(list)
			list = list[:maxFacet]
		}
	}
	tallies.SortCounts(list)
	return list
}

// matcher is a question in terms of the facts' numbers.
type matcher struct {
	facts         *facts
	q             question
	narrowed      wordindex.Set // the documents that words and dataset leave; nil: all
	sets          [][]bool      // for each word, the sets of portals whose title or address has it
	inPortal      []bool        // the sets with the portal asked for; nil: any
	host, typ     uint32
	outcome       uint32
	byHost, byTyp bool
	byOutcome     bool
}

// matcher translates a question; ok is false if nothing can match.
func (f *facts) matcher(q question) (m *matcher, ok bool) {
	m = &matcher{facts: f, q: q}
	host := strings.ToLower(q.Host)
	if _, known := f.hosts.find(host); host != "" && !known { // older records keep the host as their source spelled it
		host = address.HostGroup(host)
	}
	for _, narrow := range []struct {
		value  string
		among  *names
		number *uint32
		on     *bool
	}{{host, &f.hosts, &m.host, &m.byHost}, {strings.ToLower(q.Type), &f.types, &m.typ, &m.byTyp}, {string(q.Outcome), &f.outcomes, &m.outcome, &m.byOutcome}} {
		if narrow.value == "" {
			continue
		}
		var known bool
		if *narrow.number, known = narrow.among.find(narrow.value); !known {
			return nil, false
		}
		*narrow.on = true
	}
	if q.Portal != "" {
		m.inPortal = f.setsWith(func(portal string) bool { return portal == q.Portal })
	}
	if q.only != nil {
		m.narrowed = append(wordindex.Set{}, q.only...)
	}
	for _, w := range q.words {
		all := append(wordindex.Set{}, w.all...)
		var sets []bool
		if len(w.portals) > 0 {
			sets = f.setsWith(func(portal string) bool { return w.portals[portal] })
			for doc := range f.rows {
				if f.rows[doc].known && sets[f.rows[doc].set] {
					all.Put(uint32(doc))
				}
			}
		}
		m.sets = append(m.sets, sets)
		if m.narrowed == nil {
			m.narrowed = all
		} else {
			m.narrowed.Intersect(all)
		}
	}
	return m, true
}

// setsWith reports which sets contain a portal for which which is true.
func (f *facts) setsWith(which func(portal string) bool) []bool {
	sets := make([]bool, len(f.setOf))
	for i, portals := range f.setOf {
		sets[i] = slices.ContainsFunc(portals, func(p uint32) bool { return which(f.portals.list[p]) })
	}
	return sets
}

// each calls visit with every match.
func (m *matcher) each(visit func(doc uint32, r *fact)) {
	rows := m.facts.rows
	one := func(doc uint32) {
		if int(doc) >= len(rows) {
			return // committed after the facts were loaded
		}
		r := &rows[doc]
		if !r.known || m.byHost && r.host != m.host || m.byTyp && r.typ != m.typ || m.byOutcome && r.outcome != m.outcome || m.inPortal != nil && !m.inPortal[r.set] {
			return
		}
		visit(doc, r)
	}
	if m.narrowed != nil {
		m.narrowed.Each(one)
		return
	}
	for doc := range rows {
		one(uint32(doc))
	}
}

func (m *matcher) place(doc uint32, r *fact) place {
	p := place{doc: doc}
	switch m.q.Sort {
	case "versions":
		p.n = int64(r.versions)
	case "size":
		p.n = r.size
	case "title":
		p.title = r.title
	case "changed":
		p.n = r.changed
	default:
		p.n = r.changed
		p.score = m.score(doc, r)
	}
	return p
}

// score sums up the best score of each word.
func (m *matcher) score(doc uint32, r *fact) (score int) {
	for i, w := range m.q.words {
		best := 0
		for _, h := range w.hits {
			if h.score > best && h.docs.Has(doc) {
				best = h.score
			}
		}
		if best < worthPortal && m.sets[i] != nil && m.sets[i][r.set] {
			best = worthPortal
		}
		score += best
	}
	if m.q.isName && doc == m.q.named {
		score += worthName
	}
	return score
}
