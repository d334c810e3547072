package graphstore

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// get streams a graph (§5.2), or for HEAD answers without its content (§5.7).
func (h *Handler) get(w http.ResponseWriter, r *http.Request, g term.Key) error {
	w.Header().Add("Vary", "Accept")
	s, ok := negotiate(r)
	if !ok {
		return problem.New(http.StatusNotAcceptable, "Not acceptable", "graphs are available as "+strings.Join(mediaTypes(offers()), ", "))
	}
	sn := h.store.Snapshot()
	defer sn.Release()
	pattern, ok, err := find(sn, g)
	if err != nil {
		return fmt.Errorf("graphstore: find <%s>: %w", g.Value(), err)
	}
	if !ok {
		return unknownGraph(g)
	}
	tag := entityTag(sn)
	header := w.Header()
	header.Set("ETag", tag)
	header.Set("Cache-Control", "no-cache")
	if answer.Matches(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	contentType := s.MediaType
	if strings.HasPrefix(contentType, "text/") {
		contentType += "; charset=utf-8"
	}
	header.Set("Content-Type", contentType)
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Method == http.MethodHead {
		return nil
	}
	return h.stream(w, r, sn, pattern, s)
}

// stream writes the graph. An error before the first byte is returned. After that it cuts the connection, so that the
// client does not take the answer for complete.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, sn *triplestore.Snapshot, p term.Pattern, s rdfio.Syntax) error {
	out := &countedWriter{w: w}
	enc := rdfio.NewWriter(out, s, h.o.Prefixes)
	err := sn.Dump(r.Context(), p, func(q term.Quad) error {
		q.G = ""
		return enc.Write(q)
	})
	if err == nil {
		err = enc.Close()
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("graphstore: send as %s: %w", s, err)
	if out.n > 0 {
		h.o.Log.WarnContext(r.Context(), "graph cut off", "path", r.URL.Path, "sent", out.n, "err", err)
		panic(http.ErrAbortHandler)
	}
	if term, ok := errors.AsType[*rdfio.TermError](err); ok {
		return problem.With(http.StatusNotAcceptable, "The graph cannot be written in this syntax", term, "syntax", s.Name)
	}
	return err
}

type countedWriter struct {
	w http.ResponseWriter
	n int64
}

func (c *countedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func negotiate(r *http.Request) (rdfio.Syntax, bool) {
	offer, ok := conneg.Negotiate(r, conneg.Of(mediaTypes(offers())...))
	if !ok {
		return rdfio.Syntax{}, false
	}
	return rdfio.ByMediaType(offer.MediaType)
}

func mediaTypes(syntaxes []rdfio.Syntax) []string {
	out := make([]string, len(syntaxes))
	for i, s := range syntaxes {
		out[i] = s.MediaType
	}
	return out
}

// entityTag returns an ETag that changes with every commit of the store. It is weak, because the syntaxes share it.
func entityTag(sn *triplestore.Snapshot) string { return fmt.Sprintf(`W/"%x"`, sn.Position()) }
