package ui

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"odarchive/sparqlapi/conneg"
	"odarchive/triplestore/disk"
)

// Fixity says whether what is stored is what was written, and how that is known. Names are stable: it is an answer.
type Fixity struct {
	State    string        `json:"state"`            // one of the constants below
	Reason   string        `json:"reason,omitempty"` // of a state other than Sound, a sentence
	Rate     int64         `json:"rate"`             // bytes a second that are read again in the background, 0: none
	Parts    []FixityPart  `json:"parts"`
	Mended   int           `json:"mended"`   // of the damages
	Unmended int           `json:"unmended"` // those that answers may meet
	Lost     int           `json:"lost"`     // those that cost something
	Damages  []disk.Damage `json:"damages"`  // found since the program began, the latest first
}

// FixityPart is how far the reading of a part of the archive is.
type FixityPart struct {
	Name string `json:"name"` // database, packs
	disk.Round
}

// States of Fixity, the gravest last.
const (
	Sound         = "sound"
	ReadOnly      = "read-only"
	Damaged       = "damaged"
	WritesStopped = "writes-stopped"
)

// Count sorts the damages and counts them.
func (f *Fixity) Count() {
	slices.SortStableFunc(f.Damages, func(a, b disk.Damage) int { return b.Found.Compare(a.Found) })
	f.Mended, f.Unmended, f.Lost = 0, 0, 0
	for _, d := range f.Damages {
		if d.Mended.IsZero() {
			f.Unmended++
		} else {
			f.Mended++
		}
		if d.Lost != "" {
			f.Lost++
		}
	}
}

// Percent of the round under way.
func (p FixityPart) Percent() int {
	if p.Total <= 0 {
		return 0
	}
	return int(min(p.Done, p.Total) * 100 / p.Total)
}

// Ends is when the round under way ends at its present rate; zero if that is not known.
func (p FixityPart) Ends(now time.Time) time.Time {
	if p.Began.IsZero() || p.Done <= 0 || p.Total <= p.Done || !now.After(p.Began) {
		return time.Time{}
	}
	rest := float64(p.Total-p.Done) / float64(p.Done) * float64(now.Sub(p.Began))
	return now.Add(time.Duration(min(rest, float64(365*24*time.Hour))))
}

type fixityPage struct {
	Fixity
	Now time.Time
}

// fixityNow is what is known of the archive's fixity; nothing is known where nobody says.
func (u *UI) fixityNow() Fixity {
	f := Fixity{State: Sound}
	if u.fixity != nil {
		f = u.fixity()
	}
	if f.Parts == nil {
		f.Parts = []FixityPart{}
	}
	if f.Damages == nil {
		f.Damages = []disk.Damage{}
	}
	return f
}

// fixityPage answers GET /fixity: as a page, or as JSON for programs.
func (u *UI) fixityPage(w http.ResponseWriter, r *http.Request) error {
	f := u.fixityNow()
	w.Header().Add("Vary", "Accept")
	w.Header().Set("Cache-Control", "no-store")
	best, ok := conneg.Negotiate(r, []conneg.Offer{{MediaType: "text/html", Name: "html"}, {MediaType: "application/json", Name: "json"}})
	format := r.URL.Query().Get("format")
	if format == "json" || format == "" && ok && best.Name == "json" {
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(f)
	}
	return u.render(w, r, http.StatusOK, "fixity", view{Title: "Fixity", Page: fixityPage{f, u.now()}})
}

// notice is the sentence above every page while the archive cannot do all that it should; "" while it can.
func (u *UI) notice() string {
	if u.fixity == nil {
		return ""
	}
	return u.fixity().Reason
}
