// Serves the rows of tables: GET /get/file/id/{id}/rows answers with a page of the rows of a table in a
// version, whatever its format: delimited text, sheets, JSON, XML, HTML, Parquet, and files inside archives.
//
// The rows are those that the archive counted when it profiled the version. A request reads the table from its
// beginning, or from a group of rows that an earlier request has found (rowIndex), and stops at the end of its page,
// unless it has a condition or an order: then all rows are read, and Total
// counts those that fulfil the condition. Cells are text as it is in the file, or JSON values if the request asks for
// that.

package data

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// RowsArchive is what the package reads. An unknown version is an error that the program's problem table answers with
// 404.
type RowsArchive interface {
	Version(ctx context.Context, id string) (catalog.Version, error)
	Tables(ctx context.Context, v catalog.Version) ([]archive.Table, *inspect.Inside, error)
	EachRowFrom(ctx context.Context, v catalog.Version, t archive.Table, marks inspect.Marks, f func(cells [][]byte) error) error
}

var _ RowsArchive = (*archive.Archive)(nil)

// RowsAPI reads rows. Use New.
type RowsAPI struct {
	archive RowsArchive
	places  *access.Gate // for pages
	files   *access.Gate // for files, which take longer
	odd     oddColumns
	marks   rowIndex
}

// Limits of requests.
const (
	MaxLimit   = 10_000 // rows of a page
	usualLimit = 100
	maxOffset  = 1 << 40
	maxBytes   = 16 << 20         // of the cells of a page
	readTime   = 20 * time.Second // for one request
	maxNamed   = 100              // tables that an answer names
)

// NewRows returns an API that reads a few tables at a time.
func NewRows(a RowsArchive) *RowsAPI {
	return &RowsAPI{archive: a,
		places: access.NewGate(access.Limits{Places: 4, PerClient: 2, Queue: 64, PerQueue: 8, Wait: 10 * time.Second}),
		files:  access.NewGate(access.Limits{Places: 6, PerClient: 2, Queue: 64, PerQueue: 8, Wait: 10 * time.Second})}
}

// RowsRequest is a request for rows.
type RowsRequest struct {
	Version string   // its id
	Table   string   // name of a sheet, path of a member, or number of a table; "" for the first
	Offset  int      // rows to skip, of those that fulfil the condition
	Limit   int      // rows of the page; 0 means 100
	Where   string   // see parseWhere; "" for all rows
	Order   []string // see parseOrder
	Typed   bool     // values as JSON
	Facets  bool     // count the values of columns that have few
	Bytes   int      // maximum bytes of the page's cells; 0 means 16 MiB
}

// RowsAnswer is a page of rows. Its JSON names are part of the API.
type RowsAnswer struct {
	Table   string   `json:"table"`            // name of the table, "" if it has none
	Tables  []string `json:"tables,omitempty"` // names of all tables, if there are several
	Columns []Column `json:"columns"`
	Total   int64    `json:"total"` // rows that fulfil the condition; at least as many, if Truncated is set
	Offset  int      `json:"offset"`
	Rows    [][]any  `json:"rows"`
	Numbers []int64  `json:"numbers,omitempty"` // of the rows in the table, from 0, if there is a condition or an order
	// Next is the offset of the next page, 0 if there is none.
	Next   int     `json:"next,omitempty"`
	Facets []Facet `json:"facets,omitempty"`
	// Truncated means that the table has more rows than are read.
	Truncated bool `json:"truncated,omitempty"`
	// Omitted is the number of columns after the last, which are not shown.
	Omitted int `json:"columnsOmitted,omitempty"`

	Profile *csvprofile.Profile `json:"-"` // of the table
	Where   []Comparison        `json:"-"` // the condition
}

// Column is a column of a page.
type Column struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Format   string `json:"format,omitempty"` // how dates and numbers are written, as in CSV on the Web
}

// errEnough ends the reading at the end of a page.
var errEnough = errors.New("the page is full")

