package ui

import (
	"context"
	"strconv"

	"odarchive/crawler/archive/joins"
)

// joinable is a line of the list of tables that can be joined with this one.
type joinable struct {
	Column, With     string // names of the columns
	Title, URL, Href string // of the other file
	Member           string
	Share, Back      string // containment in both directions
}

// joins returns the columns of other tables that a version's table can be joined with.
func (u *UI) joins(ctx context.Context, versionID string) (lines []joinable, err error) {
	matches, err := u.archive.Joins(ctx, versionID)
	if err != nil {
		return nil, err
	}
	titles := map[string][2]string{} // titles and URLs by version id
	for _, m := range matches {
		known, ok := titles[m.Other.Version]
		if !ok {
			if known, err = u.titleOf(ctx, m.Other); err != nil {
				return nil, err
			}
			titles[m.Other.Version] = known
		}
		lines = append(lines, joinable{Column: m.Name, With: m.OtherName, Title: known[0], URL: known[1], Member: m.Other.Member,
			Href: u.versionPath(m.Other.Version) + "#columns", Share: percent(m.Containment), Back: percent(m.Reverse)})
	}
	return lines, nil
}

func (u *UI) titleOf(ctx context.Context, p joins.Place) ([2]string, error) {
	v, err := u.archive.Version(ctx, p.Version)
	if err != nil {
		return [2]string{}, err
	}
	res, err := u.archive.Resource(ctx, v.URL)
	if err != nil {
		return [2]string{}, err
	}
	return [2]string{titleOf(res), v.URL}, nil
}

func percent(f float64) string { return strconv.FormatFloat(100*f, 'f', 0, 64) + " %" }
