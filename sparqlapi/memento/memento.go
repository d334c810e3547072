// Package memento serves the archive by time (RFC 7089): TimeGates, TimeMaps in link and JSON format, and the headers
// that tie versions, resources, TimeGates and TimeMaps together.
//
// In the RFC's words a resource URL is an original resource (URI-R), a version IRI is a memento (URI-M), a TimeGate
// (URI-G) redirects a client to the memento that was current at the time it asks for, and a TimeMap (URI-T) lists all of
// them. What knows the versions is given to the package as an Archive.
package memento

import (
	"context"
	"net/http"
	"sort"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// Archive lists what is kept of a resource.
type Archive interface {
	// TimeMap gives the versions of a resource URL, oldest first; none where the URL is not known.
	TimeMap(ctx context.Context, url string) ([]catalog.Version, error)
}

// Memento has the routes. The zero Mint makes relative IRIs and is of no use.
type Memento struct {
	Archive Archive
	Mint    ns.Mint
	// Pages, where set, limits how many mementos one page of a TimeMap lists; 0 for 5000.
	Pages int
}

const (
	timeGate = "/timegate/"
	mapLink  = "/timemap/link/"
	mapJSON  = "/timemap/json/"

	defaultPage = 5000
)

// ServeHTTP serves /timegate/{URL}, /timemap/link/{URL} and /timemap/json/{URL}.
func (m *Memento) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := m.timeGate
	switch path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v1"); {
	case strings.HasPrefix(path, mapLink):
		h = m.timeMapLink
	case strings.HasPrefix(path, mapJSON):
		h = m.timeMapJSON
	case !strings.HasPrefix(path, timeGate):
		h = func(http.ResponseWriter, *http.Request) error {
			return problem.New(http.StatusNotFound, "No such page", "there are /timegate/, /timemap/link/ and /timemap/json/, each followed by a URL")
		}
	}
	problem.Handler(h)(w, r)
}

// versions of the resource that a request names.
func (m *Memento) versions(r *http.Request, prefix string) (address string, list []catalog.Version, err error) {
	address, _, err = target.Of(r, prefix)
	if err != nil {
		return "", nil, err
	}
	list, err = m.Archive.TimeMap(r.Context(), address)
	if err != nil {
		return "", nil, err
	}
	if len(list) == 0 {
		return "", nil, problem.Newf(http.StatusNotFound, "No mementos", "this archive has no version of %s", address)
	}
	return list[0].URL, list, nil // as the archive spells it
}

// timeGate redirects to the version that was current at Accept-Datetime, else to the latest (RFC 7089 §4.1, pattern 2.1).
func (m *Memento) timeGate(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Add("Vary", "accept-datetime")
	h.Set("Cache-Control", "no-cache")
	address, list, err := m.versions(r, timeGate)
	if err != nil {
		return err
	}
	i := len(list) - 1
	if accept := r.Header.Get("Accept-Datetime"); accept != "" {
		at, err := parseTime(accept)
		if err != nil {
			return problem.Newf(http.StatusBadRequest, "Bad Accept-Datetime", "%q is no time such as %q (RFC 7089 §2.1.1)", accept, time.Unix(1e9, 0).UTC().Format(http.TimeFormat))
		}
		i = At(list, at)
	}
	h["Link"] = append(h["Link"], m.links(address, list, i)...)
	http.Redirect(w, r, m.Mint.Version(list[i].ID), http.StatusFound)
	return nil
}

// parseTime reads the date format of HTTP. RFC 7089 wants RFC 1123 in GMT; a zone with its offset is understood, too.
func parseTime(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	if t, err := http.ParseTime(s); err == nil {
		return t.UTC(), nil
	}
	t, err := time.Parse(time.RFC1123Z, s)
	return t.UTC(), err
}

// At gives the version that was current at a time: the last one not after it, the first one for a time before them
// all. Mementos are told apart by whole seconds, as in HTTP. The list is ordered by time and not empty.
func At(list []catalog.Version, t time.Time) int {
	after := sort.Search(len(list), func(i int) bool { return list[i].At.Truncate(time.Second).After(t) })
	return max(after-1, 0)
}

// Links writes the Memento headers of a version: Memento-Datetime, and its relations.
func (m *Memento) Links(ctx context.Context, h http.Header, v catalog.Version) error {
	list, err := m.Archive.TimeMap(ctx, v.URL)
	if err != nil {
		return err
	}
	i := sort.Search(len(list), func(i int) bool { return list[i].N >= v.N })
	if i == len(list) || list[i].ID != v.ID { // not listed, as it may be for a moment
		list, i = []catalog.Version{v}, 0
	}
	h.Set("Memento-Datetime", v.At.UTC().Format(http.TimeFormat))
	h["Link"] = append(h["Link"], m.links(v.URL, list, i)...)
	h.Add("Link", link(m.Mint.Version(v.ID)+"?format=ttl", "describedby", "text/turtle"))
	return nil
}
