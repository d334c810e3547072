package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/data"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) search() *cobra.Command {
	by := map[string]*string{"type": new(string), "portal": new(string), "host": new(string), "dataset": new(string),
		"licence": new(string), "publisher": new(string), "since": new(string), "sort": new(string), "after": new(string)}
	limit := 25
	cmd := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find files by words, as the search page does",
		Long: `Find files by words of their titles, descriptions, columns and addresses. The language of the search page is understood,
such as "a phrase", -without, type:csv, since:30d; without words, the files that changed last are listed.`,
		Example: `  odarchive search trees vienna
  odarchive search trees --type csv --since 30d
  odarchive search --portal https://data.example.org/ --json`,
		RunE: func(cmd *cobra.Command, words []string) error {
			q := url.Values{"q": {strings.Join(words, " ")}, "limit": {strconv.Itoa(limit)}}
			for name, value := range by {
				q.Set(name, *value)
			}
			if !c.json {
				q.Set("facets", "0")
			}
			return c.reading(cmd.Context(), func(n *app.Node) error {
				api := data.SearchAPI{Archive: n.Archive, Mint: n.Mint, Now: n.Clock}
				found, err := api.Find(cmd.Context(), q)
				if errors.Is(err, catalog.ErrQuestion) {
					return usageError{err}
				}
				if err != nil {
					return err
				}
				return c.printFound(found)
			})
		},
	}
	mainFlags(cmd, "type", "portal", "publisher", "host", "dataset", "licence", "since", "sort", "limit", "after", "json", "endpoint")
	f := cmd.Flags()
	f.StringVar(by["type"], "type", "", "media type, or a name such as csv")
	f.StringVar(by["portal"], "portal", "", "IRI of the portal that lists the file")
	f.StringVar(by["dataset"], "dataset", "", "IRI of the dataset")
	f.StringVar(by["host"], "host", "", "host of the file")
	f.StringVar(by["licence"], "licence", "", "licence, as the search page names it")
	f.StringVar(by["publisher"], "publisher", "", "publisher, as the search page names it")
	f.StringVar(by["since"], "since", "", "the latest version is not older, as 30d or 2026-01-31")
	f.StringVar(by["sort"], "sort", "", "changed, versions, size, rows or title; by default what fits best")
	f.StringVar(by["after"], "after", "", "the value of next, for more")
	number(f, &limit, "limit", 1, 100, "files, at most 100")
	f.BoolVar(&c.json, "json", false, "machine-readable output, as of /api/v1/search")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{})
}

// printFound prints what a search found: two lines for each file.
func (c *cli) printFound(a data.SearchAnswer) error {
	if c.json {
		return c.print(a, "")
	}
	for _, h := range a.Hits {
		facts := []string{cmp.Or(h.Type, "not fetched"), english.Plural(h.Versions, "version", "")}
		if h.Size > 0 {
			facts = append(facts, humanize.IBytes(uint64(h.Size)))
		}
		if h.Changed != "" {
			facts = append(facts, "changed "+h.Changed)
		}
		if title := cmp.Or(h.Title, h.DatasetTitle); title != "" {
			facts = append([]string{title}, facts...)
		}
		if _, err := fmt.Fprintf(c.stdout, "%s\n    %s\n", printable(h.URL), printable(strings.Join(facts, ", "))); err != nil {
			return err
		}
	}
	for _, w := range a.Corrected {
		fmt.Fprintf(c.stderr, "odarchive: no file has %q; looked for %q instead\n", w.Word, w.By)
	}
	if a.Partly {
		fmt.Fprintf(c.stderr, "odarchive: no file has all of the words: these have some of them\n")
	}
	if a.Waiting > 0 {
		fmt.Fprintf(c.stderr, "odarchive: the descriptions of %s are not indexed yet\n", english.Plural(a.Waiting, "file", ""))
	}
	found := english.Plural(a.Total, "file", "")
	if a.Bounded {
		found = "at least " + found
		fmt.Fprintf(c.stderr, "odarchive: the words of the phrase are in very many files, and it was looked for in some of them only\n")
	}
	switch {
	case a.Total == 0 && a.Bounded:
		return c.print(nil, "no file was found in those that were looked at")
	case a.Total == 0:
		return c.print(nil, "no file was found")
	case a.Next != "":
		return c.print(nil, "%d of %s; more: --after %s", len(a.Hits), found, shellWord(a.Next))
	}
	return c.print(nil, "%s; 'odarchive show URL' tells what is known of one", found)
}
