package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"slices"

	"odarchive/ns"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// Querier runs queries.
type Querier interface {
	// Select runs a SELECT query and calls f once with its rows, which are computed as f ranges over them. An invalid
	// query, and one that is not a SELECT, is a problem of status 400.
	Select(ctx context.Context, query string, f func(Rows) error) error
}

// BundleHandler has the routes that answer with a zip.
type BundleHandler struct {
	Archive  BundleArchive
	Contents Blocks
	Source   BundleSource // for WARC and WACZ
	Queries  Querier
	Mint     ns.Mint
	// Origins sets the origins of entries, perhaps of none. nil leaves them out.
	Origins func(ctx context.Context, entries []Entry) error
	Limit   int   // versions in one zip; 0 means a million
	MaxBody int64 // bytes of a request's body; 0 means 16 MiB
	Log     *slog.Logger

	packages packages
}

const (
	defaultLimit   = 1_000_000
	defaultMaxBody = 16 << 20
)

func (h *BundleHandler) collector() *collector {
	return &collector{finder: finder{h.Archive, h.Mint}, limit: h.limit()}
}

func (h *BundleHandler) limit() int { return cmp.Or(h.Limit, defaultLimit) }

// SPARQL answers GET and POST /get/files/sparql with a zip of the versions that the query selects.
func (h *BundleHandler) SPARQL(w http.ResponseWriter, r *http.Request) error {
	query, err := h.query(w, r)
	if err != nil {
		return err
	}
	return h.serve(w, r, Meta{Query: query}, h.selected(query))
}

// WARC answers GET and POST /get/warc/sparql with a WARC file of the versions that the query selects.
func (h *BundleHandler) WARC(w http.ResponseWriter, r *http.Request) error {
	return h.serveWARC(w, r, func(warc *WARC) (container, error) { return warc, nil })
}

// WACZ answers GET and POST /get/wacz/sparql with the same as a WACZ file.
func (h *BundleHandler) WACZ(w http.ResponseWriter, r *http.Request) error {
	return h.serveWARC(w, r, func(warc *WARC) (container, error) { return h.packages.pack(r.Context(), warc, h.Contents) })
}

// serveWARC sends the container that pack makes of the WARC file of a query.
func (h *BundleHandler) serveWARC(w http.ResponseWriter, r *http.Request, pack func(*WARC) (container, error)) error {
	query, err := h.query(w, r)
	if err != nil {
		return err
	}
	release := h.Contents.Hold() // before the look-up reads sizes and layouts
	defer release()
	entries, err := h.selected(query)(r.Context())
	if err != nil {
		return err
	}
	warc, err := NewWARC(r.Context(), entries, Meta{Query: query, Base: h.Mint.Base}, h.Source, h.Contents)
	if errors.Is(err, ErrEmpty) {
		return errNothing
	}
	if err != nil {
		return err
	}
	if err := ready(h.Contents, entries); err != nil {
		return err
	}
	file, err := pack(warc)
	if err != nil {
		return err
	}
	send(w, r, file, h.Contents, h.Log)
	return nil
}

// Count answers GET and POST /get/files/sparql/count: how many files the zip of a query holds, and its sizes, as JSON.
func (h *BundleHandler) Count(w http.ResponseWriter, r *http.Request) error {
	query, err := h.query(w, r)
	if err != nil {
		return err
	}
	plan, err := h.plan(r.Context(), Meta{Query: query}, h.selected(query))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	_, err = fmt.Fprintf(w, "{\"files\": %d, \"bytes\": %d, \"zipBytes\": %d, \"leftOut\": %d}\n", len(plan.entries), plan.rawSize,
		plan.size, len(plan.leftOut))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

func (h *BundleHandler) selected(query string) func(context.Context) ([]Entry, error) {
	return func(ctx context.Context) (entries []Entry, err error) {
		err = h.Queries.Select(ctx, query, func(rows Rows) error {
			entries, err = Collect(ctx, rows, h.Archive, h.Mint, h.limit())
			return err
		})
		return entries, err
	}
}

// query returns the query of a request: the parameter q (or query, as SPARQL clients send it) of the address or of a
// form, or the body itself.
func (h *BundleHandler) query(w http.ResponseWriter, r *http.Request) (string, error) {
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
	return "", problem.New(http.StatusBadRequest, "No query", "expected a SELECT query in the parameter q")
}

func first(form url.Values, names ...string) string {
	for _, name := range names {
		if v := form.Get(name); v != "" {
			return v
		}
	}
	return ""
}

func (h *BundleHandler) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, cmp.Or(h.MaxBody, defaultMaxBody)))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); err != nil && !tooLong {
		return nil, problem.Wrap(http.StatusBadRequest, "The body could not be read", err)
	}
	return body, err
}

