package ui

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/archive/search"
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
	Sort   []sortLink
	Zip    string // query for the latest versions of the files found, or ""
	JSON   string // address of the same as JSON
	Hits   []searchHit
	Wrong  string // why the text is not a search
}

// searchHit is a file that a search found.
type searchHit struct {
	listed
	catalog.About
	Portal string // IRI of the portal that lists it, "" for none
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
	s, err := search.Parameters(q, u.now())
	s.Limit, s.Facets = 25, true
	status, page := http.StatusOK, searchPage{Search: s}
	if err == nil {
		page.Found, err = u.archive.Search(r.Context(), s)
	}
	var bad *catalog.QuestionError
	if errors.As(err, &bad) {
		status, page.Wrong, err = http.StatusBadRequest, bad.Why, nil
		s = catalog.Search{Text: cut(s.Text, 100)} // the page has it in many places
		page.Search, q = s, url.Values{"q": {s.Text}}
	}
	if err != nil {
		return err
	}
	found := page.Found
	for _, f := range list(found.Resources, found.Columns) {
		hit := searchHit{listed: f, About: found.About[f.ID]}
		if len(f.Portals) > 0 {
			hit.Portal = f.Portals[0]
		}
		page.Hits = append(page.Hits, hit)
	}
	page.Chosen = chosenOf(q, s)
	page.Facets = facets(found, q, s, u.now())
	if found.Gone > 0 && found.Gone < found.Total {
		page.Facets = append(page.Facets,
			facet{Name: "At the source",
				Lines: []facetLine{
					{catalog.Count{Key: "yes", Label: "gone or failing", Count: found.Gone},
						with(q, "q", strings.TrimSpace(s.Text+" gone:yes"))}}})
	}
	for _, o := range []struct{ key, name string }{{"", "Best first"}, {"changed", "Last changed"}, {"versions", "Most versions"},
		{"size", "Largest"}, {"rows", "Most rows"}, {"title", "Title"}} {
		page.Sort = append(page.Sort, sortLink{o.name, with(q, "sort", o.key), o.key == s.Sort})
	}
	if found.Total > 0 {
		page.Zip = searchQuery(s)
	}
	page.JSON = "/api/v1" + with(q, "after", "")
	if found.Next != "" {
		page.Next = with(q, "after", found.Next)
	}
	title := "Search"
	if s.Text != "" {
		title = cut(s.Text, 100) + " – search"
	}
	v := view{Title: title, Query: cut(s.Text, maxShownText), Page: page}
	if !found.Partly && page.Wrong == "" { // a feed has what has all words
		v.Feed = feedOfSearch(s)
	}
	return u.render(w, r, status, "search", v)
}

// maxShownText is the maximum length of a search text that is shown again, in characters.
const maxShownText = 2000

// chosenOf returns the active filters.
func chosenOf(q url.Values, s catalog.Search) (list []chosen) {
	for _, c := range []struct{ name, key, value string }{
		{"Portal", "portal", s.Portal}, {"Dataset", "dataset", s.Dataset}, {"Host", "host", s.Host}, {"Type", "type", q.Get("type")},
		{"Licence", "licence", s.Licence}, {"Publisher", "publisher", s.Publisher},
		{"Outcome", "outcome", string(s.Outcome)}, {"Changed since", "since", q.Get("since")},
		{"Changed before", "before", q.Get("before")}, {"Size", "size", sizeWords(s.Size)}, {"Rows", "rows", rowWords(s.Rows)},
	} {
		if c.value == "" {
			continue
		}
		value := c.value
		if c.key == "type" {
			value = shortType(value)
		}
		list = append(list, chosen{c.name, cut(value, 80), with(q, c.key, "")})
	}
	return list
}

func sizeWords(r catalog.Range) string {
	return rangeWords(r, func(n int64) string { return humanBytes(n) })
}

func rowWords(r catalog.Range) string {
	return rangeWords(r, func(n int64) string { return humanCount(n) })
}

// rangeWords returns a range in words, "" if it has no bounds. A bound like 9,999 is one below a round number.
func rangeWords(r catalog.Range, words func(int64) string) string {
	switch {
	case r.Least <= 1 && r.Most > 0:
		return "below " + words(r.Most+1)
	case r.Least > 0 && r.Most > 0:
		return words(r.Least) + " – " + words(r.Most+1)
	case r.Least == 1:
		return "any"
	case r.Least > 0:
		return words(r.Least) + " and more"
	}
	return ""
}

// maxLines is the maximum number of values of one facet that a page lists.
const maxLines = 8

// facets returns links that narrow a search. q holds its present parameters.
func facets(found catalog.Found, q url.Values, s catalog.Search, now time.Time) (groups []facet) {
	for _, f := range []struct {
		name, key string
		counts    []catalog.Count
		on        bool
	}{
		{"Type", "type", found.Types, q.Get("type") != ""}, {"Changed", "since", found.Ages, q.Get("since") != ""},
		{"Portal", "portal", found.Portals, s.Portal != ""}, {"Publisher", "publisher", found.Publishers, s.Publisher != ""},
		{"Licence", "licence", found.Licences, s.Licence != ""}, {"Rows", "rows", found.TableRows, q.Get("rows") != ""},
		{"Size", "size", found.Sizes, q.Get("size") != ""}, {"Host", "host", found.Hosts, s.Host != ""},
	} {
		if f.on || len(f.counts) == 0 || len(f.counts) == 1 && f.counts[0].Count == found.Total {
			continue
		}
		group := facet{Name: f.name}
		for _, c := range f.counts[:min(maxLines, len(f.counts))] {
			c.Key, c.Label = facetWords(f.key, c, now)
			group.Lines = append(group.Lines, facetLine{c, with(q, f.key, c.Key)})
		}
		groups = append(groups, group)
	}
	return groups
}

// facetWords returns the value of a parameter that a count of a facet stands for, and what it is called.
func facetWords(key string, c catalog.Count, now time.Time) (value, label string) {
	switch key {
	case "type":
		if c.Label == "" {
			return c.Key, shortType(c.Key)
		}
	case "since":
		days, err := strconv.Atoi(c.Key)
		if err != nil {
			break
		}
		words := map[int]string{1: "in the last day", 7: "in the last week", 30: "in the last month", 90: "in the last 3 months",
			365: "in the last year"}[days]
		return now.UTC().AddDate(0, 0, -days).Format("2006-01-02"), words
	case "size", "rows":
		low, high, _ := strings.Cut(c.Key, "..")
		var r catalog.Range
		r.Least, _ = strconv.ParseInt(low, 10, 64)
		r.Most, _ = strconv.ParseInt(high, 10, 64)
		if key == "size" {
			return c.Key, sizeWords(r)
		}
		return c.Key, rowWords(r)
	}
	return c.Key, c.Label
}

// searchQuery returns a query for the files of a search, "" for one that selects nothing.
func searchQuery(s catalog.Search) string {
	if plain := facetQuery(s); plain != "" {
		return plain
	}
	if search.Text(s) == "" {
		return ""
	}
	return withPrefixes(search.Query(s))
}

// facetQuery returns a query for the files of a search by facets that are triples, however many there are. It returns
// "" for other searches.
func facetQuery(s catalog.Search) string {
	if s.Text != "" || s.Outcome != "" || s.Licence != "" || s.Publisher != "" || !s.Since.IsZero() || !s.Before.IsZero() ||
		s.Size != (catalog.Range{}) || s.Rows != (catalog.Range{}) {
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
