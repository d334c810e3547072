package data

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// Past is what histories of rows are read from.
type Past interface {
	RowsArchive
	// Versions returns the versions of a URL, oldest first.
	Versions(ctx context.Context, urlOrID string) ([]catalog.Version, error)
	// Change returns how a version differs from the one before, nil if unknown.
	Change(ctx context.Context, id string) (*diff.Summary, error)
}

var _ Past = (*archive.Archive)(nil)

// Histories reads how one row of a table changed from version to version. Use NewHistories.
type Histories struct {
	archive Past
	places  *access.Gate
	limit   func(context.Context) (context.Context, context.CancelFunc) // of the time for one request
	// Page answers with a page. If it is nil, JSON is offered only.
	Page func(w http.ResponseWriter, r *http.Request) error
}

// NewHistories returns Histories that read a few tables at a time.
func NewHistories(a Past) *Histories {
	return &Histories{archive: a,
		limit: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, readTime)
		},
		places: access.NewGate(access.Limits{Places: 3, PerClient: 1, Queue: 32, PerQueue: 4, Wait: 10 * time.Second})}
}

// Limits of a history.
const (
	MaxPast    = 1000 // versions of one answer
	usualPast  = 200
	pastCells  = 500     // columns of a row
	pastText   = 2000    // bytes of a cell
	pastMemory = 8 << 20 // bytes of the cells of one answer
)

// HistoryRequest names a row: by the values of its key, or by its number in a version.
type HistoryRequest struct {
	URL   string // of the file; "" if Version is set
	Table string // see Request
	Where string // the values of the key: column = value, joined by " and "; see parseWhere

	Version string   // id of the version that has the row, if Where is empty
	Row     int64    // its number there, from 0
	Key     []string // columns of the key; empty for those that identify the row

	Column string // the history of this cell only; "" for the whole row
	Before int    // read versions up to this number, by position; 0 for all
	Limit  int    // versions to read; 0 means 200
}

// History is how a row changed, newest first. Its JSON names are part of the API.
type History struct {
	URL      string       `json:"url"`
	Table    string       `json:"table,omitempty"`
	Where    string       `json:"where"`  // the key as a condition
	Key      []Comparison `json:"-"`      // the same
	Column   string       `json:"column"` // the only cell, "" for the row
	Columns  []string     `json:"columns"`
	Versions int          `json:"versions"` // read, of Total
	Total    int          `json:"total"`
	Periods  []Period     `json:"periods"`
	// Next is the parameter before of the rest, 0 if there is none.
	Next int `json:"next,omitempty"`
}

// RowsState is what a version has of a row.
type RowsState string

// The states.
const (
	Present    RowsState = "present"
	Absent     RowsState = "absent"     // the table has no such row
	NoTable    RowsState = "no table"   // the version has no such table
	NoColumn   RowsState = "no column"  // the table has not all columns of the key
	NotData    RowsState = "not data"   // an error page
	Taken      RowsState = "withdrawn"  // the bytes were taken away
	Unreadable RowsState = "unreadable" // the table cannot be read
)

// known reports whether a version says whether the row is in it.
func (s RowsState) known() bool { return s == Present || s == Absent }

// Period is a number of versions, one after the other, that say the same of a row.
type Period struct {
	State RowsState `json:"state"`
	// since the period before that is present or absent: added, changed, removed, or "" for none or unknown
	Change   string  `json:"change,omitempty"`
	First    Moment  `json:"first"`
	Last     Moment  `json:"last"`
	Versions int     `json:"versions"`
	Row      int64   `json:"row"`            // number of the row in the last version, from 0; -1 unless present
	Rows     int64   `json:"rows,omitempty"` // rows with this key, if there are several; the first counts
	Cells    []Cell  `json:"cells,omitempty"`
	Changes  []Cells `json:"changes,omitempty"`
	Why      string  `json:"why,omitempty"` // why it is unreadable

	state *pastState
}

// Moment is a version of a period.
type Moment struct {
	ID string    `json:"id"`
	N  int       `json:"n"`
	At time.Time `json:"at"`
}

// Cell is a cell of a row.
type Cell struct {
	Column string `json:"column"`
	Value  string `json:"value"`
}

// Cells is a cell that changed. From or To is nil if the table had no such column.
type Cells struct {
	Column string  `json:"column"`
	From   *string `json:"from"`
	To     *string `json:"to"`
}

// Read returns the history of a row. It reads versions from the newest on, and ends after the time for one request:
// then Next names the rest.
func (h *Histories) Read(ctx context.Context, r HistoryRequest) (*History, error) {
	leave, err := h.places.Enter(ctx, access.ClientOf(ctx))
	if err != nil {
		return nil, refused(err)
	}
	defer leave()
	limited, cancel := h.limit(ctx)
	defer cancel()
	url := r.URL
	if r.Version != "" {
		v, err := h.archive.Version(ctx, r.Version)
		if err != nil {
			return nil, err
		}
		url = v.URL
	}
	all, err := h.archive.Versions(ctx, url)
	if err != nil {
		return nil, err
	}
	w, err := h.walker(limited, all, r)
	if err != nil {
		return nil, ended(ctx, limited, err)
	}
	w.answer.URL, w.answer.Total = url, len(all)
	end := len(all)
	if r.Before > 0 {
		end = min(r.Before, end)
	}
	limit := usualPast
	if r.Limit > 0 {
		limit = max(min(r.Limit, MaxPast), 2)
	}
	for i := end - 1; i >= 0; i-- {
		enough := w.answer.Versions == limit || w.bytes > pastMemory
		if !enough {
			err = w.step(limited, all, i)
			enough = err != nil && limited.Err() != nil && ctx.Err() == nil && w.answer.Versions >= 2
		}
		if enough { // the next page begins with the last version of this one, to compare with it
			w.answer.Next = i + 2
			break
		}
		if err != nil {
			return nil, ended(ctx, limited, err)
		}
	}
	w.finish()
	return w.answer, nil
}

// ended returns the problem of a history that could not be read.
func ended(ctx, limited context.Context, err error) error {
	if ctx.Err() == nil && limited.Err() != nil {
		return &problem.Error{Status: http.StatusServiceUnavailable, Title: "Reading takes too long", RetryAfter: 10 * time.Second,
			Cause:  err,
			Detail: fmt.Sprintf("two versions of the table could not be read within %s", readTime)}
	}
	return notRead(ctx, limited, err)
}
