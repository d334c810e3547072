package ui

import (
	"net/http"

	"odarchive/crawler/catalog"
)

// statistics answers GET /statistics: figures of the archive, each with its query.
func (u *UI) statistics(w http.ResponseWriter, r *http.Request) error {
	stats, err := u.stats(r.Context())
	if err != nil {
		return err
	}
	page := struct {
		Stats   catalog.Stats
		Figures []drawn
	}{stats, u.figures.all(r.Context(), u.now())}
	return u.render(w, r, http.StatusOK, "statistics", view{Title: "Statistics", Page: page})
}
