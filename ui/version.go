package ui

import (
	"context"
	"net/http"
	"net/url"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
)

type versionView struct {
	Version  catalog.Version
	Resource catalog.Resource
	Before   string // ids of the versions before and after, or ""
	After    string
	contents
	Joins      []joinable
	Statements *statements
	Cite       Citation
	IRI        string
	Proved     bool // there is a proof
	Headers    [][2]string
	Exchange   *catalog.Exchange // nil if it is not known
	Crumbs     []crumb
}

// versionPage answers GET /version?id=.
func (u *UI) versionPage(w http.ResponseWriter, r *http.Request) error {
	return u.Version(w, r, r.URL.Query().Get("id"))
}

// Version answers with the page of a version.
func (u *UI) Version(w http.ResponseWriter, r *http.Request, id string) error {
	_, n, ok := ns.SplitVersionID(id)
	if !ok {
		return problem.Newf(http.StatusNotFound, "Unknown version",
			"%q is not a version id: expected 24 hexadecimal digits, _ and a number", id)
	}
	ctx := r.Context()
	v, err := u.archive.Version(ctx, id)
	if err != nil {
		return err
	}
	res, err := u.archive.Resource(ctx, v.URL)
	if err != nil {
		return err
	}
	iri := u.mint.Version(id)
	page := versionView{Version: v, Resource: res, Before: v.Previous, IRI: iri, Headers: headerLines(v.Headers),
		Crumbs: append(crumbs(res), crumb{titleOf(res), pagePath(res.URL)})}
	if n+1 < res.Versions {
		page.After = ns.VersionID(res.ID, n+1)
	}
	if page.Exchange, err = u.archive.Exchange(ctx, v); err != nil {
		return err
	}
	if page.contents, err = u.contents(ctx, v); err != nil {
		return err
	}
	if page.Cite, err = u.citation(ctx, w.Header(), res, v); err != nil {
		return err
	}
	if u.proved != nil {
		if page.Proved, err = u.proved(v); err != nil {
			return err
		}
	}
	if page.Joins, err = u.joins(ctx, id); err != nil {
		return err
	}
	if page.Statements, err = u.statements(ctx, iri); err != nil {
		return err
	}
	title := res.Title
	if title == "" {
		title = v.FileName
	}
	h := w.Header()
	if u.cite == nil {
		h.Add("Link", `<`+iri+`>; rel="cite-as"`)
	}
	h.Add("Link", `<`+v.URL+`>; rel="original"`)
	h.Add("Link", `</describe?iri=`+url.QueryEscape(iri)+`&format=ttl>; rel="describedby"; type="text/turtle"`)
	status := http.StatusOK
	if v.Withdrawn != nil {
		status = v.Withdrawn.Status
	}
	return u.render(w, r, status, "version", view{Title: title + ", version " + humanCount(v.N), Page: page})
}

// contents is what a version contains, for pages.
type contents struct {
	Preview preview
	Samples []sample // of tables that are not delimited text
	Table   *table   // the first table, or nil
	Inside  *inside
	Explore string   // address of the page with all rows, "" if there is none
	Extents *extents // where and when its things are, nil if that is not known
}

func (u *UI) contents(ctx context.Context, v catalog.Version) (c contents, err error) {
	if v.Withdrawn != nil { // nothing of it may be shown
		return c, nil
	}
	in, err := u.archive.Inside(ctx, v.ID)
	if err != nil {
		return c, err
	}
	var profile *csvprofile.Profile
	if in != nil && len(in.Tables) > 0 {
		profile = in.Tables[0]
	}
	c.Inside, c.Table, c.Extents = u.inside(v.ID, in), tableFacts(profile), extentsOf(in)
	if c.Table != nil && u.tables != nil {
		c.Explore = "/table/" + v.ID
	}
	if c.Preview, err = u.preview(ctx, v, profile); c.Preview.Kind != "table" {
		c.Samples = u.samples(ctx, v, in)
	}
	return c, err
}

func headerLines(h http.Header) [][2]string {
	var lines [][2]string
	for name, values := range h {
		for _, value := range values {
			lines = append(lines, [2]string{name, value})
		}
	}
	return sorted(lines, func(l [2]string) string { return l[0] })
}
