// Serves the differences between versions: /diff for two versions, /stats/changes for statistics of
// all.
//
// /diff?url=&from=&to= answers in JSON, as text or CSV, or with a page, chosen by ?format= or Accept. from and to are
// numbers of versions of the URL, or version ids. By default the latest version is compared with the one before. An
// answer lists at most list changes of each kind; of rows, those after offset.

package data

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"odarchive/crawler/archive/tallies"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// ChangesArchive is what the handlers read.
type ChangesArchive interface {
	Version(ctx context.Context, idOrIRI string) (catalog.Version, error)
	VersionID(name string) (id string, ok bool) // whether a name means a version by its id or IRI
	Versions(ctx context.Context, urlOrID string) ([]catalog.Version, error)
	Compare(ctx context.Context, from, to catalog.Version, o diff.Options) (*diff.Report, error)
	ChangeStats(ctx context.Context, limit int) (tallies.ChangeStats, error)
}

// ChangesAPI has the handlers.
type ChangesAPI struct {
	Archive ChangesArchive
	// Page answers with a page of the difference between the versions whose ids are the parameters from and to. If it
	// is nil, JSON and text are offered only.
	Page func(w http.ResponseWriter, r *http.Request) error
}

// MaxChanges bounds the changes that an answer lists. Its counts are complete.
const MaxChanges = 10_000

var offers = []conneg.Offer{{MediaType: "application/json", Name: "json"}, {MediaType: "text/plain", Name: "text"},
	{MediaType: "text/csv", Name: "csv"}, {MediaType: "text/html", Name: "html"}}

// Diff answers GET /diff?url=&from=&to=.
func (a *ChangesAPI) Diff(w http.ResponseWriter, r *http.Request) error {
	format, err := a.format(r)
	if err != nil {
		return err
	}
	from, to, err := a.pair(r)
	if err != nil {
		return err
	}
	w.Header().Add("Vary", "Accept")
	if format == "html" {
		q := r.URL.Query()
		q.Set("from", from.ID)
		q.Set("to", to.ID)
		page := r.Clone(r.Context())
		page.URL.RawQuery = q.Encode()
		return a.Page(w, page)
	}
	list, err := target.Int(r.URL.Query(), "list", 100, 1, MaxChanges)
	if err != nil {
		return err
	}
	offset, err := ChangesOffset(r)
	if err != nil {
		return err
	}
	report, err := a.Archive.Compare(r.Context(), from, to, diff.Options{List: list, Offset: offset, Key: ChangesKey(r)})
	if key, ok := errors.AsType[*diff.KeyError](err); ok {
		return problem.Wrap(http.StatusBadRequest, "Bad key", key)
	}
	if err != nil {
		return err
	}
	var body bytes.Buffer // holds the whole answer, since errors must come before the first byte
	switch format {
	case "csv":
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		err = report.WriteCSV(&body)
	case "text":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		err = report.WriteText(&body)
	default:
		w.Header().Set("Content-Type", "application/json")
		err = report.WriteJSON(&body)
	}
	if err != nil {
		return err
	}
	_, err = body.WriteTo(w)
	return err
}

// MaxChangesOffset bounds the changes of a kind that can be left out of an answer.
const MaxChangesOffset = 1_000_000

// ChangesOffset returns the parameter offset of a request: how many rows of each kind of change are left out, those of
// earlier pages.
func ChangesOffset(r *http.Request) (int, error) {
	return target.Int(r.URL.Query(), "offset", 0, 0, MaxChangesOffset)
}

// ChangesKey returns the parameters key of a request: the columns that identify a row. If there are none, the columns
// are searched for.
func ChangesKey(r *http.Request) []string {
	return slices.DeleteFunc(r.URL.Query()["key"], func(name string) bool { return name == "" })
}

func (a *ChangesAPI) format(r *http.Request) (string, error) {
	name := r.URL.Query().Get("format")
	if name == "" {
		offer, ok := conneg.Negotiate(r, offers)
		if !ok {
			return "", problem.New(http.StatusNotAcceptable, "Not acceptable",
				"a difference is available as application/json, text/plain, text/csv or text/html")
		}
		name = offer.Name
	}
	switch {
	case name == "html" && a.Page == nil:
		return "text", nil
	case name == "json" || name == "text" || name == "csv" || name == "html":
		return name, nil
	}
	return "", problem.Newf(http.StatusBadRequest, "Unknown format", "format=%q: expected json, text, csv or html", name)
}

// pair returns the versions that the parameters name.
func (a *ChangesAPI) pair(r *http.Request) (from, to catalog.Version, err error) {
	var all []catalog.Version
	if url := target.Parameter(r, "url"); url != "" {
		if all, err = a.Archive.Versions(r.Context(), url); err != nil {
			return from, to, err
		}
	}
	if to, err = a.one(r, all, "to", len(all)-1); err != nil {
		return from, to, err
	}
	from, err = a.one(r, all, "from", slices.IndexFunc(all, func(v catalog.Version) bool { return v.ID == to.ID })-1)
	return from, to, err
}

// one returns the version that a parameter names, or version n of all if the parameter is empty.
func (a *ChangesAPI) one(r *http.Request, all []catalog.Version, parameter string, n int) (catalog.Version, error) {
	value := target.Parameter(r, parameter)
	if _, isID := a.Archive.VersionID(value); isID {
		return a.Archive.Version(r.Context(), value)
	}
	if r.URL.Query().Get("url") == "" {
		return catalog.Version{},
			problem.Newf(http.StatusBadRequest, "Bad parameter", "expected url, or the ids or IRIs of two versions as from and to")
	}
	if value != "" {
		var err error
		if n, err = strconv.Atoi(value); err != nil {
			return catalog.Version{},
				problem.Newf(http.StatusBadRequest, "Bad parameter", "%s=%q is neither the number of a version nor a version id or IRI",
					parameter, value)
		}
		if i := slices.IndexFunc(all, func(v catalog.Version) bool { return v.N == n }); i >= 0 { // numbers need not follow dates
			n = i
		}
	}
	if value == "" && len(all) == 1 {
		return catalog.Version{}, problem.Newf(http.StatusNotFound, "Nothing to compare", "there is only one version of %s", all[0].URL)
	}
	if n < 0 || n >= len(all) {
		return catalog.Version{},
			problem.Newf(http.StatusNotFound, "No such version", "%s: there is no version %d; there are %d, numbered from 0", parameter, n,
				len(all))
	}
	return all[n], nil
}

// Stats answers GET /stats/changes?limit=.
func (a *ChangesAPI) Stats(w http.ResponseWriter, r *http.Request) error {
	limit, err := target.Int(r.URL.Query(), "limit", 100, 1, 100_000)
	if err != nil {
		return err
	}
	s, err := a.Archive.ChangeStats(r.Context(), limit)
	if err != nil {
		return err
	}
	return answer.JSON(w, r, s)
}
