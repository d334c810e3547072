package ui

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/sparqlapi/describe/about"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/ui/plot"
)

type resourcePage struct {
	Resource    catalog.Resource
	Data        int           // versions that are not error pages
	Versions    []versionLine // newest first
	Timeline    template.HTML
	Calendar    *calendar // instead of the timeline; nil for a file with few versions
	Sizes       template.HTML
	Rows        template.HTML
	Visits      []catalog.Activity
	VisitLine   template.HTML
	Joins       []joinable // of the latest version
	Statements  *statements
	Cite        Citation
	All         string // query for all versions of this resource
	Crumbs      []crumb
	Says        about.Dataset // of the first of its datasets
	Description string
	Lost        *lost        // nil if the last visit found the file
	Latest      *versionLine // nil if there is none, or if the page shows older versions
	contents                 // of the latest version
	Choices     []catalog.Version
	Older       string // address of the page of older versions, or ""
	First       bool   // the page shows the newest versions
}

type versionLine struct {
	catalog.Version
	Rows   string // rows of its table, or ""
	Change string // difference from the version before, "" for the first version
	Before string // id of the version before, or ""
}

const (
	versionsShown = 50  // on one page of a resource
	momentsDrawn  = 400 // on a timeline or a sparkline
)

// Dataset answers GET /dataset?url= with the page of a crawled URL, of a portal's dataset, or of a portal. With a day
// as the parameter on, it redirects to the version of a URL that was there on that day.
func (u *UI) Dataset(w http.ResponseWriter, r *http.Request) error {
	address := target.Parameter(r, "url")
	if address == "" {
		return problem.New(http.StatusBadRequest, "No address given", "expected /dataset?url= followed by the URL of a file or a dataset")
	}
	res, err := u.archive.Resource(r.Context(), address)
	if err == nil {
		if day := r.URL.Query().Get("on"); day != "" {
			return u.onDay(w, r, res, day)
		}
		return u.resource(w, r, res)
	}
	if entry, datasetErr := u.archive.Dataset(r.Context(), address); datasetErr == nil {
		return u.portalDataset(w, r, entry)
	}
	if portal, known, portalErr := u.portal(r.Context(), address); known || portalErr != nil {
		if portalErr != nil {
			return portalErr
		}
		return u.portalPage(w, r, portal)
	}
	return err
}

func (u *UI) resource(w http.ResponseWriter, r *http.Request, res catalog.Resource) error {
	ctx := r.Context()
	versions, err := u.archive.Versions(ctx, res.URL)
	if err != nil {
		return err
	}
	visits, err := u.archive.Activities(ctx, catalog.ActivityQuery{URL: res.URL, Limit: 50})
	if err != nil {
		return err
	}
	page := resourcePage{Resource: res, Data: res.Versions - res.ErrorPages, Visits: visits, All: allVersions(res.URL), Crumbs: crumbs(res)}
	end := len(versions)
	if before := r.URL.Query().Get("before"); before != "" {
		if end, err = strconv.Atoi(before); err != nil || end < 1 || end > len(versions) {
			return problem.Newf(http.StatusBadRequest, "Bad parameter", "before=%q is not the number of a version of this file", before)
		}
	}
	start := max(0, end-versionsShown)
	page.First = end == len(versions)
	if start > 0 {
		page.Older = fmt.Sprintf("%s&before=%d#versions", pagePath(res.URL), start)
	}
	var rowLine []float64
	for i, v := range versions[start:end] {
		line, rows, err := u.versionLine(ctx, v, versions[:start+i])
		if err != nil {
			return err
		}
		if rows >= 0 {
			rowLine = append(rowLine, float64(rows))
		}
		page.Versions = append(page.Versions, line)
	}
	slices.Reverse(page.Versions)
	var moments []plot.Moment
	var sizes []float64
	for _, v := range thinned(versions, momentsDrawn) {
		sizes = append(sizes, float64(v.Size))
		moments = append(moments, plot.Moment{At: v.At, Size: float64(v.Size), Href: u.versionPath(v.ID),
			Title: fmt.Sprintf("Version %d, %s, %s", v.N, v.At.UTC().Format("2 Jan 2006 15:04:05"), humanBytes(v.Size))})
	}
	page.Timeline = plot.Timeline(moments, fmt.Sprintf("When the %s of this file were archived", plural(len(versions), "version")))
	if page.Calendar, err = u.calendarOf(r, versions); err != nil {
		return err
	}
	page.Sizes = plot.Spark(sizes, "Size of the versions, oldest to newest")
	page.Rows = plot.Spark(rowLine, "Rows of the versions, oldest to newest")
	if len(page.Versions) > 0 && page.First {
		page.Latest = &page.Versions[0]
		if page.contents, err = u.contents(ctx, page.Latest.Version); err != nil {
			return err
		}
	}
	page.Choices = around(versions)
	page.VisitLine = visitLine(visits)
	if len(res.Datasets) > 0 {
		if page.Says, err = u.said(ctx, res.Datasets[0]); err != nil {
			return err
		}
		page.Description = plainText(about.Best(page.Says.Description, "en").Value)
	}
	if page.Lost, err = u.lost(ctx, res); err != nil {
		return err
	}
	if page.Statements, err = u.statements(ctx, res.URL); err != nil {
		return err
	}
	if len(versions) > 0 {
		last := versions[len(versions)-1]
		if page.Cite, err = u.citation(ctx, w.Header(), res, catalog.Version{}); err != nil {
			return err
		}
		if page.Cite.Text == "" {
			page.Cite = Citation{Text: plainCitation(res, last, u.mint.Version(last.ID))}
		}
		if page.Joins, err = u.joins(ctx, last.ID); err != nil {
			return err
		}
	}
	title := titleOf(res)
	h := w.Header()
	h.Add("Link", `<`+u.mint.TimeMap(res.URL)+`>; rel="timemap"; type="application/link-format"`)
	h.Add("Link", `<`+u.mint.TimeGate(res.URL)+`>; rel="timegate"`)
	h.Add("Link", `</describe?iri=`+url.QueryEscape(res.URL)+`&format=ttl>; rel="describedby"; type="text/turtle"`)
	data := u.fileData(res, page.Says)
	return u.render(w, r, http.StatusOK, "resource",
		view{Title: title, Page: page, Feed: feedOf("url", res.URL), Canonical: u.mint.Page(res.URL), Data: data,
			About: data["description"].(string)})
}

