package ui

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/problem"
	"odarchive/ui/plot"
)

// Histories reads how a row of a table changed.
type Histories interface {
	Read(ctx context.Context, r data.HistoryRequest) (*data.History, error)
}

// Limits of the page of a row's history. It weighs at most about 20 KB.
const (
	pastPeriods = 40
	pastChanges = 12  // of a period
	pastFields  = 60  // cells of the row
	pastCell    = 120 // characters
	pastDrawn   = 400 // values
)

type rowHistoryPage struct {
	Resource catalog.Resource
	Crumbs   []crumb
	Table    string
	Where    string // the key, for people
	Column   string
	Whole    string // address of the whole row's history, on the page of a cell
	Now      string // sentence about the newest version that was read
	Fields   []pastField
	Periods  []pastPeriod
	Read     int
	Total    int
	Changes  int
	Plot     template.HTML
	Next     string
	JSON     string
	More     int // periods that are not shown
}

// pastField is a cell of the row as it was last.
type pastField struct {
	Name, Value, Href string
	Changes           int
}

type pastPeriod struct {
	First, Last data.Moment
	Versions    int
	Row         string // address of the row in the last version, "" if it is not there
	Diff        string // address of the difference from the version before, "" if there is none
	Said        string // what happened, in words
	Changes     []pastChange
	More        int // changes that are not shown
	Rows        int64
	Value       string // of the cell, on the page of a cell
}

type pastChange struct {
	Column, From, To string
	Href             string // of the cell's history
}

// RowHistory answers GET /history with a page: how a row, or one of its cells, changed from version to version.
func (u *UI) RowHistory(w http.ResponseWriter, r *http.Request) error {
	if u.histories == nil {
		return problem.New(http.StatusNotFound, "No such page", "histories of rows are not offered")
	}
	request, err := data.ParseHistory(r)
	if err != nil {
		return err
	}
	found, err := u.histories.Read(r.Context(), request)
	if err != nil {
		return err
	}
	res, err := u.archive.Resource(r.Context(), found.URL)
	if err != nil {
		return err
	}
	page := &rowHistoryPage{Resource: res, Crumbs: append(crumbs(res), crumb{titleOf(res), pagePath(res.URL)}), Table: found.Table,
		Column: found.Column,
		Read:   found.Versions, Total: found.Total}
	for _, c := range found.Key {
		page.Where = strings.TrimPrefix(page.Where+" and "+shorten(c.Column)+" is "+wordOf(c.Value), " and ")
	}
	address := func(column string, before int) string {
		q := url.Values{"url": {found.URL}, "where": {found.Where}}
		if t := cmp.Or(request.Table, found.Table); t != "" {
			q.Set("table", t)
		}
		if column != "" {
			q.Set("column", column)
		}
		if before > 0 {
			q.Set("before", strconv.Itoa(before))
		}
		return "/history?" + q.Encode()
	}
	page.JSON = address(found.Column, request.Before) + "&format=json"
	if found.Column != "" {
		page.Whole = address("", 0)
	}
	if found.Next > 0 {
		page.Next = address(found.Column, found.Next)
	}
	page.fill(found, func(column string) string { return address(column, 0) })
	title := "History of a row"
	if found.Column != "" {
		title = "History of " + shorten(found.Column)
	}
	return u.render(w, r, http.StatusOK, "rowhistory", view{Title: title + ", " + titleOf(res), Section: "/search", Page: page})
}

// fill sets what the page says of the periods.
func (p *rowHistoryPage) fill(found *data.History, cell func(column string) string) {
	changes := map[string]int{}
	var values []float64
	for i, from := range found.Periods {
		if from.Change != "" {
			p.Changes++
		}
		for _, c := range from.Changes {
			changes[c.Column]++
		}
		if found.Column != "" && len(from.Cells) == 1 && len(values) < pastDrawn {
			if x, err := strconv.ParseFloat(strings.TrimSpace(from.Cells[0].Value), 64); err == nil && x-x == 0 {
				values = append([]float64{x}, values...)
			}
		}
		if i >= pastPeriods {
			p.More++
			continue
		}
		p.Periods = append(p.Periods, periodOf(found, i, cell))
	}
	if len(values) > 1 {
		p.Plot = plot.Spark(values, "Values of "+shorten(found.Column)+", oldest to newest")
	}
	if len(found.Periods) == 0 {
		return
	}
	p.Now = stateWords(found.Periods[0])
	for i := range found.Periods {
		if list := found.Periods[i].Cells; len(list) > 0 && found.Column == "" {
			for _, c := range list[:min(len(list), pastFields)] {
				p.Fields = append(p.Fields, pastField{shorten(c.Column), clipped(c.Value), cell(c.Column), changes[c.Column]})
			}
			break
		}
	}
}

// periodOf returns a period as the page shows it.
func periodOf(found *data.History, i int, cell func(column string) string) pastPeriod {
	from := found.Periods[i]
	p := pastPeriod{First: from.First, Last: from.Last, Versions: from.Versions, Said: stateWords(from), Rows: from.Rows}
	switch from.Change {
	case "added":
		p.Said = "The row was added"
	case "removed":
		p.Said = "The row was removed"
	case "changed":
		p.Said = "Changed"
	default:
		if from.State == data.Present {
			p.Said = "So since the first version that was read"
			if slices.ContainsFunc(found.Periods[i+1:],
				func(p data.Period) bool { return p.State == data.Present || p.State == data.Absent }) {
				p.Said = "Unchanged"
			}
		}
	}
	if from.State == data.Present {
		q := url.Values{"row": {strconv.FormatInt(from.Row, 10)}}
		if found.Table != "" {
			q.Set("table", found.Table)
		}
		p.Row = "/table/" + from.Last.ID + "?" + q.Encode()
	}
	if from.Change != "" && i+1 < len(found.Periods) {
		q := url.Values{"from": {found.Periods[i+1].Last.ID}, "to": {from.First.ID}}
		for _, k := range found.Key {
			q.Add("key", k.Column)
		}
		p.Diff = "/diff?" + q.Encode()
	}
	for _, c := range from.Changes {
		if len(p.Changes) == pastChanges {
			p.More++
			continue
		}
		change := pastChange{Column: shorten(c.Column), Href: cell(c.Column)}
		if c.From != nil {
			change.From = clipped(*c.From)
		}
		if c.To != nil {
			change.To = clipped(*c.To)
		}
		p.Changes = append(p.Changes, change)
	}
	if found.Column != "" && len(from.Cells) == 1 {
		p.Value = clipped(from.Cells[0].Value)
	}
	return p
}

// stateWords says what a version has of the row.
func stateWords(p data.Period) string {
	switch p.State {
	case data.Present:
		return "The row is there"
	case data.Absent:
		return "The row is not there"
	case data.NoTable:
		return "The version has no such table"
	case data.NoColumn:
		return "The table has no column of the key"
	case data.NotData:
		return "The version is an error page"
	case data.Taken:
		return "The version was withdrawn"
	}
	return "The table cannot be read: " + p.Why
}

func clipped(s string) string {
	if short := cut(s, pastCell); len(short) < len(s) {
		return short + "…"
	}
	return s
}
