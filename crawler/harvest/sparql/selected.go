package sparql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
)

const selectedPage = 2000

// prologue matches the PREFIX and BASE lines of a query, with comments.
var prologue = regexp.MustCompile(`(?is)^(?:\s|#[^\n]*\n|PREFIX\s+[^\s:]*:\s*<[^>]*>|BASE\s*<[^>]*>)*`)

// selected hands over the addresses that a query selects, in pages that start behind the last address, which is also
// the mark.
func (s Source) selected(ctx context.Context, from string, out harvest.Sink) error {
	head := prologue.FindString(s.Query)
	query := s.Query[len(head):]
	if !strings.EqualFold(query[:min(len(query), 6)], "select") {
		return errors.New("the query is not a SELECT")
	}
	if err := out.Portal(harvest.Portal{IRI: cmp.Or(s.Portal, s.URL)}, false); err != nil {
		return err
	}
	for after, limit := from, selectedPage; ; {
		page := fmt.Sprintf("%s\nSELECT * WHERE { { %s\n } FILTER (STR(?url) > %s) } ORDER BY STR(?url) LIMIT %d", head, query,
			quote(after), limit)
		answer, err := s.Endpoint.Select(ctx, page)
		var status *harvest.StatusError
		if errors.As(err, &status) && status.Status == 400 && after == "" {
			return s.unpaged(ctx, out) // the endpoint or the query does not allow a subselect
		}
		if err != nil && tooMuch(err) && limit > 100 && ctx.Err() == nil {
			limit /= 4
			continue
		}
		if err != nil {
			return err
		}
		rows := answer.Rows
		if len(rows) == 0 {
			return nil
		}
		if len(rows) >= limit || answer.Cut { // the next page may have more rows for the last address
			last := rows[len(rows)-1]["url"].Value()
			for len(rows) > 0 && rows[len(rows)-1]["url"].Value() == last {
				rows = rows[:len(rows)-1]
			}
			if len(rows) == 0 {
				rows = answer.Rows
			}
		}
		before := after
		for _, row := range rows {
			if err := s.seed(row, out); err != nil {
				return err
			}
			after = max(after, row["url"].Value())
		}
		if after == before {
			return fmt.Errorf("%s repeats the same addresses", s.URL)
		}
		if err := out.Mark(after); err != nil {
			return err
		}
	}
}

// unpaged sends the query unchanged.
func (s Source) unpaged(ctx context.Context, out harvest.Sink) error {
	answer, err := s.Endpoint.Select(ctx, s.Query)
	if err != nil {
		return err
	}
	for _, row := range answer.Rows {
		if err := s.seed(row, out); err != nil {
			return err
		}
	}
	if answer.Cut {
		return Partly(fmt.Errorf("%w: %s may have more than the %d rows that it returned, and does not support paging", ErrPartly, s.URL,
			len(answer.Rows)), out)
	}
	return nil
}

func (s Source) seed(row Row, out harvest.Sink) error {
	if row["url"] == "" || row["url"].Kind() == term.KindBlank {
		out.Skip("a row does not bind ?url")
		return nil
	}
	return out.Seed(catalog.Seed{
		URL: strings.TrimSpace(row["url"].Value()), Portal: cmp.Or(row["portal"].Value(), s.Portal, s.URL), Dataset: row["dataset"].Value(),
		Title: row["title"].Value(), DatasetTitle: row["datasetTitle"].Value(), Format: row["format"].Value(),
		MediaType: row["mediaType"].Value(),
	})
}
