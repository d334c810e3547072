package search

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/archive/tallies"
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

func (c *facetCount) add(size int64) {
	c.n++
	c.bytes += size
}

// answer goes through the facts once. It counts what matches and returns the places of the documents of the page.
func (f *facts) answer(q question) (catalog.Found, []place) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	found := catalog.Found{}
	m, possible := f.matcher(q)
	if !possible || q.none {
		return found, nil
	}
	var counts *counter
	if q.Facets {
		counts = newCounter(f, q)
	}
	first := make([]place, 0, min(q.Limit, maxPage)+1)
	m.each(func(doc uint32, r *fact, figures *figures) {
		found.Total++
		if counts != nil {
			counts.add(r, figures)
		}
		p := m.place(doc, r, figures)
		if len(first) > q.Limit { // most matches come after the page, and most of those by their figure alone
			last := &first[q.Limit]
			if p.score < last.score || p.score == last.score && p.n < last.n || p.compare(*last) > 0 {
				return
			}
		}
		if q.isNext && p.compare(q.mark) <= 0 {
			return
		}
		if q.Limit > maxPage { // all that there are: sorted at the end
			first = append(first, p)
			return
		}
		i, _ := slices.BinarySearchFunc(first, p, place.compare)
		if len(first) > q.Limit {
			first = first[:q.Limit]
		}
		first = slices.Insert(first, i, p)
	})
	if q.Limit > maxPage {
		slices.SortFunc(first, place.compare)
	}
	if len(first) > q.Limit {
		found.Next = first[q.Limit-1].String()
		first = first[:q.Limit]
	}
	if counts != nil {
		counts.report(&found)
	}
	return found, first
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
