package archive

import (
	"context"
	"fmt"
	"io"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/diff"
)

// Compare says what changed from one version to another, which need not be neighbours.
func (a *Archive) Compare(ctx context.Context, from, to catalog.Version, o diff.Options) (*diff.Report, error) {
	older, _, closeOlder, err := a.Side(ctx, from)
	if err != nil {
		return nil, err
	}
	defer closeOlder.Close()
	newer, _, closeNewer, err := a.Side(ctx, to)
	if err != nil {
		return nil, err
	}
	defer closeNewer.Close()
	report, err := diff.Compare(ctx, older, newer, o)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from.ID, to.ID, err)
	}
	return report, nil
}

// Change sums up how a version differs from the one before; nil where that is not known.
func (a *Archive) Change(ctx context.Context, id string) (*diff.Summary, error) {
	var s *diff.Summary
	err := a.view(func(t tables) (err error) {
		s, err = t.change(id)
		return err
	})
	return s, err
}

// Side opens a version to be compared, and tells what is inside it; the caller closes it.
func (a *Archive) Side(ctx context.Context, v catalog.Version) (diff.Side, *inspect.Inside, io.Closer, error) {
	in, err := a.Inside(ctx, v.ID)
	if err != nil {
		return diff.Side{}, nil, nil, err
	}
	body, err := a.content.Open(v.Digests.SHA256)
	if err != nil {
		return diff.Side{}, nil, nil, fmt.Errorf("version %s: %w", v.ID, err)
	}
	side := diff.Side{R: body, Size: body.Size(), Type: v.Type, Charset: v.Charset}
	if in != nil && len(in.Tables) > 0 {
		side.Dialect, side.Schema = DiffDialect(in.Tables[0]), DiffSchema(in.Tables[0])
	}
	return side, in, body, nil
}

// DiffDialect is a profile's dialect as package diff reads tables; nil where that has to find it by itself.
func DiffDialect(p *csvprofile.Profile) *diff.Dialect {
	if p == nil || len([]rune(p.Dialect.Delimiter)) != 1 {
		return nil
	}
	d := &diff.Dialect{Delimiter: []rune(p.Dialect.Delimiter)[0], NoHeader: !p.Dialect.Header, Skip: p.Dialect.Preamble}
	if q := []rune(p.Dialect.QuoteChar); len(q) == 1 {
		d.Quote = q[0]
	}
	if e := []rune(p.Dialect.EscapeChar); len(e) == 1 {
		d.Escape = e[0]
	}
	return d
}

// DiffSchema is what a profile says of a table's columns, as package diff asks for it; nil where the two may count rows or
// columns differently.
func DiffSchema(p *csvprofile.Profile) *diff.Schema {
	if p == nil || p.Truncated || p.Empty > 0 || p.Ragged > 0 || p.Blank > 0 || p.Dialect.Footer > 0 || p.Dialect.CommentPrefix != "" ||
		p.Dialect.SkipInitialSpace || p.Dialect.HeaderRows > 1 {
		return nil
	}
	s := &diff.Schema{Rows: p.Rows}
	for _, c := range p.Columns {
		s.Columns = append(s.Columns, diff.KnownColumn{Type: diffType(c), Key: c.Key, Sketch: c.Sketch})
	}
	return s
}

func diffType(c csvprofile.Column) string {
	if c.Distinct == 0 {
		return "empty"
	}
	switch c.Datatype {
	case "integer", "gYear":
		return "integer"
	case "decimal", "double":
		return "decimal"
	case "date", "dateTime":
		return "date"
	case "boolean":
		return "boolean"
	}
	return "string"
}

// ChangesOf is how the files of one portal, host or media type change.
type ChangesOf struct {
	Key      string `json:"key"`
	Versions int    `json:"versions"`
	Visits   int    `json:"visits"`
	Changes
}

// ChangeStats are the figures of /stats/changes, most changes first.
type ChangeStats struct {
	Total   ChangesOf   `json:"total"`
	Portals []ChangesOf `json:"portals"`
	Hosts   []ChangesOf `json:"hosts"`
	Types   []ChangesOf `json:"types"`
}

// ChangeStats sums up how versions differed from the ones before them; each list has at most limit entries, 0 for all.
func (a *Archive) ChangeStats(ctx context.Context, limit int) (ChangeStats, error) {
	var s ChangeStats
	err := a.view(func(t tables) error {
		all, err := t.counted(countAll, "")
		s.Total = all.changesOf("")
		return err
	})
	for _, list := range []struct {
		name string
		to   *[]ChangesOf
	}{{countPortal, &s.Portals}, {countHost, &s.Hosts}, {countType, &s.Types}} {
		if err == nil {
			*list.to, err = a.changesBy(ctx, list.name, limit)
		}
	}
	return s, err
}

func (n tally) changesOf(what string) ChangesOf {
	return ChangesOf{Key: what, Versions: n.Versions, Visits: n.Visits, Changes: n.Changes}
}
