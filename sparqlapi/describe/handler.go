package describe

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/target"
)

// CitationAPI serves citations at the addresses of what they cite.
type CitationAPI struct{ *Collector }

// linksetFormat is the name of the set of links (RFC 9264), which is negotiated as citations are.
const (
	linksetFormat = "linkset"
	linksetType   = "application/linkset+json"
)

// Wanted returns the name of the format of a citation that a request asks for, in ?format= or in Accept; "" if it asks
// for something else. Wildcards in Accept never ask for one.
func (a *CitationAPI) Wanted(r *http.Request) string {
	if name := r.URL.Query().Get("format"); name != "" {
		if slices.Contains(CitationNames(), name) || name == linksetFormat {
			return name
		}
		return ""
	}
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	var named []conneg.Offer
	for _, f := range formats() {
		if f.mediaType != "text/plain" && strings.Contains(accept, f.mediaType) {
			named = append(named, conneg.Offer{MediaType: f.mediaType, Name: f.name})
		}
	}
	if strings.Contains(accept, linksetType) {
		named = append(named, conneg.Offer{MediaType: linksetType, Name: linksetFormat})
	}
	if len(named) == 0 {
		return ""
	}
	others := []conneg.Offer{{MediaType: "text/html"}, {MediaType: "text/turtle"}, {MediaType: "application/ld+json"},
		{MediaType: "application/rdf+xml"}, {MediaType: "application/n-triples"}}
	best, ok := conneg.Negotiate(r, append(named, others...))
	if !ok {
		return ""
	}
	return best.Name
}

// Version answers with the citation of a version.
func (a *CitationAPI) Version(w http.ResponseWriter, r *http.Request, id, format string) error {
	work, err := a.Collector.Version(r.Context(), id)
	if err != nil {
		return err
	}
	return send(w, work, format)
}

// Dataset answers with the citation of the file or dataset in ?url=.
func (a *CitationAPI) Dataset(w http.ResponseWriter, r *http.Request, format string) error {
	work, err := a.Collector.Dataset(r.Context(), target.Parameter(r, "url"))
	if err != nil {
		return err
	}
	return send(w, work, format)
}

func send(w http.ResponseWriter, work Work, format string) error {
	h := w.Header()
	h.Add("Vary", "Accept")
	h.Set("Cache-Control", "public, max-age=300") // portals may say something else of it
	h.Set("Access-Control-Allow-Origin", "*")
	for _, l := range work.describing() {
		h.Add("Link", l.Header())
	}
	if format == linksetFormat {
		body, err := work.linkset()
		if err != nil {
			return err
		}
		h.Set("Content-Type", linksetType)
		_, _ = w.Write(body) // an error means that the client has left
		return nil
	}
	body, mediaType, extension, ok, err := work.Format(format)
	if err != nil || !ok {
		return err
	}
	h.Set("Content-Type", mediaType+"; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf(`inline; filename="%s%s"`, work.key(), extension))
	_, _ = w.Write(body)
	return nil
}
