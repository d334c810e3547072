package bundle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"odarchive/sparqlapi/problem"
)

// Querier runs a SELECT query and calls f with its rows while they come. Errors, and a query that is no SELECT, come
// back as problems (sparqlapi/problem) of status 400.
type Querier interface {
	Select(ctx context.Context, query string, f func(Rows) error) error
}

// Handler has the routes that answer with a zip.
type Handler struct {
	Archive  Archive
	Contents Contents
	Queries  Querier
	Base     string // IRI of the archive
	Limit    int    // versions in one zip; 0 for a million
	MaxBody  int64  // bytes of a request's body; 0 for 16 MiB
	Log      *slog.Logger
}

const (
	defaultLimit   = 1_000_000
	defaultMaxBody = 16 << 20
)

func (h *Handler) limit() int {
	if h.Limit > 0 {
		return h.Limit
	}
	return defaultLimit
}

// ServeHTTP serves all routes: .../get/files/sparql, .../get/files/sparql/count, .../get/files/type/{TYPE} and
// .../get/files.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, rest, _ := strings.Cut(r.URL.Path, "/get/files")
	switch {
	case rest == "/sparql":
		h.SPARQL().ServeHTTP(w, r)
	case rest == "/sparql/count":
		h.Count().ServeHTTP(w, r)
	case strings.HasPrefix(rest, "/type/"):
		h.Type("/get/files/type/").ServeHTTP(w, r)
	case rest == "":
		h.IDs().ServeHTTP(w, r)
	default:
		problem.Write(w, r, problem.New(http.StatusNotFound, "No such page", "zips are below /get/files/sparql and /get/files/type/"))
	}
}

// SPARQL serves /get/files/sparql: the versions that the query q selects.
func (h *Handler) SPARQL() http.Handler {
	return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		query, err := h.query(w, r)
		if err != nil {
			return err
		}
		return h.serve(w, r, Meta{Query: query, Base: h.Base}, h.selected(query))
	})
}

// Count serves /get/files/sparql/count: what the zip of a query would hold, as JSON.
func (h *Handler) Count() http.Handler {
	return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		query, err := h.query(w, r)
		if err != nil {
			return err
		}
		plan, err := h.plan(r.Context(), Meta{Query: query, Base: h.Base}, h.selected(query))
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache")
		_, err = fmt.Fprintf(w, "{\"files\": %d, \"bytes\": %d, \"zipBytes\": %d, \"leftOut\": %d}\n", len(plan.entries), plan.rawSize, plan.size, len(plan.leftOut))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		return nil
	})
}

func (h *Handler) selected(query string) func(context.Context) ([]Entry, error) {
	return func(ctx context.Context) (entries []Entry, err error) {
		err = h.Queries.Select(ctx, query, func(rows Rows) error {
			entries, err = Collect(ctx, rows, h.Archive, h.limit())
			return err
		})
		return entries, err
	}
}

// query of a request: the parameter q (or query, as SPARQL clients say), in the address or a form; or the body itself.
func (h *Handler) query(w http.ResponseWriter, r *http.Request) (string, error) {
	if r.Method == http.MethodPost {
		body, err := h.body(w, r)
		if err != nil {
			return "", err
		}
		contentType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		switch {
		case err == nil && contentType == "application/sparql-query":
			return string(body), nil
		case err == nil && contentType == "application/x-www-form-urlencoded":
			form, err := url.ParseQuery(string(body))
			if err != nil {
				return "", problem.Wrap(http.StatusBadRequest, "Bad form", err)
			}
			if q := first(form, "q", "query"); q != "" {
				return q, nil
			}
		case len(body) > 0:
			return "", problem.New(http.StatusUnsupportedMediaType, "Not a query",
				"post a form with the field q, or the query itself as application/sparql-query")
		}
	}
	if q := first(r.URL.Query(), "q", "query"); q != "" {
		return q, nil
	}
	return "", problem.New(http.StatusBadRequest, "No query", "give a SELECT query in the parameter q")
}

func first(form url.Values, names ...string) string {
	for _, name := range names {
		if v := form.Get(name); v != "" {
			return v
		}
	}
	return ""
}

func (h *Handler) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limit := h.MaxBody
	if limit <= 0 {
		limit = defaultMaxBody
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLong *http.MaxBytesError
	if err != nil && !errors.As(err, &tooLong) {
		return nil, problem.Wrap(http.StatusBadRequest, "The request's body could not be read", err)
	}
	return body, err
}

// Type serves /get/files/type/{TYPE}: the latest versions of one media type. The prefix is what stands before the type.
func (h *Handler) Type(prefix string) http.Handler {
	return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		_, mediaType, _ := strings.Cut(r.URL.Path, prefix)
		if mediaType == "" {
			return problem.New(http.StatusNotFound, "No type given", "expected "+prefix+" followed by a media type, such as text/csv")
		}
		return h.serve(w, r, Meta{Title: "All files of type " + mediaType, Base: h.Base}, func(ctx context.Context) ([]Entry, error) {
			entries, err := h.Archive.OfType(ctx, mediaType)
			if err != nil {
				return nil, err
			}
			c := collector{archive: h.Archive, limit: h.limit()}
			err = c.add(entries)
			return c.entries, err
		})
	})
}

// IDs serves POST /get/files: a JSON array of ids, of versions or of resources. What is not known is a problem of status
// 404 that names it.
func (h *Handler) IDs() http.Handler {
	return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		body, err := h.body(w, r)
		if err != nil {
			return err
		}
		var ids []string
		if err := json.Unmarshal(body, &ids); err != nil {
			return problem.New(http.StatusBadRequest, "Not a list of ids", `post a JSON array of ids, such as ["5f1e…_0", "5f1e…_1"]`)
		}
		return h.serve(w, r, Meta{Base: h.Base}, func(ctx context.Context) ([]Entry, error) { return h.byID(ctx, ids) })
	})
}

func (h *Handler) byID(ctx context.Context, ids []string) ([]Entry, error) {
	found, err := h.Archive.Find(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i := range found {
		if found[i].VersionIRI == "" {
			return nil, problem.Newf(http.StatusNotFound, "Unknown id", "no version and no resource has the id %q", ids[i])
		}
	}
	c := collector{archive: h.Archive, limit: h.limit()}
	err = c.add(found)
	return c.entries, err
}

// serve finds the entries and sends their zip.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, meta Meta, find func(context.Context) ([]Entry, error)) error {
	release := h.Contents.Hold() // before anybody asks for sizes
	defer release()
	plan, err := h.plan(r.Context(), meta, find)
	if err != nil {
		return err
	}
	plan.Serve(w, r, h.Contents, h.Log)
	return nil
}

func (h *Handler) plan(ctx context.Context, meta Meta, find func(context.Context) ([]Entry, error)) (*Plan, error) {
	entries, err := find(ctx)
	if err != nil {
		return nil, err
	}
	plan, err := New(entries, meta)
	if errors.Is(err, ErrEmpty) {
		return nil, problem.New(http.StatusNotFound, "Nothing to download",
			"no version of any file is selected: no column holds the IRI of a version, or the URL of a resource that has one")
	}
	return plan, err
}
