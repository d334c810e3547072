package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
)

const (
	maxPostBytes     = 32 << 20
	maxPostResources = 100_000
)

// Resource is a posted resource. Only href is required, or url, which means the same.
type Resource struct {
	Href    string          `json:"href"`
	URL     string          `json:"url"`
	Title   string          `json:"title"`
	Format  string          `json:"format"`
	Portal  string          `json:"portal"`
	Dataset string          `json:"dataset"`
	Source  json.RawMessage `json:"source"` // a portal IRI, an object with href, or a list of either
}

// PostResources handles POST /post/resource and /post/resources: one resource or an array of them. As the original did,
// it answers with an array of booleans: which of them are new. Malformed ones are left out: then the answer has status
// 207 and is a partialPost. If all are malformed, or one with strict=1, none is registered.
func (a *API) PostResources(w http.ResponseWriter, r *http.Request) error {
	if a.crawler == nil {
		return problem.New(http.StatusForbidden, "Read-only", "this server has no crawler")
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && t != "application/json" && t != "text/json" &&
		t != "text/plain" {
		return problem.Newf(http.StatusUnsupportedMediaType, "Unsupported media type", "expected application/json, not %s", t)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPostBytes))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return problem.Wrap(http.StatusBadRequest, "The request was interrupted", err)
	}
	if err != nil {
		return fmt.Errorf("rest: read posted resources: %w", err)
	}
	posted, err := parseResources(body)
	if err != nil {
		return err
	}
	done := partialPost{Fresh: make([]*bool, len(posted))}
	seeds, at := make([]catalog.Seed, 0, len(posted)), make([]int, 0, len(posted))
	var first error
	for i, p := range posted {
		s, err := p.seed(i)
		if err == nil {
			seeds, at = append(seeds, s), append(at, i)
			continue
		}
		first = cmp.Or(first, err)
		done.Bad = append(done.Bad, answer.Bad{Index: i, Error: err.Error()})
	}
	if first != nil && (len(seeds) == 0 || answer.Strict(r)) {
		return first
	}
	fresh, err := a.crawler.Add(r.Context(), seeds)
	if err != nil {
		return err
	}
	if first == nil {
		return answer.JSON(w, r, fresh)
	}
	for i, isNew := range fresh {
		done.Fresh[at[i]] = &isNew
	}
	return answer.Partly(w, r, done)
}

// partialPost is the answer to a list of which some resources are malformed.
type partialPost struct {
	Fresh []*bool      `json:"fresh"` // null for a malformed one
	Bad   []answer.Bad `json:"bad"`
}

func parseResources(body []byte) (list []Resource, err error) {
	body = bytes.TrimSpace(body)
	if bytes.HasPrefix(body, []byte("[")) {
		err = json.Unmarshal(body, &list)
	} else {
		list = make([]Resource, 1)
		err = json.Unmarshal(body, &list[0])
	}
	if err != nil {
		return nil, problem.Wrap(http.StatusBadRequest, "Unexpected JSON",
			fmt.Errorf(`expected {"href": "http://..."} or an array of such objects: %w`, err))
	}
	if len(list) > maxPostResources {
		return nil, problem.Newf(http.StatusRequestEntityTooLarge, "The request is too large",
			"%d resources were posted; at most %d are allowed", len(list), maxPostResources)
	}
	return list, nil
}

func (p Resource) seed(i int) (catalog.Seed, error) {
	given := "href"
	if p.Href == "" {
		p.Href, given = p.URL, "url"
	} else if p.URL != "" && p.URL != p.Href {
		return catalog.Seed{},
			problem.Newf(http.StatusBadRequest, "Two addresses", "resource %d has href %q and url %q: give one of them", i, p.Href, p.URL)
	}
	if _, err := address.Parse(p.Href); err != nil {
		return catalog.Seed{}, problem.Newf(http.StatusBadRequest, "Bad address", "resource %d: %s: %v", i, given, err)
	}
	portal := p.Portal
	if portal == "" {
		var err error
		if portal, err = sourceIRI(p.Source); err != nil {
			return catalog.Seed{},
				problem.Newf(http.StatusBadRequest, "Bad source", "resource %d: source is not an IRI or an object with href", i)
		}
	}
	for _, name := range []struct{ what, iri string }{{"portal", portal}, {"dataset", p.Dataset}} {
		if err := archive.CheckName(name.iri); err != nil {
			return catalog.Seed{}, problem.Newf(http.StatusBadRequest, "Bad "+name.what, "resource %d: %s %v", i, name.what, err)
		}
	}
	return catalog.Seed{URL: strings.TrimSpace(p.Href), Portal: portal, Dataset: p.Dataset, Title: p.Title, Format: p.Format}, nil
}

// sourceIRI reads the forms that clients of the original send. Of a list it takes the first element.
func sourceIRI(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var iri string
	if json.Unmarshal(raw, &iri) == nil {
		return iri, nil
	}
	var object struct {
		Href string `json:"href"`
	}
	if json.Unmarshal(raw, &object) == nil {
		return object.Href, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", nil
	}
	if bytes.HasPrefix(bytes.TrimSpace(list[0]), []byte("[")) {
		return "", fmt.Errorf("a list in a list")
	}
	return sourceIRI(list[0])
}

// Crawl answers POST /crawl?id=|domain= (also the original's hostname=): it makes a dataset, or all of a host, due now.
func (a *API) Crawl(w http.ResponseWriter, r *http.Request) error {
	if a.crawler == nil {
		return problem.New(http.StatusForbidden, "Read-only", "this server has no crawler")
	}
	q := r.URL.Query()
	id, host := q.Get("id"), q.Get("domain")
	if host == "" && id == "" {
		host = q.Get("hostname")
	}
	if id == "" && host == "" {
		return problem.New(http.StatusBadRequest, "Missing parameter", "expected id= of a dataset or domain= of a host")
	}
	n, err := a.crawler.CrawlNow(r.Context(), id, host)
	if err != nil {
		return err
	}
	if n == 0 {
		return problem.Newf(http.StatusNotFound, "Nothing found", "no dataset of id %q or domain %q is known", id, host)
	}
	return answer.JSON(w, r, map[string]any{"crawling": true, "count": n, "_id": id, "domain": host})
}
