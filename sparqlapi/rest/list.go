package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

const (
	pageSize = 200  // resources read from the archive at once
	maxLimit = 1000 // the largest page of a client; without a limit the whole list is streamed
)

// DatasetsByHost answers GET /get/datasets/{domain}.
func (a *API) DatasetsByHost(w http.ResponseWriter, r *http.Request) error {
	host := target.Value(r, "domain")
	each := func(ctx context.Context, after string, f func(catalog.Resource) bool) error {
		return a.archive.ResourcesOfHost(ctx, host, after, f)
	}
	return a.list(w, r, each, "no dataset of host "+strconv.Quote(host)+" is known")
}

// DatasetsByType answers GET /get/dataset/type/{TYPE} and /get/datasets/type/{TYPE}.
func (a *API) DatasetsByType(w http.ResponseWriter, r *http.Request) error {
	name := target.Value(r, "*")
	mime := MediaType(name)
	if mime == "" {
		return problem.Newf(http.StatusNotFound, "Unknown type",
			"%q is not a media type such as text/csv, or a known extension such as csv", name)
	}
	each := func(ctx context.Context, after string, f func(catalog.Resource) bool) error {
		return a.archive.ResourcesOfType(ctx, mime, after, f)
	}
	return a.list(w, r, each, "no dataset of type "+mime+" is known")
}

// each calls f with the resources of a list, in the order of ids, that follow an id.
type each func(ctx context.Context, after string, f func(catalog.Resource) bool) error

// page returns at most limit resources. next is the id to continue after, or "" at the end. The archive's cursor is
// closed before anything slow happens.
func (e each) page(ctx context.Context, after string, limit int) (page []catalog.Resource, next string, err error) {
	err = e(ctx, after, func(r catalog.Resource) bool {
		page = append(page, r)
		return len(page) <= limit
	})
	if len(page) > limit {
		page = page[:limit]
		next = page[limit-1].ID
	}
	return page, next, err
}

// list streams a JSON array. With a limit it is one page, and the Link header names the next one.
func (a *API) list(w http.ResponseWriter, r *http.Request, all each, nothing string) error {
	query := r.URL.Query()
	limit, err := target.Int(query, "limit", 0, 1, maxLimit)
	if err != nil {
		return err
	}
	size := limit
	if limit == 0 {
		size = pageSize
	}
	page, next, err := all.page(r.Context(), query.Get("after"), size)
	if err != nil {
		return err
	}
	if len(page) == 0 && query.Get("after") == "" {
		return problem.New(http.StatusNotFound, "Nothing found", nothing)
	}
	if limit > 0 && next != "" {
		query.Set("after", next)
		w.Header().Set("Link", "<"+r.URL.EscapedPath()+"?"+query.Encode()+`>; rel="next"`)
		next = ""
	}
	// The first document is encoded before the status is sent, so that a failing archive is still answered with status
	// 500.
	var first []byte
	if len(page) > 0 {
		if first, err = a.encode(r, page[0]); err != nil {
			return err
		}
		page = page[1:]
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	if r.Method == http.MethodHead {
		return nil
	}
	if err := a.stream(w, r, all, first, page, next); err != nil {
		panic(http.ErrAbortHandler) // the array is incomplete: cut the connection
	}
	return nil
}

func (a *API) stream(w http.ResponseWriter, r *http.Request, all each, first []byte, page []catalog.Resource, next string) error {
	if _, err := w.Write(append([]byte("["), first...)); err != nil {
		return err
	}
	for {
		for _, res := range page {
			doc, err := a.encode(r, res)
			if err != nil {
				return err
			}
			if _, err := w.Write(append([]byte(",\n"), doc...)); err != nil {
				return err
			}
		}
		if next == "" {
			_, err := w.Write([]byte("]\n"))
			return err
		}
		var err error
		if page, next, err = all.page(r.Context(), next, pageSize); err != nil {
			return err
		}
	}
}

func (a *API) encode(r *http.Request, res catalog.Resource) ([]byte, error) {
	res, err := a.archive.Resource(r.Context(), res.ID) // read again, because lists do not have the schedule
	if err != nil {
		return nil, err
	}
	d, err := a.dataset(r.Context(), res)
	if err != nil {
		return nil, err
	}
	return json.Marshal(d)
}
