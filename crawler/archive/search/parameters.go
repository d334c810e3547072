package search

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/catalog"
)

// Sorts are the orders of results, the values of Search.Sort.
func Sorts() []string { return []string{"", "changed", "versions", "size", "rows", "title"} }

// Parameters reads a search from the parameters of an address: q, type, portal, dataset, host, licence, publisher,
// outcome, since, before, size, rows, sort and after. A type without a "/" is one as people write it. Errors are of
// type
// *catalog.QuestionError.
func Parameters(q url.Values, now time.Time) (s catalog.Search, err error) {
	s = catalog.Search{Text: strings.TrimSpace(q.Get("q")), Portal: q.Get("portal"), Dataset: q.Get("dataset"), Host: q.Get("host"),
		Type: q.Get("type"), Licence: q.Get("licence"), Publisher: q.Get("publisher"),
		Outcome: catalog.Outcome(q.Get("outcome")), Sort: q.Get("sort"), After: q.Get("after")}
	if s.Licence == "" {
		s.Licence = q.Get("license")
	}
	if s.Type != "" && !strings.Contains(s.Type, "/") {
		s.Text = strings.TrimSpace(s.Text + ` type:"` + strings.ReplaceAll(s.Type, `"`, " ") + `"`)
		s.Type = ""
	}
	for name, to := range map[string]*time.Time{"since": &s.Since, "before": &s.Before} {
		if v := q.Get(name); v != "" {
			if *to, err = parseDay(v, now); err != nil {
				return s, err
			}
		}
	}
	for name, to := range map[string]*catalog.Range{"size": &s.Size, "rows": &s.Rows} {
		if v := q.Get(name); v != "" {
			least, most, err := parseRange(v)
			if err != nil {
				return s, err
			}
			*to = catalog.Range{Least: least, Most: max(most, 0)}
		}
	}
	if !slices.Contains(Sorts(), s.Sort) {
		return s, catalog.BadQuestion("“%s” is not an order: expected changed, versions, size, rows or title.", shown(s.Sort))
	}
	return s, nil
}

// Query returns a SPARQL query, without prefixes, for the files that a search finds, the best first.
func Query(s catalog.Search) string {
	text := strings.NewReplacer("\\", "\\\\", `"`, `\"`, "\n", " ", "\r", " ", "\x00", " ").Replace(Text(s))
	return fmt.Sprintf("SELECT ?file ?score WHERE {\n  ?file arc:search (\"%s\" ?score) .\n} ORDER BY DESC(?score)", text)
}
