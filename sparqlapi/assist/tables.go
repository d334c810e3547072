package assist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/problem"
)

type rowsIn struct {
	Version string   `json:"version" jsonschema:"IRI of a version, or address of a file for its latest version"`
	Table   string   `json:"table,omitempty" jsonschema:"name of a sheet, path of a file in a zip, or number of a table from 0; the first by default"`
	Where   string   `json:"where,omitempty" jsonschema:"condition such as: people > 100000 and name ~ stadt; operators = != < <= > >= and ~ for contains"`
	Order   []string `json:"order,omitempty" jsonschema:"columns to order by; - before a column for descending order"`
	Offset  int      `json:"offset,omitempty" jsonschema:"rows to skip"`
	Limit   int      `json:"limit,omitempty" jsonschema:"rows to return, from 1 to 200; 20 by default"`
	Columns []string `json:"columns,omitempty" jsonschema:"columns to return; all by default"`
}

type rowsOut struct {
	Version string        `json:"version" jsonschema:"IRI of the version"`
	Table   string        `json:"table,omitempty"`
	Tables  []string      `json:"tables,omitempty" jsonschema:"all tables of the version, if there are several"`
	Columns []data.Column `json:"columns"`
	Total   int64         `json:"total" jsonschema:"rows that fulfil the condition"`
	Rows    [][]any       `json:"rows" jsonschema:"numbers, booleans and dates as such; null for no value"`
	Next    int           `json:"next,omitempty" jsonschema:"offset of the following rows"`
	Note    string        `json:"note,omitempty"`
}

func (s *Server) rows(ctx context.Context, in rowsIn) (out rowsOut, err error) {
	limit, err := bounded("limit", in.Limit, 20, 200)
	if err != nil {
		return out, err
	}
	if in.Offset < 0 || in.Offset > 1<<40 {
		return out, problem.New(http.StatusBadRequest, "Bad argument", "offset is negative or too large")
	}
	v, err := s.version(ctx, in.Version)
	if err != nil {
		return out, err
	}
	found, err := s.o.Rows.Read(ctx,
		data.RowsRequest{Version: v.ID, Table: in.Table, Offset: in.Offset, Limit: limit, Where: in.Where, Order: in.Order, Typed: true,
			Bytes: 4 * maxText})
	if err != nil {
		return out, err
	}
	out = rowsOut{Version: s.o.Mint.Version(v.ID), Table: found.Table, Tables: firstOf(found.Tables, 50), Total: found.Total,
		Rows: [][]any{}, Columns: []data.Column{}}
	keep, err := chosenColumns(found.Columns, in.Columns)
	if err != nil {
		return out, err
	}
	for _, i := range keep {
		out.Columns = append(out.Columns, found.Columns[i])
	}
	if len(in.Columns) == 0 && len(keep) < len(found.Columns) {
		out.Note = fmt.Sprintf("the first %d of %d columns; name others in columns", len(keep), len(found.Columns))
	}
	size := 0
	for _, row := range found.Rows {
		cells := make([]any, len(keep))
		bytes := 0
		for to, from := range keep {
			cells[to] = shortCell(row[from])
			bytes += len(fmt.Sprint(cells[to])) + 3
		}
		if size += bytes; size > maxText && len(out.Rows) > 0 {
			break
		}
		out.Rows = append(out.Rows, cells)
	}
	if next := in.Offset + len(out.Rows); int64(next) < out.Total && len(out.Rows) > 0 {
		out.Next = next
	}
	return out, nil
}

