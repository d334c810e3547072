package ui

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/problem"
	"odarchive/ui/plot"
)

// calendarFrom is the number of versions from which a file has a calendar rather than a timeline.
const calendarFrom = 40

// calendar is a year of a file with many versions.
type calendar struct {
	Year  int
	Years []choice // with versions, oldest first
	Plot  template.HTML
	Days  int // with versions, in the year
}

// calendarOf returns the year that a request asks for with the parameter year, or the one of the latest version. It is
// nil for a file with few versions, unless the request asks for a year.
func (u *UI) calendarOf(r *http.Request, versions []catalog.Version) (*calendar, error) {
	asked := r.URL.Query().Get("year")
	if len(versions) == 0 || asked == "" && len(versions) < calendarFrom {
		return nil, nil
	}
	latest := versions[len(versions)-1]
	c := &calendar{Year: latest.At.UTC().Year()}
	if asked != "" {
		var err error
		if c.Year, err = strconv.Atoi(asked); err != nil || c.Year < 1 || c.Year > 9999 {
			return nil, problem.Newf(http.StatusBadRequest, "Bad parameter", "year=%q is not a year", asked)
		}
	}
	var days []plot.Day
	counts := map[int]int{}
	var years []int
	for i, v := range versions { // oldest first
		at := v.At.UTC()
		if counts[at.Year()]++; counts[at.Year()] == 1 {
			years = append(years, at.Year())
		}
		if at.Year() != c.Year {
			continue
		}
		if n := len(days); n > 0 && days[n-1].Date.YearDay() == at.YearDay() {
			days[n-1].Count++
			days[n-1].Href = fmt.Sprintf("%s&before=%d&year=%d#versions", pagePath(v.URL), i+1, c.Year)
			days[n-1].Title = fmt.Sprintf("%s: %s", at.Format("2 January 2006"), plural(days[n-1].Count, "version"))
			continue
		}
		days = append(days, plot.Day{Date: at, Count: 1, Href: u.versionPath(v.ID),
			Title: fmt.Sprintf("%s: version %d", at.Format("2 January 2006"), v.N)})
	}
	c.Days = len(days)
	for _, y := range years[max(0, len(years)-calendarYears):] {
		q := url.Values{"url": {latest.URL}, "year": {strconv.Itoa(y)}}
		c.Years = append(c.Years,
			choice{fmt.Sprintf("%d (%s)", y, humanCount(counts[y])), "/dataset?" + q.Encode() + "#versions", y == c.Year})
	}
	c.Plot = plot.Calendar(c.Year, days, fmt.Sprintf("The days of %d with new versions", c.Year))
	return c, nil
}

// calendarYears bounds the years to choose from.
const calendarYears = 100
