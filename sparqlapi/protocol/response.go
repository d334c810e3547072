package protocol

import (
	"encoding/json"
	"errors"
	"html"
	"io"
	"maps"
	"net/http"
	"time"

	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/results"
)

// rows writes rows or a boolean. If the query is federated, the beginning is held back for a while, so that warnings
// about other endpoints are in the header.
func (h *Handler) rows(w *spool, r *http.Request, text string, f format, federated bool, res *sparql.Results) error {
	t := newTracked(w, f.contentType())
	if federated {
		t.hold, t.until = holdFederated, time.Now().Add(holdFederatedFor)
	}
	o := results.Options{Prefixes: h.prefixes(res)}
	if f.rows == results.HTML {
		o.Head, o.Tail = h.page(w, r, text)
	}
	if err := writeRows(t, f.rows, res, o); err != nil {
		return err
	}
	return t.release()
}

const (
	// holdFederated is how many bytes of an answer that depends on other endpoints are held back, and holdFederatedFor
	// how long.
	holdFederated    = 256 << 10
	holdFederatedFor = 3 * time.Second
)

// send sends the rest of an answer, with the warnings that came while the query ran: in the header, or as a trailer if
// the header has been sent.
func send(s *spool, warnings []string) error {
	warnings = warnings[:min(len(warnings), maxWarnings)]
	early := !s.started()
	if early {
		addWarnings(s.w, WarningHeader, warnings)
	}
	err := s.finish()
	if !early {
		addWarnings(s.w, http.TrailerPrefix+WarningHeader, warnings)
	}
	return err
}

func addWarnings(w http.ResponseWriter, name string, warnings []string) {
	for _, text := range warnings {
		w.Header().Add(name, headerText(text))
	}
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

func writeUpdated(w http.ResponseWriter, done sparql.Updated) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]int64{"inserted": done.Inserted, "deleted": done.Deleted})
}
