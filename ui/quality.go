package ui

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"odarchive/crawler/archive/quality"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
)

// qualityTable is the quality of a portal's metadata, in the order of the metrics.
type qualityTable struct {
	Portal string       `json:"portal"`
	Rows   []qualityRow `json:"metrics"`
	Query  string       `json:"query"`
}

type qualityRow struct {
	Dimension string  `json:"dimension"`
	Metric    string  `json:"metric"` // IRI
	Label     string  `json:"label"`
	Mean      float64 `json:"mean"`
	Percent   int     `json:"-"`
	First     bool    `json:"-"` // the first row of its dimension
}

// qualityOf returns the last measurement of a portal's quality, or nil if there is none.
func (u *UI) qualityOf(ctx context.Context, portal string) (*qualityTable, error) {
	return u.qualityAbout(ctx, portal, portal)
}

// qualityAbout returns the last measurement of a dataset of a portal, or of the portal itself; nil if there is none.
func (u *UI) qualityAbout(ctx context.Context, portal, thing string) (*qualityTable, error) {
	if u.query == nil || strings.ContainsAny(portal+thing, "<>\"{}|^`\\ \n\r\t") {
		return nil, nil
	}
	t := &qualityTable{Portal: portal, Query: quality.QueryOf(u.mint, portal, thing)}
	rows, err := u.query(ctx, t.Query, 1000)
	if err != nil {
		return nil, err
	}
	means := map[string]float64{}
	for _, row := range rows.Rows {
		if len(row) == 2 {
			means[row[0].Value()], _ = strconv.ParseFloat(row[1].Value(), 64) // decimals that this program wrote
		}
	}
	last := ""
	for _, m := range quality.Metrics() {
		mean, ok := means[m.IRI()]
		if !ok {
			continue
		}
		t.Rows = append(t.Rows, qualityRow{m.Dimension, m.IRI(), m.Label, mean, int(mean*100 + 0.5), m.Dimension != last})
		last = m.Dimension
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	return t, nil
}

// Lacking returns the measures that are not fully met.
func (t *qualityTable) Lacking() (rows []qualityRow) {
	for _, r := range t.Rows {
		if r.Percent < 100 {
			rows = append(rows, r)
		}
	}
	return rows
}

// Summary says how many measures are fully met.
func (t *qualityTable) Summary() string {
	if n := len(t.Rows) - len(t.Lacking()); n < len(t.Rows) {
		return fmt.Sprintf("What the portal says of it meets %d of %s in full. These are not:", n, plural(len(t.Rows), "measure"))
	}
	return fmt.Sprintf("What the portal says of it meets all %s in full.", plural(len(t.Rows), "measure"))
}

// quality answers GET /quality.json?portal=IRI.
func (u *UI) quality(w http.ResponseWriter, r *http.Request) error {
	portal := r.URL.Query().Get("portal")
	if portal == "" {
		return problem.New(http.StatusBadRequest, "No portal given", "expected portal= and the IRI of a portal; /portals lists them")
	}
	t, err := u.qualityOf(r.Context(), portal)
	if err != nil {
		return err
	}
	if t == nil {
		return problem.Newf(http.StatusNotFound, "Not measured", "the quality of %q has not been measured", portal)
	}
	return answer.JSON(w, r, t)
}
