package data

import (
	"net/http"
	"strconv"

	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

var historyOffers = []conneg.Offer{{MediaType: "application/json", Name: "json"}, {MediaType: "text/html", Name: "html"}}

// ServeHistory answers GET /history with the history of a row or a cell. The Link header names the next page.
func (h *Histories) ServeHistory(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	format := q.Get("format")
	if format == "" {
		offer, ok := conneg.Negotiate(r, historyOffers)
		if !ok {
			return problem.New(http.StatusNotAcceptable, "Not acceptable", "a history is available as application/json or text/html")
		}
		format = offer.Name
	}
	w.Header().Add("Vary", "Accept")
	switch {
	case format == "html" && h.Page != nil:
		return h.Page(w, r)
	case format != "json" && format != "html":
		return problem.Newf(http.StatusBadRequest, "Unknown format", "format=%q: expected json or html", format)
	}
	request, err := ParseHistory(r)
	if err != nil {
		return err
	}
	found, err := h.Read(r.Context(), request)
	if err != nil {
		return err
	}
	if found.Next > 0 {
		q.Set("before", strconv.Itoa(found.Next))
		w.Header().Set("Link", "<"+r.URL.EscapedPath()+"?"+q.Encode()+`>; rel="next"`)
	}
	return answer.JSON(w, r, found)
}

// ParseHistory returns what a request for a history asks for.
func ParseHistory(r *http.Request) (h HistoryRequest, err error) {
	q := r.URL.Query()
	h = HistoryRequest{URL: q.Get("url"), Table: q.Get("table"), Where: q.Get("where"), Version: q.Get("version"), Key: q["key"],
		Column: q.Get("column")}
	if h.URL == "" && h.Version == "" || h.Where == "" && (h.Version == "" || !q.Has("row")) {
		return h, problem.New(http.StatusBadRequest, "No file given", "expected url with where, or version with row")
	}
	if len(h.Key) > keyColumns {
		return h, problem.Newf(http.StatusBadRequest, "Bad key", "a key has at most %d columns", keyColumns)
	}
	row, err := target.Int(q, "row", 0, 0, maxOffset)
	if err != nil {
		return h, err
	}
	h.Row = int64(row)
	if h.Before, err = target.Int(q, "before", 0, 1, 1<<30); err != nil {
		return h, err
	}
	h.Limit, err = target.Int(q, "limit", usualPast, 2, MaxPast)
	return h, err
}
