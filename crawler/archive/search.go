package archive

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/catalog"
)

// maxFacet bounds how many values of one facet an answer lists.
const maxFacet = 50

// Search finds resources. The narrowest index that the question allows is read; what it gives is filtered, counted for
// the facets and sorted in memory.
func (a *Archive) Search(ctx context.Context, s catalog.Search) (catalog.Found, error) {
	if s.Limit <= 0 {
		s.Limit = 25
	}
	words := strings.Fields(strings.ToLower(s.Text))
	var all []catalog.Resource
	portals, hosts, types := counter{}, counter{}, counter{}
	err := a.candidates(ctx, s, func(r catalog.Resource) bool {
		if matches(r, s, words) {
			all = append(all, r)
			for _, p := range r.Portals {
				portals.add(p, r)
			}
			hosts.add(r.Host, r)
			types.add(r.MediaType, r)
		}
		return true
	})
	if err != nil {
		return catalog.Found{}, err
	}
	slices.SortFunc(all, order(s.Sort))
	found := catalog.Found{Total: len(all), Portals: portals.top(), Hosts: hosts.top(), Types: types.top()}
	start, _ := strconv.Atoi(s.After) // a page mark that is none gives the first page
	start = min(max(start, 0), len(all))
	end := min(start+s.Limit, len(all))
	found.Resources = slices.Clone(all[start:end])
	if end < len(all) {
		found.Next = strconv.Itoa(end)
	}
	return found, nil
}

func (a *Archive) candidates(ctx context.Context, s catalog.Search, f func(catalog.Resource) bool) error {
	switch {
	case s.Dataset != "":
		return a.each(ctx, key(tableByDataset, s.Dataset, ""), nil, f)
	case s.Host != "":
		return a.ResourcesOfHost(ctx, s.Host, "", f)
	case s.Portal != "":
		seen := map[string]bool{} // a resource stands there once for each dataset
		return a.each(ctx, key(tableByPortal, s.Portal, ""), nil, func(r catalog.Resource) bool {
			again := seen[r.ID]
			seen[r.ID] = true
			return again || f(r)
		})
	case s.Type != "":
		return a.ResourcesOfType(ctx, s.Type, "", f)
	}
	return a.Resources(ctx, "", f)
}

func matches(r catalog.Resource, s catalog.Search, words []string) bool {
	if s.Portal != "" && !slices.Contains(r.Portals, s.Portal) || s.Host != "" && !strings.EqualFold(r.Host, s.Host) ||
		s.Type != "" && r.MediaType != s.Type || s.Outcome != "" && r.Outcome != s.Outcome {
		return false
	}
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(strings.Join([]string{r.Title, r.DatasetTitle, r.FileName, r.URL, r.Format, r.MediaType, strings.Join(r.Portals, " ")}, "\n"))
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// order compares two resources: the one to show first is the lesser.
func order(by string) func(a, b catalog.Resource) int {
	first := func(a, b catalog.Resource) int { return b.Changed.Compare(a.Changed) }
	switch by {
	case "versions":
		first = func(a, b catalog.Resource) int { return b.Versions - a.Versions }
	case "size":
		first = func(a, b catalog.Resource) int { return cmp.Compare(b.Size, a.Size) }
	case "title":
		first = func(a, b catalog.Resource) int {
			return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
		}
	}
	return func(a, b catalog.Resource) int {
		if n := first(a, b); n != 0 {
			return n
		}
		return strings.Compare(a.URL, b.URL)
	}
}

type counter map[string]catalog.Count

func (c counter) add(what string, r catalog.Resource) {
	if what == "" {
		return
	}
	n := c[what]
	n.Key = what
	n.Count++
	n.Bytes += r.Size
	c[what] = n
}

func (c counter) top() []catalog.Count {
	all := make([]catalog.Count, 0, len(c))
	for _, n := range c {
		all = append(all, n)
	}
	byCount(all)
	return all[:min(len(all), maxFacet)]
}
