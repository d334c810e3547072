// Serves the changes in the archive: as Atom (RFC 4287) at /feed.atom, as JSON Feed 1.1 at /feed.json,
// and single events at /event/{number}.
//
// A feed is about a file (parameter url), a dataset, a portal, the files that a search finds (q), or the whole archive.
// The parameter kind selects kinds of changes. Feeds are paged as in RFC 5005 section 3: each page links to the next,
// older one. The length of a page does not depend on the size of the archive. Responses have an ETag and Last-Modified,
// so that frequent requests cost little.

package describe

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/rdfio/iri"
)

// FeedsArchive is what the handlers read.
type FeedsArchive interface {
	Events(ctx context.Context, q catalog.EventQuery) (catalog.Events, error)
	Event(ctx context.Context, seq uint64) (catalog.Event, error)
}

// FeedsAPI has the handlers. Archive and Mint are required.
type FeedsAPI struct {
	Archive FeedsArchive
	Mint    ns.Mint
	Hub     string // address of a WebSub hub to name in feeds; "" for none
}

// feed is one page of a feed, independent of its format.
type feed struct {
	catalog.Events
	items []item // one for each event
	title string
	home  string // address of a page for people
	id    string // address of the first page
	self  string // address of this page
	next  string // address of the next page, "" if this is the last
}

// item is what all formats say of an event.
type item struct {
	id      string // IRI of the event
	page    string // address of a page for people about the changed file or dataset
	via     string // address of the file, "" if the event has none
	title   string
	summary string
	time    string // RFC 3339, in milliseconds
}

// path is the path of the feeds, without the ending.
const path = "feed"

// Atom answers GET /feed.atom.
func (a *FeedsAPI) Atom(w http.ResponseWriter, r *http.Request) error {
	return a.serve(w, r, ".atom", "application/atom+xml; charset=utf-8", a.writeAtom)
}

// JSON answers GET /feed.json.
func (a *FeedsAPI) JSON(w http.ResponseWriter, r *http.Request) error {
	return a.serve(w, r, ".json", "application/feed+json; charset=utf-8", a.writeJSON)
}

// Event answers GET /event/{number} in JSON.
func (a *FeedsAPI) Event(w http.ResponseWriter, r *http.Request) error {
	seq, err := strconv.ParseUint(target.Value(r, "number"), 10, 63)
	if err != nil {
		return problem.Newf(http.StatusNotFound, "No such event", "%q is not the number of an event", target.Value(r, "number"))
	}
	e, err := a.Archive.Event(r.Context(), seq)
	if err != nil {
		return err
	}
	return answer.JSON(w, r, events.Describe(a.Mint, e))
}

func (a *FeedsAPI) serve(w http.ResponseWriter, r *http.Request, ending, mediaType string, write func(*bytes.Buffer, feed) error) error {
	query, asked, err := selection(r.URL.Query())
	if err != nil {
		return err
	}
	f := feed{home: a.home(query), id: a.page(ending, asked, 0)}
	if f.Events, err = a.Archive.Events(r.Context(), query); err != nil {
		return err
	}
	f.title = title(query, f.Events.Title)
	f.self = a.page(ending, asked, query.Before)
	if f.Next != 0 {
		f.next = a.page(ending, asked, f.Next)
	}
	for _, e := range f.List {
		f.items = append(f.items, a.item(e))
	}
	var body bytes.Buffer
	if err := write(&body, f); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", "no-cache")
	h.Add("Link", "<"+f.self+`>; rel="self"`)
	if f.next != "" {
		h.Add("Link", "<"+f.next+`>; rel="next"`)
	}
	if a.Hub != "" {
		h.Add("Link", "<"+a.Hub+`>; rel="hub"`)
	}
	tag := answer.Tag(body.Bytes())
	h.Set("ETag", tag)
	if len(f.List) > 0 {
		h.Set("Last-Modified", f.List[0].At.UTC().Format(http.TimeFormat))
	}
	if f.known(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		w.Write(body.Bytes()) // an error means that the client has left
	}
	return nil
}

