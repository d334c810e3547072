package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/results"
)

// format is how an answer is written, as rows or as a graph.
type format struct {
	rows   results.Format
	syntax rdfio.Syntax // of a graph; zero for rows
}

func (f format) contentType() string {
	switch {
	case f.syntax.IsZero():
		return f.rows.ContentType()
	case f.syntax.Text:
		return f.syntax.MediaType + "; charset=utf-8"
	}
	return f.syntax.MediaType
}

// rowFormats and graphSyntaxes are the offered formats, the best first.
var rowFormats = []results.Format{results.JSON, results.XML, results.CSV, results.TSV, results.HTML, results.Table}

func graphSyntaxes() []rdfio.Syntax {
	return []rdfio.Syntax{rdfio.Turtle(), rdfio.NTriples(), rdfio.RDFXML(), rdfio.JSONLD(), rdfio.TriG(), rdfio.NQuads()}
}

// chooseFormat returns the format that the client prefers for a query's kind of answer.
func (h *Handler) chooseFormat(r *http.Request, req *request, q *sparql.Query) (format, error) {
	graph := q.Kind() == sparql.Triples
	if req.explain {
		return format{rows: results.Table}, nil
	}
	if req.format != "" {
		return formatByName(req.format, graph)
	}
	offers := rowOffers()
	if graph {
		offers = graphOffers()
	}
	offer, ok := conneg.Negotiate(r, offers)
	if !ok {
		return format{}, notAcceptable(offers)
	}
	if graph {
		return formatByName(offer.Name, true)
	}
	f, _ := results.ByName(offer.Name)
	return format{rows: f}, nil
}

func rowOffers() []conneg.Offer {
	var offers []conneg.Offer
	for _, f := range rowFormats {
		offers = append(offers, conneg.Offer{MediaType: f.MediaType(), Name: f.String()})
	}
	return append(offers, conneg.Offer{MediaType: "application/json", Name: "json"}, conneg.Offer{MediaType: "application/xml", Name: "xml"},
		conneg.Offer{MediaType: "text/xml", Name: "xml"})
}

func graphOffers() []conneg.Offer {
	var offers, others []conneg.Offer
	for _, s := range graphSyntaxes() {
		offers = append(offers, conneg.Offer{MediaType: s.MediaType, Name: s.Name})
		for _, a := range s.Aliases {
			others = append(others, conneg.Offer{MediaType: a, Name: s.Name})
		}
	}
	// Aliases come last, so that the answer to a range such as application/* has a type that the range covers.
	return append(append(offers, others...), conneg.Offer{MediaType: "text/plain", Name: "N-Triples"}, conneg.Offer{MediaType: "application/json", Name: "JSON-LD"},
		conneg.Offer{MediaType: "application/xml", Name: "RDF/XML"}, conneg.Offer{MediaType: "text/xml", Name: "RDF/XML"})
}

// formatByName returns the format of a format parameter.
func formatByName(name string, graph bool) (format, error) {
	if !graph {
		if f, ok := results.ByName(name); ok {
			return format{rows: f}, nil
		}
		return format{}, problem.Newf(http.StatusBadRequest, "Unknown format", "%q is not a format of a result: try json, xml, csv, tsv, html or table.", name)
	}
	s, ok := rdfio.ByName(name)
	if !ok {
		s, ok = rdfio.ByMediaType(name)
	}
	if !ok {
		return format{}, problem.Newf(http.StatusBadRequest, "Unknown format", "%q is not a format of a graph: try ttl, nt, rdfxml or jsonld.", name)
	}
	return format{syntax: s}, nil
}

func notAcceptable(offers []conneg.Offer) error {
	var types []string
	for _, o := range offers {
		types = append(types, o.MediaType)
	}
	return &problem.Error{Status: http.StatusNotAcceptable, Title: "None of the accepted formats is offered",
		Detail: "This answer is available as " + strings.Join(types, ", ") + ".", Fields: map[string]any{"offers": types}}
}

// trackedWriter remembers whether anything has been sent to the client.
type trackedWriter struct {
	w       http.ResponseWriter
	flush   func() error
	sent    bool
	flushed time.Time
}

