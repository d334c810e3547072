package main

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/results"
	"odarchive/ui/docs"
)

// visitsOfTwo is an archive of two files: both failed twice, and one is back. Each outcome is found twice.
func visitsOfTwo(t *testing.T) *app.Node {
	t.Helper()
	cfg := config.Defaults()
	cfg.Data, cfg.Base = t.TempDir(), "http://archive.example/"
	n, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)
	for _, name := range []string{"lost", "back"} {
		seed := catalog.Seed{URL: "http://city.example/" + name + ".csv", Portal: "http://city.example/"}
		_, err := n.Archive.Register(t.Context(), day, archive.Listing{Seeds: []catalog.Seed{seed}}, nil)
		for i := range 6 {
			at := day.Add(time.Duration(i) * 24 * time.Hour)
			act := catalog.Activity{URL: seed.URL, Start: at, End: at.Add(time.Second), Outcome: catalog.Archived, Status: 200}
			visit := archive.Visit{Activity: act}
			if i >= 2 && (i < 4 || name == "lost") {
				visit.Activity.Outcome, visit.Activity.ErrorClass, visit.Activity.Status, visit.Activity.Why = catalog.NoVersion,
					catalog.ErrHTTPStatus, 404, "404 Not Found"
			} else {
				ref, putErr := n.Archive.Bytes().Put(t.Context(), strings.NewReader("a,b\n1,"+name+"\n"), content.PutOptions{})
				visit.Kept, err = &archive.Kept{Ref: ref, Type: "text/csv"}, errors.Join(err, putErr)
			}
			_, commitErr := n.Archive.Commit(t.Context(), visit, nil)
			err = errors.Join(err, commitErr)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func TestQueriesOfTheDocumentationAnswerAsIfEachVisitWereKept(t *testing.T) {
	t.Parallel()
	library, err := docs.New()
	if err != nil {
		t.Fatal(err)
	}
	n := visitsOfTwo(t)
	for _, c := range []struct {
		page, part string // the block that has the part
		has, not   []string
	}{
		{"howto/journalist", `arc:outcome "no-version"`, []string{"lost.csv,2026-11-03T06:00:00.000Z,2026-11-06T06:00:01.000Z"},
			[]string{"back.csv"}},
		{"howto/portal-operator", "arc:errorClass ?class", []string{"lost.csv,2026-11-03T06:00:00.000Z"}, []string{"back.csv"}},
		{"howto/left-alone", `FILTER STRSTARTS(?host, "city.example")`, []string{
			"lost.csv,2026-11-03T06:00:00.000Z,2026-11-06T06:00:01.000Z,4,no-version",
			"back.csv,2026-11-03T06:00:00.000Z,2026-11-04T06:00:01.000Z,2,no-version",
			"back.csv,2026-11-05T06:00:00.000Z,2026-11-06T06:00:01.000Z,2,unchanged",
			"back.csv,2026-11-01T06:00:00.000Z,2026-11-01T06:00:01.000Z,1,archive",
		}, nil},
		{"howto/researcher", "?class", []string{"lost.csv,2026-11-03T06:00:00.000Z,2026-11-06T06:00:01.000Z,4,no-version"},
			[]string{"unchanged"}},
	} {
		query := ""
		for _, code := range library.Page(c.page).Code() {
			if strings.Contains(code.Text, c.part) && strings.Contains(code.Text, "SELECT") {
				query = code.Text
			}
		}
		if _, quoted, ok := strings.Cut(query, "'"); ok { // in a command
			query, _, _ = strings.Cut(quoted, "'")
		}
		var out bytes.Buffer
		if err := n.WriteQuery(t.Context(), query, faces.QueryFormat{Rows: results.CSV, Graph: rdfio.Turtle()}, &out); err != nil {
			t.Errorf("%s: %v\n%s", c.page, err, query)
			continue
		}
		for _, text := range c.has {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: no row with %s in\n%s", c.page, text, &out)
			}
		}
		for _, text := range c.not {
			if strings.Contains(out.String(), text) {
				t.Errorf("%s: a row with %s in\n%s", c.page, text, &out)
			}
		}
	}
}
