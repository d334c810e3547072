package portalwatch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/harvest/portalapi"
	harvestsparql "odarchive/crawler/harvest/sparql"
	"odarchive/vocab"
)

// nameOf returns the IRI of a portal, whatever stands at the end of its name: a bare host ends with a slash, as the
// other kinds of harvest name it, anything else with none.
func nameOf(portal string) string { return portalapi.IRI(strings.TrimRight(portal, "/")) }

// weekOf returns the number of the week (YYWW) of a graph and the graph of the registry that it belongs to, "" if it is
// no week. Copies of Portal Watch name the graphs under either scheme.
func weekOf(graph string) (week, registryGraph string) {
	at := strings.LastIndexByte(graph, '/')
	_, name, _ := strings.Cut(registry, ":")
	if scheme, rest, _ := strings.Cut(graph[:max(at, 0)], ":"); rest == name && (scheme == "http" || scheme == "https") {
		if week = graph[at+1:]; len(week) == 4 && strings.Trim(week, "0123456789") == "" {
			return week, graph[:at]
		}
	}
	return "", ""
}

// weeks returns the graphs with snapshots, the newest first. If none has the name of a week, the last graph with
// datasets is the only one.
func (c *client) weeks(ctx context.Context) ([]string, error) {
	var others []string
	for _, pattern := range []string{"?activity <" + odpw + "snapshot> ?week", "?portal <" + vocab.DCATDatasetProp + "> ?dataset"} {
		graphs, err := c.walk("", "GRAPH ?thing { "+pattern+" }").Things(ctx)
		if err != nil {
			return nil, err
		}
		var weeks []string
		others = nil
		for _, graph := range graphs {
			if week, _ := weekOf(graph); week != "" {
				weeks = append(weeks, graph)
			} else if harvestsparql.IsIRI(graph) {
				others = append(others, graph)
			}
		}
		if len(weeks) > 0 {
			slices.SortFunc(weeks, func(a, b string) int {
				weekA, _ := weekOf(a)
				weekB, _ := weekOf(b)
				return cmp.Or(strings.Compare(weekB, weekA), strings.Compare(b, a))
			})
			return weeks, nil
		}
	}
	if len(others) == 0 {
		return nil, fmt.Errorf("%s has no graph in which a portal has datasets (dcat:dataset)", c.endpoint.URL)
	}
	last := others[len(others)-1]
	if len(others) > 1 {
		c.out.Skip(fmt.Sprintf("%d graphs have datasets of portals, and none is named as a week (%s/YYWW): only %s is read",
			len(others), registry, last))
	}
	return []string{last}, nil
}
