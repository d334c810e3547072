package ui

import (
	"maps"
	"net/http"
	"net/url"
	"strings"

	"odarchive/crawler/catalog"
)

// facet is a group of links that narrow a search.
type facet struct {
	Name  string // for people
	Lines []facetLine
}

type facetLine struct {
	catalog.Count
	Href string
}

// chosen is an active filter, with the address of the page without it.
type chosen struct{ Name, Value, Href string }

type searchPage struct {
	Search catalog.Search
	Found  catalog.Found
	Facets []facet
	Chosen []chosen
	Next   string // address of the next page
	Portal string // title of the portal, if the search is limited to one
	Sort   []sortLink
	Zip    string // query for the latest versions of the files found, or ""
	Files  []listed
}

// listed is a resource in a list, with the columns of it that match the search.
type listed struct {
	catalog.Resource
	Columns []string
}

func list(resources []catalog.Resource, columns map[string][]string) []listed {
	lines := make([]listed, len(resources))
	for i, r := range resources {
		lines[i] = listed{r, columns[r.ID]}
	}
	return lines
}

type sortLink struct {
	Name, Href string
	Current    bool
}

// maxQuestion is the maximum length of a search text, in characters.
const maxQuestion = 300

// cut returns the first n characters of s.
func cut(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n])
	}
	return s
}

// search answers GET /search: resources by text and facets. The address contains the whole state of the page.
func (u *UI) search(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	s := catalog.Search{Text: cut(q.Get("q"), maxQuestion), Portal: q.Get("portal"), Dataset: q.Get("dataset"), Host: q.Get("host"), Type: q.Get("type"),
		Outcome: catalog.Outcome(q.Get("outcome")), Sort: q.Get("sort"), After: q.Get("after"), Limit: 25, Facets: true}
	found, err := u.archive.Search(r.Context(), s)
	if err != nil {
		return err
	}
	page := searchPage{Search: s, Found: found, Files: list(found.Resources, found.Columns)}
	for _, c := range []struct{ name, key, value string }{
		{"Portal", "portal", s.Portal}, {"Dataset", "dataset", s.Dataset}, {"Host", "host", s.Host}, {"Type", "type", s.Type}, {"Outcome", "outcome", string(s.Outcome)},
	} {
		if c.value != "" {
			value := c.value
			if c.key == "type" {
				value = shortType(value)
			}
			page.Chosen = append(page.Chosen, chosen{c.name, value, with(q, c.key, "")})
		}
	}
	page.Facets = facets(found, q, s)
	for _, o := range []struct{ key, name string }{{"", "Best first"}, {"changed", "Last changed"}, {"versions", "Most versions"}, {"size", "Largest"}, {"title", "Title"}} {
		page.Sort = append(page.Sort, sortLink{o.name, with(q, "sort", o.key), o.key == s.Sort})
	}
	page.Zip = searchQuery(s)
	if found.Next != "" {
		page.Next = with(q, "after", found.Next)
	}
	title := "Search"
	if s.Text != "" {
		title = s.Text + " – search"
	}
	return u.render(w, r, http.StatusOK, "search", view{Title: title, Query: s.Text, Page: page, Feed: feedOfSearch(s)})
}

// facets returns links that narrow a search. q holds its present parameters.
func facets(found catalog.Found, q url.Values, s catalog.Search) (groups []facet) {
	for _, f := range []struct {
		name, key string
		counts    []catalog.Count
		on        bool
	}{
		{"Type", "type", found.Types, s.Type != ""}, {"Portal", "portal", found.Portals, s.Portal != ""}, {"Host", "host", found.Hosts, s.Host != ""},
	} {
		if f.on || len(f.counts) < 2 {
			continue
		}
		group := facet{Name: f.name}
		for _, c := range f.counts[:min(12, len(f.counts))] {
			if c.Label == "" && f.key == "type" {
				c.Label = shortType(c.Key)
			}
			group.Lines = append(group.Lines, facetLine{c, with(q, f.key, c.Key)})
		}
		groups = append(groups, group)
	}
	return groups
}

// searchQuery returns a query for the files of a search that has only facets. It returns "" for a search with words,
// because a query would not find exactly the same, and for one without facets.
func searchQuery(s catalog.Search) string {
	if s.Text != "" || s.Outcome != "" {
		return ""
	}
	var where strings.Builder
	if s.Portal != "" {
		where.WriteString("  ?file arc:hasPortal <" + iriText(s.Portal) + "> .\n")
	}
	if s.Dataset != "" {
		where.WriteString("  <" + iriText(s.Dataset) + "> dcat:distribution ?file .\n")
	}
	if s.Host != "" {
		where.WriteString("  ?file arc:host " + literal(s.Host) + " .\n")
	}
	if s.Type != "" {
		where.WriteString("  ?file dcat:mediaType " + literal(s.Type) + " .\n")
	}
	if where.Len() == 0 {
		return ""
	}
	return withPrefixes("SELECT DISTINCT ?file WHERE {\n  ?file a dcat:Distribution .\n" + where.String() + "}")
}

// literal quotes a stranger's string for a query.
func literal(s string) string {
	return `"` + strings.NewReplacer("\\", "\\\\", `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(s) + `"`
}

// with returns the address of the search with one parameter set, or removed if value is "". The new search starts at
// its first page.
func with(q url.Values, key, value string) string {
	next := maps.Clone(q)
	if next == nil {
		next = url.Values{}
	}
	next.Del("after")
	if value == "" {
		next.Del(key)
	} else {
		next.Set(key, value)
	}
	if len(next) == 0 {
		return "/search"
	}
	return "/search?" + next.Encode()
}