// known reports whether the client has this page already. A date shows that only if it is the date of the first event
// and of no other: dates have whole seconds, and events need not be in the order of their times.
func (f feed) known(r *http.Request, tag string) bool {
	if tags := r.Header.Values("If-None-Match"); len(tags) > 0 {
		return answer.Matches(tags, tag)
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	if err != nil || len(f.List) == 0 || !f.List[0].At.Truncate(time.Second).Equal(since) {
		return false
	}
	for _, e := range f.List[1:] {
		if e.At.Truncate(time.Second).Equal(since) {
			return false
		}
	}
	return true
}

// selection parses the parameters of a request. asked has the parameters that select events, in a normal form, without
// before.
func selection(q url.Values) (query catalog.EventQuery, asked url.Values, err error) {
	asked = url.Values{}
	about := 0
	for _, p := range []struct {
		name string
		to   *string
	}{{"url", &query.URL}, {"dataset", &query.Dataset}, {"portal", &query.Portal}, {"q", &query.Text}} {
		if *p.to = strings.TrimSpace(q.Get(p.name)); *p.to != "" {
			asked.Set(p.name, *p.to)
			about++
		}
	}
	if about > 1 {
		return query, nil, problem.New(http.StatusBadRequest, "Too many selections", "a feed is about one of url, dataset, portal and q")
	}
	query.Kinds = strings.Join(q["kind"], ",")
	kinds, err := events.ParseKinds(query.Kinds)
	if err != nil {
		return query, nil, problem.Newf(http.StatusBadRequest, "Unknown kind of change", "kind=%s: %v", query.Kinds, err)
	}
	if kinds != events.Usual {
		asked.Set("kind", strings.Join(kinds.Names(), ","))
	}
	if query.Limit, err = target.Int(q, "limit", 0, 1, 500); err != nil {
		return query, nil, err
	}
	if query.Limit != 0 {
		asked.Set("limit", strconv.Itoa(query.Limit))
	}
	if before := q.Get("before"); before != "" {
		if query.Before, err = strconv.ParseUint(before, 10, 63); err != nil {
			return query, nil, problem.Newf(http.StatusBadRequest, "Bad parameter", "before=%q is not the number of an event", before)
		}
	}
	return query, asked, nil
}

// page returns the address of the page whose events have numbers less than before; 0 is the first page.
func (a *FeedsAPI) page(ending string, asked url.Values, before uint64) string {
	address := a.Mint.Base + path + ending
	q := maps.Clone(asked)
	if before != 0 {
		q.Set("before", strconv.FormatUint(before, 10))
	}
	if len(q) == 0 {
		return address
	}
	return address + "?" + q.Encode()
}

// home returns the address of the page for people about the subject of a feed.
func (a *FeedsAPI) home(q catalog.EventQuery) string {
	switch {
	case q.Text != "":
		return a.Mint.Base + "search?q=" + url.QueryEscape(q.Text)
	case q.URL != "" || q.Dataset != "" || q.Portal != "":
		return a.Mint.Page(cmp.Or(q.URL, q.Dataset, q.Portal))
	}
	return a.Mint.Base
}

// title returns the title of a feed. name is the title of its file, dataset or portal.
func title(q catalog.EventQuery, name string) string {
	switch {
	case q.Text != "":
		return "Changes of files found by “" + q.Text + "”"
	case name != "":
		return "Changes: " + name
	}
	return "Changes in the archive"
}

func (a *FeedsAPI) item(e catalog.Event) item {
	summary := events.Summary(e)
	return item{id: a.Mint.Event(e.Seq), page: a.pageOf(e), via: uri(e.URL), title: cmp.Or(e.Title, e.URL, "Change") + ": " + summary,
		summary: summary, time: stamp(e.At)}
}

// stamp returns a time as RFC 3339 writes it, in milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// pageOf returns the address of the page for people about the version, file or dataset of an event.
func (a *FeedsAPI) pageOf(e catalog.Event) string {
	switch {
	case e.Version != "":
		return a.Mint.Version(e.Version)
	case e.URL != "":
		return a.Mint.Page(e.URL)
	case len(e.Datasets) > 0:
		return a.Mint.Page(e.Datasets[0])
	}
	return a.Mint.Event(e.Seq)
}

// uri returns the address of a file as a valid IRI.
func uri(address string) string { return iri.Escape(strings.ToValidUTF8(address, "")) }
