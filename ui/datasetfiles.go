package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ui/plot"
)

// datasetFile is a file of a dataset.
type datasetFile struct {
	listed
	Label string // the format that the portal names
	Lost  *lost
}

// glance is the beginning of a table.
type glance struct {
	Title, URL string
	Header     []string
	Rows       [][]string
	Columns    int // that are not shown
}

// filesOf reads the files of the dataset.
func (u *UI) filesOf(ctx context.Context, p *datasetPage) error {
	formats := map[string]string{}
	for _, f := range p.Says.Files {
		for _, address := range f.URLs {
			formats[address] = f.Format.Label
		}
	}
	for _, address := range p.Entry.URLs[:min(len(p.Entry.URLs), filesOfDataset)] {
		res, err := u.archive.Resource(ctx, address)
		if err != nil {
			if errors.Is(err, ctx.Err()) {
				return err
			}
			res = catalog.Resource{URL: address, Host: hostOf(address)} // listed, but not known to the crawler
		}
		f := datasetFile{listed: listed{Resource: res}, Label: formats[address]}
		if f.Lost, err = u.lost(ctx, res); err != nil {
			return err
		}
		if f.Lost != nil {
			p.Lost++
		}
		p.Versions += res.Versions - res.ErrorPages
		p.Bytes += res.Size
		if res.Changed.After(p.Changed) {
			p.Changed = res.Changed
		}
		p.Files = append(p.Files, f)
	}
	return nil
}

// changesOf finds out how often the files change. Files that change on one day are one change.
func (u *UI) changesOf(ctx context.Context, p *datasetPage) error {
	var moments []plot.Moment // at most one a day
	var last time.Time        // when the files were visited last
	days, at := map[string]bool{}, map[string]int{}
	read := 0
	for _, f := range p.Files[:min(len(p.Files), filesRead)] {
		if f.Versions == 0 || read+f.Versions > versionsRead {
			continue
		}
		read += f.Versions
		versions, err := u.archive.Versions(ctx, f.URL)
		if err != nil {
			return err
		}
		for i, v := range versions {
			if i > 0 {
				days[v.At.UTC().Format(time.DateOnly)] = true
			}
		}
		for _, v := range thinned(versions, daysDrawn) {
			date := v.At.UTC().Format("2 Jan 2006")
			if _, drawn := at[date]; !drawn {
				at[date] = 0
				moments = append(moments, plot.Moment{At: v.At, Href: u.versionPath(v.ID)})
			}
			at[date]++
		}
		if f.LastVisit.After(last) {
			last = f.LastVisit
		}
	}
	slices.SortStableFunc(moments, func(a, b plot.Moment) int { return a.At.Compare(b.At) })
	moments = thinned(moments, daysDrawn)
	for i, m := range moments {
		date := m.At.UTC().Format("2 Jan 2006")
		moments[i].Title = date + ": " + plural(at[date], "version")
	}
	p.Timeline = plot.Timeline(moments, "When versions of the files were archived")
	if len(moments) == 0 {
		return nil
	}
	first := moments[0].At
	span := last.Sub(first)
	switch n := len(days); {
	case span < 24*time.Hour:
		p.Every, p.Changes = "not known yet",
			"It was first archived on "+first.UTC().Format("2 January 2006")+", too recently to say how often it changes."
	case n == 0:
		p.Every, p.Changes = "no change seen",
			fmt.Sprintf("No file has changed from %s to %s.", first.UTC().Format("2 January 2006"), last.UTC().Format("2 January 2006"))
	default:
		p.Every = "about every " + Span(span/time.Duration(n))
		p.Changes = fmt.Sprintf("Files changed on %s from %s to %s, %s.", plural(n, "day"), first.UTC().Format("2 January 2006"),
			last.UTC().Format("2 January 2006"), p.Every)
	}
	if f := cmp.Or(p.Says.Frequency.Label, p.Says.Frequency.IRI); f != "" {
		p.Changes += " According to its portal, it is updated: " + f + "."
	}
	return nil
}

// glance returns the first rows of the first file that is a table of text.
func (u *UI) glance(ctx context.Context, files []datasetFile) (*glance, error) {
	for _, f := range files {
		if f.MediaType != "text/csv" && f.MediaType != "text/tab-separated-values" || f.LatestN() < 0 {
			continue
		}
		versions, err := u.archive.Versions(ctx, f.URL)
		if err != nil || len(versions) == 0 {
			return nil, err
		}
		v := versions[len(versions)-1]
		if v.Withdrawn != nil {
			continue
		}
		in, err := u.archive.Inside(ctx, v.ID)
		if err != nil || in == nil || len(in.Tables) == 0 {
			return nil, err
		}
		p, err := u.preview(ctx, v, in.Tables[0])
		if err != nil || p.Kind != "table" {
			return nil, err
		}
		g := &glance{Title: titleOf(f.Resource), URL: f.URL, Header: p.Header[:min(len(p.Header), glanceColumns)],
			Columns: max(0, len(p.Header)-glanceColumns)}
		for i := range g.Header {
			g.Header[i] = shortened(g.Header[i], glanceCell)
		}
		for _, row := range p.Rows[:min(len(p.Rows), glanceRows)] {
			row = row[:min(len(row), glanceColumns)]
			for i := range row {
				row[i] = shortened(row[i], glanceCell)
			}
			g.Rows = append(g.Rows, row)
		}
		return g, nil
	}
	return nil, nil
}