func (t *trackedWriter) Write(p []byte) (int, error) {
	t.sent = true
	return t.w.Write(p)
}

// push sends what has been written so far, unless it did so a moment ago.
func (t *trackedWriter) push(buffered func() error) error {
	if now := time.Now(); now.Sub(t.flushed) > 5*time.Millisecond {
		if err := buffered(); err != nil {
			return err
		}
		t.flushed = now
		if err := t.flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
	}
	return nil
}

// stream writes a result. Once something has been sent, an error can only abort the connection.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, text string, f format, res *sparql.Results) error {
	t := &trackedWriter{w: w, flush: http.NewResponseController(w).Flush}
	w.Header().Set("Content-Type", f.contentType())
	var err error
	if res.Kind == sparql.Triples {
		err = writeGraph(t, f, res, h.prefixes(res))
	} else {
		o := results.Options{Prefixes: h.prefixes(res)}
		if f.rows == results.HTML {
			o.Head, o.Tail = h.page(w, r, text)
		}
		err = writeRows(t, f.rows, res, o)
	}
	if err != nil && t.sent {
		panic(http.ErrAbortHandler)
	}
	return err
}

func (h *Handler) prefixes(res *sparql.Results) map[string]string {
	p := map[string]string{}
	maps.Copy(p, h.o.Prefixes)
	maps.Copy(p, res.Prefixes)
	return p
}

func writeRows(t *trackedWriter, f results.Format, res *sparql.Results, o results.Options) error {
	out := results.NewWriter(t, f, o)
	if res.Kind == sparql.Boolean {
		return out.Boolean(res.Boolean())
	}
	if err := out.Begin(res.Vars); err != nil {
		return err
	}
	for {
		if out.Rows() > 0 && !res.Ready() {
			if err := t.push(out.Flush); err != nil {
				return err
			}
		}
		row, err := res.Next()
		if errors.Is(err, io.EOF) {
			return out.End()
		}
		if err != nil {
			return err
		}
		if err := out.Row(row); err != nil {
			return err
		}
	}
}

func writeGraph(t *trackedWriter, f format, res *sparql.Results, prefixes map[string]string) error {
	out := rdfio.NewWriter(t, f.syntax, prefixes)
	for n := 0; ; n++ {
		if n > 0 && !res.Ready() {
			if err := t.push(out.Flush); err != nil {
				return err
			}
		}
		q, err := res.Triple()
		if errors.Is(err, io.EOF) {
			return out.Close()
		}
		if err != nil {
			return err
		}
		var unwritable *rdfio.TermError
		if err := out.Write(q); err != nil && !errors.As(err, &unwritable) {
			return err
		} else if err != nil {
			return fmt.Errorf("%s cannot hold this graph: %w", f.syntax.Name, err)
		}
	}
}

func (h *Handler) page(w http.ResponseWriter, r *http.Request, text string) (head, tail string) {
	if h.o.Page != nil {
		return h.o.Page(w, r, text)
	}
	return pageHead(r), pageTail
}

// pageHead and pageTail are a bare page around the table.
func pageHead(r *http.Request) string {
	address := html.EscapeString(r.URL.Path)
	return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Query result</title>` +
		`<meta name="viewport" content="width=device-width"></head><body><p><a href="` + address + `">New query</a></p>` + "\n"
}

const pageTail = "</body></html>\n"

// explain runs the query to its end and writes its plan instead of its results.
func explain(w http.ResponseWriter, q *sparql.Query, res *sparql.Results) error {
	began := time.Now()
	n, err := drain(res)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err = fmt.Fprintf(w, "%s\n%s\n%d results in %s\n", q.Algebra(), res.Explain(), n, time.Since(began).Round(time.Microsecond))
	return err
}

func drain(res *sparql.Results) (n int64, err error) {
	for ; res.Kind != sparql.Boolean; n++ {
		if res.Kind == sparql.Triples {
			_, err = res.Triple()
		} else {
			_, err = res.Next()
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return 1, nil
}

func writeUpdated(w http.ResponseWriter, done sparql.Updated) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]int64{"inserted": done.Inserted, "deleted": done.Deleted})
}