// OfType answers GET /get/files/type/{TYPE} with a zip of the latest versions of one media type.
func (h *BundleHandler) OfType(w http.ResponseWriter, r *http.Request) error {
	mediaType := target.Value(r, "*")
	if mediaType == "" {
		return problem.Newf(http.StatusNotFound, "No type given", "expected %s followed by a media type, such as text/csv", r.URL.Path)
	}
	return h.serve(w, r, Meta{Title: "All files of type " + mediaType}, func(ctx context.Context) ([]Entry, error) {
		c := h.collector()
		entries, err := c.ofType(ctx, mediaType)
		if err != nil {
			return nil, err
		}
		err = c.add(entries)
		return c.entries, err
	})
}

// ByID answers POST /get/files, a JSON array of ids of versions or resources, with a zip of them. An unknown id is a
// problem of status 404 that names it.
func (h *BundleHandler) ByID(w http.ResponseWriter, r *http.Request) error {
	ids, err := readIDs(http.MaxBytesReader(w, r.Body, cmp.Or(h.MaxBody, defaultMaxBody)))
	if err != nil {
		return err
	}
	return h.serve(w, r, Meta{}, func(ctx context.Context) ([]Entry, error) {
		c := h.collector()
		for part := range slices.Chunk(ids, idsAtOnce) { // an unknown id is found out before all are looked up
			found, err := c.find(ctx, part)
			if err != nil {
				return nil, err
			}
			for i := range found {
				if found[i].ID == "" {
					return nil, problem.Newf(http.StatusNotFound, "Unknown id", "no version and no resource has the id %.200q", part[i])
				}
			}
			if err := c.add(found); err != nil {
				return nil, err
			}
		}
		return c.entries, nil
	})
}

// Limits of ByID.
const (
	maxIDs    = 250_000
	idsAtOnce = 4096
)

// readIDs reads a JSON array of strings, each of which it returns once.
func readIDs(body io.Reader) (ids []string, err error) {
	malformed := problem.New(http.StatusBadRequest, "Not a list of ids", `post a JSON array of ids, such as ["5f1e…_0", "5f1e…_1"]`)
	because := func(err error) error {
		if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
			return err
		}
		return malformed
	}
	in := json.NewDecoder(body)
	if open, err := in.Token(); err != nil || open != json.Delim('[') {
		return nil, because(err)
	}
	seen := map[string]bool{}
	for in.More() {
		var id string
		if err := in.Decode(&id); err != nil {
			return nil, because(err)
		}
		if seen[id] {
			continue
		}
		if len(ids) == maxIDs {
			return nil, problem.Newf(http.StatusRequestEntityTooLarge, "Too many ids",
				"a list may have %d ids; select more files with a query at /get/files/sparql", maxIDs)
		}
		seen[id] = true
		ids = append(ids, id)
	}
	if _, err := in.Token(); err != nil { // ']'
		return nil, because(err)
	}
	if _, err := in.Token(); err != io.EOF {
		return nil, because(err)
	}
	return ids, nil
}

// serve sends the zip of the entries that find returns.
func (h *BundleHandler) serve(w http.ResponseWriter, r *http.Request, meta Meta, find func(context.Context) ([]Entry, error)) error {
	release := h.Contents.Hold() // before find reads sizes and layouts
	defer release()
	plan, err := h.plan(r.Context(), meta, find)
	if err != nil {
		return err
	}
	if err := ready(h.Contents, plan.entries); err != nil {
		return err
	}
	plan.Serve(w, r, h.Contents, h.Log)
	return nil
}

var errNothing = problem.New(http.StatusNotFound, "Nothing to download",
	"no version is selected: no column contains the IRI of a version, or the URL of a resource with a version")

func (h *BundleHandler) plan(ctx context.Context, meta Meta, find func(context.Context) ([]Entry, error)) (*Plan, error) {
	entries, err := find(ctx)
	if err != nil {
		return nil, err
	}
	if h.Origins != nil {
		if err := h.Origins(ctx, entries); err != nil {
			return nil, err
		}
	}
	meta.Base = h.Mint.Base
	plan, err := NewBundle(entries, meta)
	if errors.Is(err, ErrEmpty) {
		return nil, errNothing
	}
	return plan, err
}