// versionLine returns a version and its difference from the one before. rows is -1 if it is not a table.
func (u *UI) versionLine(ctx context.Context, v catalog.Version, before []catalog.Version) (line versionLine, rows int64, err error) {
	line.Version = v
	in, err := u.archive.Inside(ctx, v.ID)
	if err != nil {
		return line, 0, err
	}
	rows = -1
	if in != nil && len(in.Tables) > 0 {
		rows = in.Tables[0].Rows
		line.Rows = atLeast(in.Tables[0]) + humanCount(rows)
	}
	if len(before) == 0 {
		return line, rows, nil
	}
	last := before[len(before)-1]
	line.Before = last.ID
	change, err := u.archive.Change(ctx, v.ID)
	if err != nil {
		return line, 0, err
	}
	line.Change = changeWords(change, v.Size-last.Size)
	return line, rows, nil
}

// changeWords describes a change by rows, columns, triples or values, or else by bytes.
func changeWords(s *diff.Summary, bytes int64) string {
	var words []string
	if s != nil {
		for _, c := range []struct {
			added, removed, changed int64
			what                    string
		}{{s.RowsAdded, s.RowsRemoved, s.RowsChanged, "row"},
			{s.ColumnsAdded, s.ColumnsRemoved, s.ColumnsRenamed + s.ColumnsRetyped, "column"},
			{s.TriplesAdded, s.TriplesRemoved, 0, "triple"}, {s.PathsAdded, s.PathsRemoved, s.PathsChanged, "value"}} {
			var part []string
			if c.added > 0 {
				part = append(part, "+"+humanCount(c.added))
			}
			if c.removed > 0 {
				part = append(part, "−"+humanCount(c.removed))
			}
			noun := c.what + "s"
			if c.added+c.removed+c.changed == 1 {
				noun = c.what
			}
			switch {
			case len(part) > 0 && c.changed > 0:
				words = append(words, strings.Join(part, " ")+" "+noun, humanCount(c.changed)+" changed")
			case len(part) > 0:
				words = append(words, strings.Join(part, " ")+" "+noun)
			case c.changed > 0:
				words = append(words, humanCount(c.changed)+" "+noun+" changed")
			}
		}
	}
	switch {
	case len(words) > 0 && s.Part:
		return strings.Join(words, ", ") + ", as far as the tables were read"
	case len(words) > 0:
		return strings.Join(words, ", ")
	case bytes > 0:
		return "+" + humanBytes(bytes)
	case bytes < 0:
		return "−" + humanBytes(-bytes)
	}
	return "same size"
}

// thinned returns at most n elements of a list, evenly spaced, including the first and the last.
func thinned[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*(len(list)-1)/(n-1)]
	}
	return out
}

// visitLine draws the last visits: new versions, unchanged files, failures.
func visitLine(visits []catalog.Activity) template.HTML {
	var moments []plot.Moment
	for i := len(visits) - 1; i >= 0; i-- {
		v := visits[i]
		m := plot.Moment{At: v.Start, Title: v.Start.UTC().Format("2 Jan 2006 15:04:05") + ": " + outcomeWord(v.Outcome)}
		switch v.Outcome {
		case catalog.Archived:
		case catalog.Unchanged:
			m.Class = "muted"
		default:
			m.Class = "bad"
			m.Title += " (" + string(v.ErrorClass) + ")"
		}
		moments = append(moments, m)
	}
	return plot.Timeline(moments, fmt.Sprintf("The last %s", plural(len(visits), "visit")))
}

func allVersions(address string) string {
	return withPrefixes("SELECT ?version ?issued ?size WHERE {\n  <" + iriText(address) +
		"> dct:hasVersion ?version .\n  ?version dct:issued ?issued ; dcat:byteSize ?size .\n}\nORDER BY ?issued")
}
