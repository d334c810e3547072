package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"odarchive/sparqlapi/answer"
	"odarchive/vocab"
)

// console answers GET /console?query= with the query editor, which without script is a form that posts to /sparql.
func (u *UI) console(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query().Get("query")
	if query == "" {
		query = u.examples[0].Query
	}
	page := struct {
		Query    string
		Examples []Example
		JSON     string // examples, for the script
	}{Query: query, Examples: u.examples}
	raw, err := json.Marshal(u.examples)
	if err != nil {
		return fmt.Errorf("ui: examples: %w", err)
	}
	page.JSON = string(raw)
	return u.render(w, r, http.StatusOK, "console",
		view{Title: "SPARQL console", Page: page, Scripts: []string{"console.js"}, Styles: []string{"console.css"}, Wide: true})
}

// words are what the editor completes: the store's prefixes, classes and predicates, with counts.
type words struct {
	Prefixes   map[string]string `json:"prefixes"`
	Classes    []word            `json:"classes"`
	Predicates []word            `json:"predicates"`
}

type word struct {
	IRI   string `json:"iri"`
	Count int64  `json:"count"`
}

// completions caches the answers of two queries that read the whole store.
type completions struct {
	mu    sync.Mutex // guards words and at; held during the queries, so that they run once
	words words
	at    time.Time
}

const (
	completionFresh = 5 * time.Minute
	completionTime  = 5 * time.Second
)

// completion answers GET /completion.json. Words that cannot be counted in time are left out; the editor works without
// them.
func (u *UI) completion(w http.ResponseWriter, r *http.Request) error {
	c := &u.completions
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := u.now(); c.words.Prefixes == nil || now.Sub(c.at) > completionFresh || now.Before(c.at) {
		c.words = words{Prefixes: vocab.Prefixes(),
			Classes: u.counted(r.Context(),
				"SELECT ?term (COUNT(*) AS ?n) WHERE { ?s a ?term } GROUP BY ?term ORDER BY DESC(?n) LIMIT 500"),
			Predicates: u.counted(r.Context(),
				"SELECT ?term (COUNT(*) AS ?n) WHERE { ?s ?term ?o } GROUP BY ?term ORDER BY DESC(?n) LIMIT 1000")}
		c.at = now
	}
	w.Header().Set("Cache-Control", "max-age=60")
	return answer.JSON(w, r, c.words)
}

func (u *UI) counted(ctx context.Context, query string) []word {
	list := []word{}
	if u.query == nil {
		return list
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	rows, err := u.query(ctx, query, 1000)
	if err != nil {
		u.log.WarnContext(ctx, "words for the console left out", "err", err)
		return list
	}
	for _, row := range rows.Rows {
		n, err := strconv.ParseInt(row[1].Value(), 10, 64)
		if err == nil {
			list = append(list, word{row[0].Value(), n})
		}
	}
	return list
}
