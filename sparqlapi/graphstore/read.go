package graphstore

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
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
	sn := h.store.Snapshot()
	defer sn.Release()
	s, err := negotiate(w, r, offers())
	if err != nil {
		return err
	}
	pattern, ok, err := find(sn, g)
	if err != nil {
		return fmt.Errorf("graphstore: find <%s>: %w", g.Value(), err)
	}
	if !ok {
		return unknownGraph(g)
	}
	return h.send(w, r, sn, s, []term.Pattern{pattern}, s.Is(rdfio.TriG()) || s.Is(rdfio.NQuads()))
}

// send answers with the quads of some graphs, with their names if named is set.
func (h *Handler) send(w http.ResponseWriter, r *http.Request, sn *triplestore.Snapshot, s rdfio.Syntax, graphs []term.Pattern,
	named bool) error {
	tag := entityTag(sn)
	header := w.Header()
	header.Set("ETag", tag)
	header.Set("Odarchive-Position", strconv.FormatUint(sn.Position(), 10)) // where /changes/rdf goes on
	header.Set("Odarchive-Log", h.o.LogID)
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
	return h.stream(w, r, sn, graphs, s, named)
}

// stream writes graphs. An error before the first byte is returned. After that it cuts the connection, so that the
// client does not take the answer for complete.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, sn *triplestore.Snapshot, graphs []term.Pattern, s rdfio.Syntax,
	named bool) error {
	out := &countedWriter{w: w}
	enc := rdfio.NewWriter(out, s, h.o.Prefixes)
	var err error
	for _, p := range graphs {
		if err == nil {
			err = sn.Dump(r.Context(), p, func(q term.Quad) error {
				if !named {
					q.G = ""
				}
				return enc.Write(q)
			})
		}
	}
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

// negotiate returns the syntax that the client prefers among offers, best first.
func negotiate(w http.ResponseWriter, r *http.Request, offers []rdfio.Syntax) (rdfio.Syntax, error) {
	w.Header().Add("Vary", "Accept")
	if offer, ok := conneg.Negotiate(r, conneg.Of(mediaTypes(offers)...)); ok {
		if s, ok := rdfio.ByMediaType(offer.MediaType); ok {
			return s, nil
		}
	}
	return rdfio.Syntax{}, problem.New(http.StatusNotAcceptable, "Not acceptable",
		"this is available as "+strings.Join(mediaTypes(offers), ", "))
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