// Read returns a page of rows. Errors are problems, or those of the archive.
func (a *RowsAPI) Read(ctx context.Context, r RowsRequest) (*RowsAnswer, error) {
	v, err := a.archive.Version(ctx, r.Version)
	if err != nil {
		return nil, err
	}
	if err := v.Available(); err != nil { // also where no row would have to be read
		return nil, err
	}
	all, in, err := a.archive.Tables(ctx, v)
	if err != nil {
		return nil, err
	}
	table, err := choose(v, all, in, r.Table)
	if err != nil {
		return nil, err
	}
	p, err := newPage(r, table)
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		for _, t := range all[:min(len(all), maxNamed)] {
			p.answer.Tables = append(p.answer.Tables, nameOf(t))
		}
	}
	if !p.wantsAny() {
		return p.finish()
	}
	leave, err := a.places.Enter(ctx, access.ClientOf(ctx))
	if err != nil {
		return nil, refused(err)
	}
	defer leave()
	limited, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	marks := inspect.Marks{Tell: a.marks.teller(v, table)}
	if len(p.where) == 0 && p.sorted == nil {
		if marks.From = a.marks.before(v, table, int64(r.Offset)); marks.From != nil {
			p.read = marks.From.Row
		}
	}
	if err = a.archive.EachRowFrom(limited, v, table, marks, p.add); err != nil && !errors.Is(err, errEnough) {
		return nil, notRead(ctx, limited, err)
	}
	return p.finish()
}

// choose returns the table with a name or number.
func choose(v catalog.Version, all []archive.Table, in *inspect.Inside, name string) (t archive.Table, err error) {
	if len(all) == 0 {
		why := "the profiler found no table in it"
		if in != nil && len(in.Faults) > 0 {
			why += ": " + in.Faults[0]
		}
		return t, problem.Newf(http.StatusNotFound, "No table", "version %s (%s): %s", v.ID, v.Type, why)
	}
	if name == "" {
		return all[0], nil
	}
	for _, t := range all {
		if nameOf(t) == name || t.Member != "" && t.Member == name {
			return t, nil
		}
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(all) {
		return all[n], nil
	}
	var names []string
	for i, t := range all[:min(len(all), 20)] {
		names = append(names, fmt.Sprintf("%d %q", i, shortened(nameOf(t))))
	}
	return t, problem.Newf(http.StatusNotFound, "No such table", "version %s has no table %q; it has %s", v.ID, shortened(name),
		strings.Join(names, ", "))
}

// nameOf returns the name of a table in its version: that of a sheet, the path of a member, or both with "#" between
// them.
func nameOf(t archive.Table) string {
	switch {
	case t.Member == "":
		return t.Profile.Name
	case t.Profile.Name == "":
		return t.Member
	}
	return t.Member + "#" + t.Profile.Name
}

// refused returns the problem of a request that got no place.
func refused(err error) error {
	full, ok := errors.AsType[*access.Full](err)
	if !ok {
		return err
	}
	e := &problem.Error{Status: http.StatusServiceUnavailable, Title: "Too many tables are being read",
		Detail: "All places for reading tables are taken; try again soon.", RetryAfter: max(full.After, time.Second), Cause: err}
	if full.Own {
		e.Status, e.Detail = http.StatusTooManyRequests,
			"You have as many requests for rows running and waiting as one client may have; try again when one has ended."
	}
	return e
}

// notRead returns the problem of a table that could not be read to the end.
func notRead(ctx, limited context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return err
	case limited.Err() != nil:
		return &problem.Error{Status: http.StatusServiceUnavailable, Title: "Reading takes too long", RetryAfter: 10 * time.Second,
			Cause: err,
			Detail: fmt.Sprintf(
				"the table could not be read within %s; ask for rows nearer to its beginning, without a condition and an order, or "+
					"download the version", readTime)}
	case errors.Is(err, inspect.ErrTooLarge):
		return problem.Wrap(http.StatusUnprocessableEntity, "The member is too large", err)
	case errors.Is(err, inspect.ErrOtherTables):
		return problem.Wrap(http.StatusUnprocessableEntity, "The table is read otherwise now", err)
	case errors.Is(err, errSorting):
		return problem.Wrap(http.StatusUnprocessableEntity, "Too much to order", err)
	}
	return err
}
