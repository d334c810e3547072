package ui

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"

	"github.com/go-chi/chi/v5"
)

// Tables reads the rows of tables.
type Tables interface {
	Read(ctx context.Context, r data.RowsRequest) (*data.RowsAnswer, error)
}

// Limits of the page of a table. It weighs at most about 20 KB.
const (
	exploreColumns = 10  // at a time
	exploreCells   = 160 // at a time
	exploreCell    = 60  // characters
	exploreRows    = 20
	recordCell     = 20_000 // characters of a cell in the page of a row
	exploreCharts  = 3
	exploreFacets  = 4
	exploreValues  = 6 // of a facet
)

// exploring is the state of a page of a table: its address contains it whole.
type exploring struct {
	Table  string
	Where  []data.Comparison
	Order  string
	Offset int
	From   int // first column
}

// href returns the address of a state, relative to the page.
func (s exploring) href() string {
	q := url.Values{}
	for _, p := range [][2]string{{"table", s.Table}, {"where", data.Condition(s.Where)}, {"order", s.Order}} {
		if p[1] != "" {
			q.Set(p[0], p[1])
		}
	}
	if s.Offset > 0 {
		q.Set("offset", strconv.Itoa(s.Offset))
	}
	if s.From > 0 {
		q.Set("from", strconv.Itoa(s.From))
	}
	return "?" + q.Encode()
}

// narrowed returns the state with more comparisons, at its first page.
func (s exploring) narrowed(more ...data.Comparison) exploring {
	s.Where, s.Offset = append(slices.Clone(s.Where), more...), 0
	return s
}

type explorePage struct {
	Version  catalog.Version
	Name     string // of the table, or the file
	Title    string // of the file
	Crumbs   []crumb
	Tables   []choice
	Columns  []exploreColumn
	Rows     []exploreRow
	Total    string
	Cut      bool   // the table has more rows than are read
	First    string // number of the first row that is shown, from 1
	Last     string
	Previous string // addresses of other pages, "" for none
	Next     string
	Left     string // of other columns
	Right    string
	Shown    string // which columns are shown, "" if all are
	Chosen   []chosen
	Facets   []facet
	Charts   []chart
	Map      template.HTML
	Files    []crumb
	Snippets []data.Snippet
	Fault    string // why the condition cannot be used
	Notes    []string
	State    exploring
	Where    string   // the condition
	Names    []string // of columns, for the form
	Ops      []crumb  // operators by name
	Record   *record  // the only row, on the page of a row
}

// choice is a link to one of several things.
type choice struct {
	Name, Href string
	Current    bool
}

// chart is a column whose values are drawn.
type chart struct {
	Name, From, To string
	Plot           template.HTML
}

