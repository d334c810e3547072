package data

import (
	"cmp"
	"slices"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
)

// Facet is a column with few values, and how often each occurs in the rows that fulfil the condition.
type Facet struct {
	Column string       `json:"column"`
	Values []FacetValue `json:"values"`         // most frequent first, as they stand in the file
	More   bool         `json:"more,omitempty"` // there are others, which are rarer
}

// FacetValue is a value of a Facet.
type FacetValue struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

// Limits of facets.
const (
	maxFacets      = 8
	maxFacetValues = 10  // that are shown
	maxFacetCounts = 200 // that are counted
	maxDistinct    = 100 // in a column that has facets
)

// facetCount counts the values of a column.
type facetCount struct {
	at     int
	counts map[string]int64
	over   bool // there are too many to count
}

// facetColumns returns the indexes of the columns whose values are worth counting.
func facetColumns(p *csvprofile.Profile) (list []int) {
	for i, c := range p.Columns {
		switch c.Datatype {
		case "decimal", "double", "dateTime", "time":
			continue
		}
		if c.Distinct > 1 && c.Distinct <= maxDistinct && !c.Unique && c.MaxLen <= 100 && len(list) < maxFacets {
			list = append(list, i)
		}
	}
	return list
}

// known returns the facets of a whole table, which its profile has.
func knownFacets(p *csvprofile.Profile) []Facet {
	list := []Facet{}
	for _, i := range facetColumns(p) {
		c := p.Columns[i]
		if len(c.Top) == 0 {
			continue
		}
		f := Facet{Column: c.Name, More: c.Distinct > int64(min(len(c.Top), maxFacetValues))}
		for _, t := range c.Top[:min(len(c.Top), maxFacetValues)] {
			f.Values = append(f.Values, FacetValue(t))
		}
		list = append(list, f)
	}
	return list
}

func (f *facetCount) add(cells [][]byte) {
	if f.at >= len(cells) || len(cells[f.at]) == 0 {
		return
	}
	if n, ok := f.counts[string(cells[f.at])]; ok {
		f.counts[string(cells[f.at])] = n + 1
		return
	}
	if len(f.counts) >= maxFacetCounts || len(cells[f.at]) > 1000 {
		f.over = true
		return
	}
	f.counts[string(cells[f.at])] = 1
}

// result returns the counted values. Words without a value and spaces around one do not count.
func (f *facetCount) result(c *column) Facet {
	counts := map[string]int64{}
	for cell, n := range f.counts {
		if text := strings.TrimSpace(textOf([]byte(cell))); text != "" && !slices.Contains(c.nulls, text) {
			counts[text] += n
		}
	}
	out := Facet{Column: c.name, Values: []FacetValue{}, More: f.over}
	for text, n := range counts {
		out.Values = append(out.Values, FacetValue{text, n})
	}
	slices.SortFunc(out.Values, func(a, b FacetValue) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	if len(out.Values) > maxFacetValues {
		out.Values, out.More = slices.Clip(out.Values[:maxFacetValues]), true
	}
	return out
}
