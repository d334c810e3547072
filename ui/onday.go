package ui

import (
	"net/http"
	"sort"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/problem"
)

// onDay redirects to the version that was the latest at the end of a day, in UTC.
func (u *UI) onDay(w http.ResponseWriter, r *http.Request, res catalog.Resource, day string) error {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return problem.Newf(http.StatusBadRequest, "Bad parameter", "on=%q is not a day: expected one such as 2026-10-24", day)
	}
	versions, err := u.archive.Versions(r.Context(), res.URL)
	if err != nil {
		return err
	}
	if len(versions) == 0 {
		return problem.Newf(http.StatusNotFound, "Nothing archived", "no version of %s has been kept yet", res.URL)
	}
	after := sort.Search(len(versions), func(i int) bool { return !versions[i].At.Before(at.AddDate(0, 0, 1)) })
	if after == 0 {
		return problem.Newf(http.StatusNotFound, "Nothing archived by then", "the first version of %s was archived on %s, after %s",
			res.URL,
			versions[0].At.UTC().Format("2 January 2006"), at.Format("2 January 2006"))
	}
	redirect(w, u.versionPath(versions[after-1].ID))
	return nil
}
