// Serves the archive by time (RFC 7089): TimeGates, TimeMaps in link and JSON format, and the headers
// that link versions, resources, TimeGates and TimeMaps.
//
// In the RFC's words, a resource URL is an original resource (URI-R), and a version IRI is a memento (URI-M). A
// TimeGate (URI-G) redirects to the memento that was current at a given time. A TimeMap (URI-T) lists all mementos.

package files

import (
	"context"
	"net/http"
	"slices"
	"sort"
	"strings"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// MementoArchive lists versions.
type MementoArchive interface {
	// Versions returns the versions of a resource URL, oldest first. An unknown URL is an error that wraps
	// archive.ErrNotFound.
	Versions(ctx context.Context, url string) ([]catalog.Version, error)
}

var _ MementoArchive = (*archive.Archive)(nil)

// Memento has the handlers. Archive and Mint are required.
type Memento struct {
	Archive MementoArchive
	Mint    ns.Mint
	// Serve answers with the bytes of a version, for Web.
	Serve func(w http.ResponseWriter, r *http.Request, versionID string) error
	// Pages is how many mementos a page of a TimeMap lists; 0 means 5000.
	Pages int
}

const defaultPage = 5000

// list returns the mementos of a URL: its versions that are neither error pages nor withdrawn, oldest first.
func (m *Memento) list(ctx context.Context, url string) ([]catalog.Version, error) {
	all, err := m.Archive.Versions(ctx, url)
	return slices.DeleteFunc(all, isNoMemento), err
}

// isNoMemento reports whether a version is an error page, or withdrawn.
func isNoMemento(v catalog.Version) bool { return !v.IsData() }

// requested returns the mementos of the URL in the request's path, at least one, and the URL as the archive spells it.
func (m *Memento) requested(r *http.Request) (address string, list []catalog.Version, err error) {
	address, _, err = target.URL(r)
	if err != nil {
		return "", nil, err
	}
	if list, err = m.some(r.Context(), address); err != nil {
		return "", nil, err
	}
	return list[0].URL, list, nil
}

// some returns the mementos of a URL, at least one.
func (m *Memento) some(ctx context.Context, address string) ([]catalog.Version, error) {
	list, err := m.list(ctx, address)
	if err == nil && len(list) == 0 {
		err = noMementos(address)
	}
	return list, err
}

// TimeGate answers GET /timegate/{URL}: it redirects to the version that was current at Accept-Datetime, or to the
// latest version if there is no such header (RFC 7089 §4.1, pattern 2.1). If the version of that time was withdrawn, it
// redirects to where that is said: another version would pass for what was at the address then. Link names the mementos
// beside it.
func (m *Memento) TimeGate(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Add("Vary", "accept-datetime")
	h.Set("Cache-Control", "no-cache")
	address, _, err := target.URL(r)
	if err != nil {
		return err
	}
	all, err := m.Archive.Versions(r.Context(), address)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(v catalog.Version) bool { return v.ErrorPage != "" })
	if len(all) == 0 {
		return noMementos(address)
	}
	list := slices.DeleteFunc(slices.Clone(all), isNoMemento)
	v := all[len(all)-1]
	if len(list) > 0 {
		v = list[len(list)-1]
	}
	if accept := r.Header.Get("Accept-Datetime"); accept != "" {
		at, err := parseTime(accept)
		if err != nil {
			return problem.Newf(http.StatusBadRequest, "Bad Accept-Datetime", "%q is not a time such as %q (RFC 7089 §2.1.1)", accept,
				time.Unix(1e9, 0).UTC().Format(http.TimeFormat))
		}
		v = all[MementoAt(all, at)]
	}
	h["Link"] = append(h["Link"], m.links(v.URL, list, MementoAt(list, v.At))...)
	http.Redirect(w, r, m.Mint.Version(v.ID), http.StatusFound)
	return nil
}

func noMementos(address string) error {
	return problem.Newf(http.StatusNotFound, "No mementos", "this archive has no version of %s", address)
}

// parseTime parses an HTTP date. RFC 7089 requires RFC 1123 in GMT; a numeric zone is accepted, too.
func parseTime(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	if t, err := http.ParseTime(s); err == nil {
		return t.UTC(), nil
	}
	t, err := time.Parse(time.RFC1123Z, s)
	return t.UTC(), err
}

// MementoAt returns the index of the version that was current at a time: the last one that is not later, or the first
// one if all are later. It compares whole seconds, as HTTP does. The list must be in order of time.
func MementoAt(list []catalog.Version, t time.Time) int {
	after := sort.Search(len(list), func(i int) bool { return list[i].At.Truncate(time.Second).After(t) })
	return max(after-1, 0)
}

// Links adds the Memento headers of a version: Memento-Datetime, and links to related versions.
func (m *Memento) Links(ctx context.Context, h http.Header, v catalog.Version) error {
	list, err := m.list(ctx, v.URL)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(other catalog.Version) bool { return other.ID == v.ID })
	if i < 0 { // not listed yet
		list, i = []catalog.Version{v}, 0
	}
	h.Set("Memento-Datetime", v.At.UTC().Format(http.TimeFormat))
	h["Link"] = append(h["Link"], m.links(v.URL, list, i)...)
	h.Add("Link", link(m.Mint.Version(v.ID)+"?format=ttl", "describedby", "text/turtle"))
	return nil
}
