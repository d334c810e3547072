package ui

import (
	"net/http"
	"slices"
	"time"

	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/conneg"
	"odarchive/triplestore/disk"
)

// Fixity is the result of comparing what is stored with its checksums. Its JSON names are part of the API.
type Fixity struct {
	State    string        `json:"state"`            // one of the constants below
	Reason   string        `json:"reason,omitempty"` // one sentence, unless the state is Sound
	Rate     int64         `json:"rate"`             // bytes a second that the background check reads at most; 0 means that it is off
	Parts    []FixityPart  `json:"parts"`
	Mended   int           `json:"mended"`           // damages that are repaired
	Unmended int           `json:"unmended"`         // damages that a request may still meet
	Lost     int           `json:"lost"`             // damages that lost data
	Damages  []disk.Damage `json:"damages"`          // found since the program started, latest first
	Bucket   *FixityBucket `json:"bucket,omitempty"` // where closed packs are, nil if they are all here
}

// FixityBucket is the state of the bucket that holds closed packs.
type FixityBucket struct {
	Files        int    `json:"files"`             // packs and their parity
	Waiting      int    `json:"waiting"`           // of them, not in the bucket yet
	WaitingBytes int64  `json:"waitingBytes"`      //
	Deleting     int    `json:"deleting"`          // dropped, and not deleted from the bucket yet
	Cached       int64  `json:"cached"`            // bytes that are also on the local disk
	Cache        int64  `json:"cache"`             // the bound of Cached
	Cold         int64  `json:"cold"`              // bytes that are only in the bucket
	Problem      string `json:"problem,omitempty"` // why the last request failed
}

// FixityPart is the progress of checking a part of the archive.
type FixityPart struct {
	Name string `json:"name"` // "database" or "packs"
	disk.Round
}

// The states of Fixity, from best to worst.
const (
	Sound         = "sound"
	ReadOnly      = "read-only"
	Damaged       = "damaged"
	WritesStopped = "writes-stopped"
)

// Count sorts the damages, latest first, and counts them.
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

// Percent returns how much of the current round is done.
func (p FixityPart) Percent() int {
	if p.Total <= 0 {
		return 0
	}
	return int(min(p.Done, p.Total) * 100 / p.Total)
}

// Ends returns when the current round ends at its present rate, or the zero time if that is not known.
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

// fixityNow returns the archive's fixity, or a Fixity without parts if Options.Fixity is not set.
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
		return answer.JSON(w, r, f)
	}
	return u.render(w, r, http.StatusOK, "fixity", view{Title: "Fixity", Page: fixityPage{f, u.now()}})
}

// notice returns the sentence above every page while the archive is restricted or damaged, or "".
func (u *UI) notice() string {
	if u.fixity == nil {
		return ""
	}
	return u.fixity().Reason
}