// tablePage answers GET /table/{id}: the rows of a table, page by page. With the parameters c, op and v it adds their
// comparison to the condition, and redirects to the page.
func (u *UI) tablePage(w http.ResponseWriter, r *http.Request) error {
	id, q, ctx := chi.URLParam(r, "id"), r.URL.Query(), r.Context()
	if _, _, ok := ns.SplitVersionID(id); !ok || u.tables == nil {
		return problem.Newf(http.StatusNotFound, "Unknown version",
			"%q is not a version id: expected 24 hexadecimal digits, _ and a number", id)
	}
	v, err := u.archive.Version(ctx, id)
	if err != nil {
		return err
	}
	if err := v.Available(); err != nil {
		return err
	}
	if c := q.Get("c"); c != "" && slices.Contains(data.Operators(), q.Get("op")) {
		return addComparison(w, q, data.Comparison{Column: c, Op: q.Get("op"), Value: q.Get("v")})
	}
	request := data.RowsRequest{Version: id, Table: q.Get("table"), Where: q.Get("where"), Facets: true, Limit: exploreRows}
	if order := q.Get("order"); order != "" {
		request.Order = []string{order}
	}
	if request.Offset, err = target.Int(q, "offset", 0, 0, 1<<40); err != nil {
		return err
	}
	from, err := target.Int(q, "from", 0, 0, 1<<20)
	if err != nil {
		return err
	}
	row, err := target.Int(q, "row", -1, 0, 1<<40)
	if err != nil {
		return err
	}
	if row >= 0 {
		request = data.RowsRequest{Version: id, Table: request.Table, Offset: row, Limit: 1}
	}
	res, err := u.archive.Resource(ctx, v.URL)
	if err != nil {
		return err
	}
	page := &explorePage{Version: v, Title: titleOf(res),
		Crumbs: append(crumbs(res), crumb{titleOf(res), pagePath(res.URL)}, crumb{"Version " + humanCount(v.N), u.versionPath(id)})}
	status := http.StatusOK
	found, err := u.tables.Read(ctx, request)
	if fault, ok := errors.AsType[*problem.Error](err); ok && fault.Status == http.StatusBadRequest &&
		(request.Where != "" || len(request.Order) > 0) {
		status, page.Fault = http.StatusBadRequest, fault.Detail // the form is shown, to ask otherwise
		request.Where, request.Order, request.Offset = "", nil, 0
		found, err = u.tables.Read(ctx, request)
	}
	if err != nil {
		return err
	}
	page.State = exploring{Table: request.Table, Where: found.Where, Order: strings.Join(request.Order, ","), Offset: request.Offset,
		From: min(from, max(len(found.Columns)-1, 0))}
	if page.Fault == "" && row < 0 && request.Where != "" && len(found.Where) == 0 {
		page.State.Where = nil
	}
	page.fill(found)
	if row >= 0 {
		if len(found.Rows) == 0 {
			return problem.Newf(http.StatusNotFound, "No such row", "the table has %d rows, the first is 0", found.Total)
		}
		page.Record = recordOf(found, row, page.State)
	} else {
		page.grid(found)
		page.Map = u.placesOf(found, page.State)
	}
	if page.Record != nil && u.histories != nil {
		page.Record.History = "/history?" + url.Values{"version": {id}, "table": {request.Table}, "row": {strconv.Itoa(row)}}.Encode()
	}
	page.offers(u.mint.Version(id), u.versionPath(id))
	title := page.Name
	if page.Record != nil {
		title = "Row " + page.Record.Number + " of " + title
	}
	return u.render(w, r, status, "table", view{Title: title, Section: "/search", Page: page, Wide: true})
}

// addComparison redirects to the page with one more comparison.
func addComparison(w http.ResponseWriter, q url.Values, c data.Comparison) error {
	where := c.String()
	if old := strings.TrimSpace(q.Get("where")); old != "" {
		where = old + " and " + where
	}
	for _, name := range []string{"c", "op", "v", "offset"} {
		q.Del(name)
	}
	q.Set("where", where)
	w.Header().Set("Location", "?"+q.Encode()) // relative, so that it is right behind any proxy
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// fill sets what the pages of a table and of a row have in common.
func (p *explorePage) fill(found *data.RowsAnswer) {
	p.Name = found.Table
	if p.Name == "" {
		p.Name = p.Version.FileName
	}
	if p.Name == "" {
		p.Name = p.Title
	}
	for i, name := range found.Tables {
		if name == "" {
			name = "Table " + humanCount(i+1)
		}
		p.Tables = append(p.Tables, choice{shorten(name), exploring{Table: strconv.Itoa(i)}.href(), found.Tables[i] == found.Table})
	}
	if len(p.Tables) > exploreTables {
		p.Tables = p.Tables[:exploreTables]
	}
	p.Where = data.Condition(found.Where)
	for _, c := range found.Columns[:min(len(found.Columns), exploreNames)] {
		p.Names = append(p.Names, c.Name)
	}
	if p.Cut = found.Truncated; p.Cut {
		p.Notes = append(p.Notes, "The table has more rows than the archive reads.")
	}
	if found.Omitted > 0 {
		p.Notes = append(p.Notes, plural(found.Omitted, "more column")+" without a profile can be downloaded with the others.")
	}
}

// exploreTables and exploreNames bound the lists to choose from.
const (
	exploreTables = 40
	exploreNames  = 200
)

func rowHref(table string, number int64) string {
	q := url.Values{"row": {strconv.FormatInt(number, 10)}}
	if table != "" {
		q.Set("table", table)
	}
	return "?" + q.Encode()
}