// chosenColumns returns the indexes of the named columns, or of the first ones.
func chosenColumns(all []data.Column, names []string) (list []int, err error) {
	if len(names) > maxColumns {
		return nil, problem.Newf(http.StatusBadRequest, "Too many columns", "at most %d can be named", maxColumns)
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(c data.Column) bool { return c.Name == name })
		if i < 0 {
			var known []string
			for _, c := range all[:min(len(all), 30)] {
				known = append(known, fmt.Sprintf("%q", cut(c.Name, 60)))
			}
			return nil, problem.Newf(http.StatusBadRequest, "No such column", "there is no column %q; there are %s", cut(name, 60),
				strings.Join(known, ", "))
		}
		list = append(list, i)
	}
	if len(names) == 0 {
		for i := range min(len(all), maxColumns) {
			list = append(list, i)
		}
	}
	return list, nil
}

// shortCell cuts long texts, which says that it did.
func shortCell(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	if short := cut(text, maxCell); len(short) < len(text) {
		return short + "… (cut)"
	}
	return v
}

type differencesIn struct {
	URL  string   `json:"url,omitempty" jsonschema:"address of a file: its latest version is compared with the one before, unless from or to say otherwise"`
	From string   `json:"from,omitempty" jsonschema:"IRI of the older version"`
	To   string   `json:"to,omitempty" jsonschema:"IRI of the newer version"`
	Key  []string `json:"key,omitempty" jsonschema:"columns that identify a row; found out by default"`
}

type differencesOut struct {
	From    version      `json:"from"`
	To      version      `json:"to"`
	Summary string       `json:"summary" jsonschema:"in one sentence"`
	Counts  diff.Summary `json:"counts"`
	Details string       `json:"details" jsonschema:"the first of what was added (+), removed (-) and changed (~)"`
	More    bool         `json:"more,omitempty" jsonschema:"there is more than details shows; the counts are complete"`
}

func (s *Server) differences(ctx context.Context, in differencesIn) (out differencesOut, err error) {
	from, to, err := s.pair(ctx, in)
	if err != nil {
		return out, err
	}
	if len(in.Key) > 50 {
		return out, problem.New(http.StatusBadRequest, "Bad key", "a key has at most 50 columns")
	}
	report, err := s.o.Archive.Compare(ctx, from, to, diff.Options{List: 50, Key: in.Key, Memory: 64 << 20, Limit: 256 << 20})
	if key, ok := errors.AsType[*diff.KeyError](err); ok {
		return out, problem.Wrap(http.StatusBadRequest, "Bad key", key)
	}
	if err != nil {
		return out, err
	}
	var text bytes.Buffer
	if err := report.WriteText(&text); err != nil {
		return out, err
	}
	out = differencesOut{From: s.versionOf(from), To: s.versionOf(to), Summary: report.Sentence(), Counts: report.Summary}
	out.Details, out.More = firstLines(strings.ToValidUTF8(text.String(), "\uFFFD"), maxText)
	return out, nil
}

// pair returns the versions to compare.
func (s *Server) pair(ctx context.Context, in differencesIn) (from, to catalog.Version, err error) {
	if in.URL == "" && (in.From == "" || in.To == "") {
		return from, to, problem.New(http.StatusBadRequest, "Nothing to compare",
			"give url, or both from and to; the tool versions lists the versions of a file")
	}
	if in.From != "" {
		if from, err = s.version(ctx, in.From); err != nil {
			return from, to, err
		}
	}
	if in.To != "" {
		if to, err = s.version(ctx, in.To); err != nil {
			return from, to, err
		}
	}
	if from.ID != "" && to.ID != "" {
		return from, to, nil
	}
	url, err := s.addressOf(ctx, in.URL)
	if err != nil {
		return from, to, err
	}
	all, err := s.o.Archive.Versions(ctx, url)
	if err != nil {
		return from, to, err
	}
	if to.ID == "" && len(all) > 0 {
		to = all[len(all)-1]
	}
	if from.ID == "" {
		i := slices.IndexFunc(all, func(v catalog.Version) bool { return v.ID == to.ID })
		if i < 1 {
			return from, to, problem.Newf(http.StatusNotFound, "Nothing to compare", "there is no version of %s before that one", url)
		}
		from = all[i-1]
	}
	return from, to, nil
}
