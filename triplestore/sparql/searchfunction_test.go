package sparql_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

func TestASearchInAQueryFindsWhatTheSearchFinds(t *testing.T) {
	t.Parallel()
	s := tripleStore(t, triplestore.Options{})
	for _, n := range []string{"a", "b", "c"} {
		insert(t, s, term.Quad{S: term.IRI("http://example.org/" + n), P: term.IRI(vocab.DCTTitle), O: term.String("title " + n)})
	}
	asked := 0
	engine := sparql.New(sparql.Options{Find: func(ctx context.Context, text string, limit int) ([]sparql.Hit, int, error) {
		asked++
		switch text {
		case "bad":
			return nil, 0, fmt.Errorf("%w: a sentence", sparql.ErrArguments)
		case "broken":
			return nil, 0, errors.New("the disk is gone")
		case "many":
			return make([]sparql.Hit, limit), 60_000, nil
		case "wien":
			all := []sparql.Hit{{IRI: "http://example.org/b", Score: 2.5}, {IRI: "http://example.org/a", Score: 1},
				{IRI: "http://example.org/unknown", Score: 0.5}}
			return all[:min(limit, len(all))], len(all), nil
		}
		return nil, 0, nil
	}})
	rows := func(query string) (string, error) {
		sn := s.Snapshot()
		defer sn.Release()
		r, err := engine.Query(t.Context(), sn,
			"PREFIX arc: <https://archiver.ai.wu.ac.at/ns/csvw#> PREFIX dct: "+
				"<http://purl.org/dc/terms/> PREFIX ex: <http://example.org/>\n"+query, sparql.QueryOptions{})
		if err != nil {
			return "", err
		}
		defer r.Close()
		var list []string
		for {
			row, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return "", err
			}
			var line []string
			for _, k := range row {
				line = append(line, strings.TrimPrefix(k.Value(), "http://example.org/"))
			}
			list = append(list, strings.Join(line, " "))
		}
		return strings.Join(list, ", "), nil
	}
	for query, want := range map[string]string{
		`SELECT ?f { ?f arc:search "wien" }`:                                                                     "b, a, unknown",
		`SELECT ?f ?s { ?f arc:search ("wien" ?s) } ORDER BY DESC(?s)`:                                           "b 2.5, a 1, unknown 0.5",
		`SELECT ?f { ?f arc:search ("wien" 1) }`:                                                                 "b",
		`SELECT ?f ?t { ?f arc:search "wien" ; dct:title ?t } ORDER BY ?f`:                                       "a title a, b title b",
		`SELECT ?s { ex:a arc:search ("wien" ?s) }`:                                                              "1",
		`SELECT (COUNT(*) AS ?n) { ex:c arc:search "wien" }`:                                                     "0",
		`SELECT ?f { ?f arc:search "nothing" }`:                                                                  "",
		`SELECT ?f { ?f dct:title ?t FILTER NOT EXISTS { ?f arc:search "wien" } }`:                               "c",
		`SELECT ?f { { ?f arc:search "wien" } UNION { ?f dct:title "title c" } } ORDER BY ?f`:                    "a, b, c, unknown",
		`SELECT (COUNT(*) AS ?n) { ?f dct:title ?t OPTIONAL { ?f arc:search ("wien" ?s) } }`:                     "3",
		`SELECT ?f ?s { ?f dct:title ?t OPTIONAL { ?f arc:search ("wien" ?s) } FILTER (bound(?s)) } ORDER BY ?f`: "a 1, b 2.5",
	} {
		if got, err := rows(query); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", query, got, err, want)
		}
	}
	for query, want := range map[string]string{
		`SELECT * { ?f arc:search "bad" }`:               "a sentence",
		`SELECT * { ?f arc:search "many" }`:              "60000, more than 50000",
		`SELECT * { ?f arc:search ?text }`:               "not a variable",
		`SELECT * { ?f arc:search ("wien" ?f) }`:         "twice",
		`SELECT * { ?f arc:search ("wien" ?a ?b) }`:      "at most one variable",
		`SELECT * { ?f arc:search ("wien" dct:title) }`:  "expected a text",
		`SELECT * { GRAPH ?g { ?f arc:search "wien" } }`: "in no graph",
		`SELECT * { (?f ?g) arc:search "wien" }`:         "one node",
	} {
		if _, err := rows(query); !errors.Is(err, sparql.ErrArguments) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", query, err)
		}
	}
	if _, err := rows(`SELECT * { ?f arc:search "broken" }`); err == nil || errors.Is(err, sparql.ErrArguments) {
		t.Errorf("a failure of the search: %v", err)
	}
	if got, err := rows(`SELECT (COUNT(*) AS ?n) { ?f arc:search ("many" 5) }`); got != "5" || err != nil {
		t.Errorf("a limit: %s, %v", got, err)
	}
	sn := s.Snapshot()
	defer sn.Release()
	if _, err := sparql.New(sparql.Options{}).Query(t.Context(), sn, `SELECT * { ?f <https://archiver.ai.wu.ac.at/ns/csvw#search> "wien" }`,
		sparql.QueryOptions{}); !errors.Is(err, sparql.ErrArguments) {
		t.Errorf("nothing to search: %v", err)
	}
}
