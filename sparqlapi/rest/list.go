package rest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/problem"

	"github.com/go-chi/chi/v5"
)

const (
	pageSize = 200  // resources asked of the archive at once
	maxLimit = 1000 // the largest page a client may ask for; without a limit it gets everything, streamed
)

// DatasetsByHost answers GET /get/datasets/{domain}.
func (a *API) DatasetsByHost(w http.ResponseWriter, r *http.Request) error {
	host := chi.URLParam(r, "domain")
	return a.list(w, r, catalog.Search{Host: host}, "no dataset of host "+strconv.Quote(host)+" is known")
}

// DatasetsByType answers GET /get/dataset/type/{TYPE} and /get/datasets/type/{TYPE}.
func (a *API) DatasetsByType(w http.ResponseWriter, r *http.Request) error {
	name, err := url.PathUnescape(chi.URLParam(r, "*"))
	if err != nil {
		return problem.New(http.StatusBadRequest, "Bad type", "the type is not well percent-encoded")
	}
	mime := MediaType(name)
	if mime == "" {
		return problem.Newf(http.StatusNotFound, "Unknown type", "%q is neither a media type such as text/csv nor a known extension such as csv", name)
	}
	return a.list(w, r, catalog.Search{Type: mime}, "no dataset of type "+mime+" is known")
}

// list streams a JSON array. With limit it is one page, and the Link header names the next.
func (a *API) list(w http.ResponseWriter, r *http.Request, s catalog.Search, nothing string) error {
	query := r.URL.Query()
	limit, err := intParameter(query, "limit", 0, 1, maxLimit)
	if err != nil {
		return err
	}
	s.After, s.Limit = query.Get("after"), limit
	if limit == 0 {
		s.Limit = pageSize
	}
	found, err := a.archive.Search(r.Context(), s)
	if err != nil {
		return err
	}
	if len(found.Resources) == 0 && s.After == "" {
		return problem.New(http.StatusNotFound, "Nothing found", nothing)
	}
	if limit > 0 && found.Next != "" {
		query.Set("after", found.Next)
		w.Header().Set("Link", "<"+r.URL.EscapedPath()+"?"+query.Encode()+`>; rel="next"`)
	}
	// The first document is made before the status goes out, so that a failing archive is still a 500.
	var first []byte
	if len(found.Resources) > 0 {
		if first, err = a.encode(r, found.Resources[0]); err != nil {
			return err
		}
		found.Resources = found.Resources[1:]
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	if r.Method == http.MethodHead {
		return nil
	}
	s.After = found.Next
	if limit > 0 {
		s.After = ""
	}
	if err := a.stream(w, r, first, found.Resources, s); err != nil {
		panic(http.ErrAbortHandler) // the array cannot be closed honestly: cut the connection
	}
	return nil
}

func (a *API) stream(w http.ResponseWriter, r *http.Request, first []byte, page []catalog.Resource, s catalog.Search) error {
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
		if s.After == "" {
			_, err := w.Write([]byte("]\n"))
			return err
		}
		found, err := a.archive.Search(r.Context(), s)
		if err != nil {
			return err
		}
		page, s.After = found.Resources, found.Next
	}
}

func (a *API) encode(r *http.Request, res catalog.Resource) ([]byte, error) {
	res, err := a.archive.Resource(r.Context(), res.ID) // with its schedule, which a search leaves out
	if err != nil {
		return nil, err
	}
	d, err := a.dataset(r.Context(), res)
	if err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

func intParameter(q url.Values, name string, missing, least, most int) (int, error) {
	raw := q.Get(name)
	if raw == "" {
		return missing, nil
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n < least || n > most {
		return 0, problem.Newf(http.StatusBadRequest, "Bad parameter", "%s=%q is not a whole number from %d to %d", name, raw, least, most)
	}
	return n, nil
}
