package data

import (
	"net/http"
	"strconv"

	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/target"
)

// Rows answers GET /get/file/id/{id}/rows. The Link header names the next page. With a format other than json, it
// answers with a file of all rows that the parameters ask for.
func (a *RowsAPI) Rows(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if format := q.Get("format"); format != "" && format != "json" {
		return a.file(w, r, format)
	}
	request := RowsRequest{Version: target.Value(r, "id"), Table: q.Get("table"), Where: q.Get("where"), Order: q["order"]}
	var err error
	if request.Offset, err = target.Int(q, "offset", 0, 0, maxOffset); err != nil {
		return err
	}
	if request.Limit, err = target.Int(q, "limit", usualLimit, 1, MaxLimit); err != nil {
		return err
	}
	request.Typed, _ = strconv.ParseBool(q.Get("typed"))
	request.Facets, _ = strconv.ParseBool(q.Get("facets"))
	found, err := a.Read(r.Context(), request)
	if err != nil {
		return err
	}
	if found.Next > 0 {
		q.Set("offset", strconv.Itoa(found.Next))
		w.Header().Set("Link", "<"+r.URL.EscapedPath()+"?"+q.Encode()+`>; rel="next"`)
	}
	w.Header().Set("Cache-Control", "public, max-age=86400") // a version never changes; how it is read may
	return answer.JSON(w, r, found)
}
