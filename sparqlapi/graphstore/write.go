package graphstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// put replaces a graph (§5.3), unless it belongs to the server. That is checked in the transaction: a graph may come to
// belong to the server while the body is sent.
func (h *Handler) put(w http.ResponseWriter, r *http.Request, g term.Key) error {
	quads, err := h.body(w, r, g, false)
	if err != nil {
		return err
	}
	return h.change(w, r, g, func(t *triplestore.Txn) error {
		if h.o.Owned(g) {
			return ownedGraph(g, "PUT does not replace: add to it with POST")
		}
		if err := t.ClearGraph(g); err != nil {
			return err
		}
		return insert(r.Context(), t, quads)
	})
}

// post adds to a graph (§5.5).
func (h *Handler) post(w http.ResponseWriter, r *http.Request, g term.Key) error {
	quads, err := h.body(w, r, g, false)
	if err != nil {
		return err
	}
	return h.change(w, r, g, func(t *triplestore.Txn) error { return insert(r.Context(), t, quads) })
}

// create adds a graph with a new name below the endpoint (§5.5).
func (h *Handler) create(w http.ResponseWriter, r *http.Request) error {
	var name [16]byte
	rand.Read(name[:]) // never fails (crypto/rand)
	g := term.IRI(h.o.Base + "/" + hex.EncodeToString(name[:]))
	quads, err := h.body(w, r, g, false)
	if err != nil {
		return err
	}
	return h.change(w, r, g, func(t *triplestore.Txn) error {
		w.Header().Set("Location", g.Value())
		return insert(r.Context(), t, quads)
	})
}

// change commits f and answers 201 if the graph is new, or else 204.
func (h *Handler) change(w http.ResponseWriter, r *http.Request, g term.Key, f func(*triplestore.Txn) error) error {
	status := http.StatusNoContent
	err := h.update(r.Context(), g, func(t *triplestore.Txn, existed bool, tag string) error {
		if err := precondition(r, existed, tag); err != nil {
			return err
		}
		if !existed {
			status = http.StatusCreated
		}
		return f(t)
	})
	if err != nil {
		w.Header().Del("Location")
		return err
	}
	w.WriteHeader(status)
	return nil
}

// delete drops a graph (§5.4), unless it belongs to the server.
func (h *Handler) delete(w http.ResponseWriter, r *http.Request, g term.Key) error {
	err := h.update(r.Context(), g, func(t *triplestore.Txn, existed bool, tag string) error {
		if !existed && g != "" {
			return unknownGraph(g)
		}
		if err := precondition(r, existed, tag); err != nil {
			return err
		}
		if h.o.Owned(g) {
			return ownedGraph(g, "DELETE does not remove")
		}
		return t.ClearGraph(g)
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// precondition checks If-Match and If-None-Match (RFC 9110 §13.1), which keep two writers from overwriting each other's
// changes.
func precondition(r *http.Request, exists bool, tag string) error {
	if !exists {
		tag = ""
	}
	if want := r.Header.Values("If-Match"); len(want) > 0 && (!exists || !answer.Matches(want, tag)) {
		return problem.New(http.StatusPreconditionFailed, "The graph has changed", "the store has changed since the ETag in If-Match")
	}
	if not := r.Header.Values("If-None-Match"); len(not) > 0 && exists && answer.Matches(not, tag) {
		return problem.New(http.StatusPreconditionFailed, "The graph exists", "If-None-Match requires a graph that does not exist")
	}
	return nil
}

func insert(ctx context.Context, t *triplestore.Txn, quads []term.Quad) error {
	for i, q := range quads {
		if i%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := t.Insert(q); err != nil {
			return err
		}
	}
	return nil
}

// body reads the statements that were sent for graph g, or for the whole dataset. Each file of a form is a document of
// its own.
func (h *Handler) body(w http.ResponseWriter, r *http.Request, g term.Key, whole bool) ([]term.Quad, error) {
	limited := http.MaxBytesReader(w, r.Body, h.o.MaxBody)
	r.Body = limited
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "multipart/form-data" {
		return h.parse(w, limited, r.Header.Get("Content-Type"), "", r.Header.Get("Content-Encoding"), g, whole, nil)
	}
	form := multipart.NewReader(limited, params["boundary"])
	var quads []term.Quad
	for {
		part, err := form.NextRawPart()
		if err == io.EOF {
			return quads, nil
		}
		if err != nil {
			return nil, badBody(err)
		}
		if quads, err = h.parse(w, part, part.Header.Get("Content-Type"), part.FileName(), part.Header.Get("Content-Encoding"), g, whole,
			quads); err != nil {
			return nil, err
		}
	}
}

// parse parses one document and appends its statements to quads.
func (h *Handler) parse(w http.ResponseWriter, body io.Reader, contentType, file, encoding string, g term.Key, whole bool,
	quads []term.Quad) ([]term.Quad, error) {
	s, ok := rdfio.ByMediaType(contentType)
	if !ok && file != "" && (contentType == "" || strings.HasPrefix(contentType, "application/octet-stream") ||
		strings.HasPrefix(contentType, "text/plain")) {
		s, ok = rdfio.ByExtension(file)
	}
	if !ok {
		w.Header().Set("Accept", strings.Join(mediaTypes(rdfio.Syntaxes()), ", ")) // RFC 9110 §15.5.16
		return nil, problem.Newf(http.StatusUnsupportedMediaType, "Not an RDF syntax", "%q is not one of %s", contentType,
			strings.Join(mediaTypes(rdfio.Syntaxes()), ", "))
	}
	switch strings.ToLower(encoding) {
	case "", "identity":
	case "gzip", "x-gzip", "zstd":
		plain, err := rdfio.Decompression{Max: h.o.MaxBody}.Open(body, "the body")
		if err != nil {
			return nil, badBody(err)
		}
		defer plain.Close()
		body = plain
	default:
		w.Header().Set("Accept-Encoding", "gzip, zstd")
		return nil, problem.Newf(http.StatusUnsupportedMediaType, "Unknown content coding", "%q is not gzip or zstd", encoding)
	}
	rd := rdfio.NewReader(body, s,
		rdfio.Options{File: file, Base: h.graphIRI(g), BlankPrefix: rdfio.NewBlankPrefix(), RDF12: true, LongTags: true})
	for {
		q, err := rd.Read()
		if err == io.EOF {
			return quads, nil
		}
		if err != nil {
			return nil, badBody(err)
		}
		if whole {
			quads = append(quads, q)
			continue
		}
		if q.G != "" {
			return nil, problem.With(http.StatusBadRequest, "More than one graph",
				fmt.Errorf("the body contains the graph %s", q.G.Value()), "graph", q.G.Value())
		}
		q.G = g
		quads = append(quads, q)
	}
}

// badBody returns the answer for a body that cannot be read or parsed.
func badBody(err error) error {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return err
	}
	if errors.Is(err, rdfio.ErrLimit) {
		return problem.Wrap(http.StatusRequestEntityTooLarge, "The request is too large", err)
	}
	if at, ok := errors.AsType[*rdfio.Error](err); ok {
		return problem.With(http.StatusBadRequest, "Malformed RDF", err, "line", at.Line, "col", at.Col)
	}
	return problem.Wrap(http.StatusBadRequest, "The body could not be read", err)
}
