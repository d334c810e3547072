package citation

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"odarchive/ns"
	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// API serves citations at the addresses of what they cite, and resolves ARKs.
type API struct{ *Collector }

// linksetFormat is the name of the set of links (RFC 9264), which is negotiated as citations are.
const (
	linksetFormat = "linkset"
	linksetType   = "application/linkset+json"
)

// Wanted returns the name of the format of a citation that a request asks for, in ?format= or in Accept; "" if it asks
// for something else. Wildcards in Accept never ask for one.
func (a *API) Wanted(r *http.Request) string {
	if name := r.URL.Query().Get("format"); name != "" {
		if slices.Contains(Names(), name) || name == linksetFormat {
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
	others := []conneg.Offer{{MediaType: "text/html"}, {MediaType: "text/turtle"}, {MediaType: "application/ld+json"}, {MediaType: "application/rdf+xml"}, {MediaType: "application/n-triples"}}
	best, ok := conneg.Negotiate(r, append(named, others...))
	if !ok {
		return ""
	}
	return best.Name
}

// Version answers with the citation of a version.
func (a *API) Version(w http.ResponseWriter, r *http.Request, id, format string) error {
	work, err := a.Collector.Version(r.Context(), id)
	if err != nil {
		return err
	}
	return send(w, work, format)
}

// Dataset answers with the citation of the file or dataset in ?url=.
func (a *API) Dataset(w http.ResponseWriter, r *http.Request, format string) error {
	work, err := a.Collector.Dataset(r.Context(), r.URL.Query().Get("url"))
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

// ARK answers GET /ark:NAAN/…, also in the older form /ark:/NAAN/…: with a redirect to what the ARK names, or with ?info
// (or ?? or ? in the older forms) with a description in the form of ERC.
func (a *API) ARK(w http.ResponseWriter, r *http.Request) error {
	ark := "ark:" + target.Value(r, "*")
	id, n, mistyped, ok := ns.ParseARK(a.NAAN, ark)
	switch {
	case mistyped:
		return problem.Newf(http.StatusNotFound, "Mistyped", "the check character of %.100s is wrong: one of its characters is another one", ark)
	case !ok:
		return problem.Newf(http.StatusNotFound, "Not an ARK of this archive", "%.100s is not an ARK of this archive", ark)
	}
	res, err := a.Archive.Resource(r.Context(), id)
	if err != nil {
		return err
	}
	var work Work
	if n >= 0 {
		work, err = a.Collector.Version(r.Context(), ns.VersionID(id, n))
	} else {
		work, err = a.Collector.Dataset(r.Context(), res.URL)
	}
	if err != nil {
		return err
	}
	if _, info := r.URL.Query()["info"]; info || strings.HasPrefix(r.URL.RawQuery, "?") || r.URL.ForceQuery {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write(work.ERC())
		return nil
	}
	to := "/dataset?url=" + url.QueryEscape(res.URL)
	if n >= 0 {
		to = "/api/v1/get/file/id/" + work.ID
	}
	target.Redirect(w, to, http.StatusFound)
	return nil
}

// ERC returns an electronic resource citation: who, what, when and where.
func (w Work) ERC() []byte {
	when := "(:unkn)"
	if d := w.Date(); !d.IsZero() {
		when = d.UTC().Format("20060102")
	}
	what := line(w.Title)
	if w.Version >= 0 {
		what += ", version " + w.version()
	}
	s := "erc:\nwho: " + strings.Join(w.Creators(), "; ") + "\nwhat: " + what + "\nwhen: " + when + "\nwhere: " + w.IRI + "\n"
	if w.ARK != "" {
		s += "id: " + w.ARK + "\n"
	}
	return []byte(s + "source: " + w.URL + "\npersistence: the archive keeps every version and never gives its name to another\n")
}
