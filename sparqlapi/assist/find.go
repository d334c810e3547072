package assist

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
)

type searchIn struct {
	Query  string `json:"query,omitempty" jsonschema:"words of titles, addresses, portals, formats or column names; all must occur, in any form; empty for everything"`
	Type   string `json:"type,omitempty" jsonschema:"media type or extension, such as text/csv or csv"`
	Portal string `json:"portal,omitempty" jsonschema:"IRI of a portal, as in an earlier answer"`
	Host   string `json:"host,omitempty" jsonschema:"host name, such as data.example.org"`
	Sort   string `json:"sort,omitempty" jsonschema:"changed, versions, size or title; by default the best matches come first"`
	Limit  int    `json:"limit,omitempty" jsonschema:"files to return, from 1 to 50; 10 by default"`
	After  string `json:"after,omitempty" jsonschema:"the value of next in the previous answer, for the page behind it"`
}

type searchOut struct {
	Total int    `json:"total" jsonschema:"files that match"`
	Hits  []hit  `json:"hits"`
	Next  string `json:"next,omitempty" jsonschema:"pass as after for more"`
}

// hit is a file in a list.
type hit struct {
	URL       string   `json:"url" jsonschema:"address of the file, for versions and describe"`
	Title     string   `json:"title,omitempty"`
	Dataset   string   `json:"dataset,omitempty" jsonschema:"IRI of the dataset that it belongs to"`
	About     string   `json:"datasetTitle,omitempty"`
	Portals   []string `json:"portals,omitempty"`
	Type      string   `json:"type,omitempty" jsonschema:"media type"`
	Size      int64    `json:"size,omitempty" jsonschema:"bytes of the latest version"`
	Versions  int      `json:"versions" jsonschema:"how many versions are kept"`
	Latest    string   `json:"latest,omitempty" jsonschema:"IRI of the latest version, for rows"`
	Changed   string   `json:"changed,omitempty" jsonschema:"when the latest version was archived"`
	Columns   []string `json:"columns,omitempty" jsonschema:"columns of its table that match the query"`
	LastVisit string   `json:"lastVisit,omitempty"`
	Outcome   string   `json:"outcome,omitempty" jsonschema:"of the last visit"`
}

func (s *Server) hitOf(r catalog.Resource, columns []string) hit {
	h := hit{URL: r.URL, Title: shortened(r.Title), About: shortened(r.DatasetTitle), Portals: firstOf(r.Portals, 3), Type: r.MediaType,
		Size: r.Size, Versions: r.Versions,
		Changed: stamp(r.Changed), Columns: firstOf(columns, 20), LastVisit: stamp(r.LastVisit), Outcome: string(r.Outcome)}
	if len(r.Datasets) > 0 {
		h.Dataset = r.Datasets[0]
	}
	if n := r.LatestN(); n >= 0 {
		h.Latest = s.o.Mint.Version(ns.VersionID(r.ID, n))
	}
	return h
}

func (s *Server) search(ctx context.Context, in searchIn) (out searchOut, err error) {
	limit, err := bounded("limit", in.Limit, 10, 50)
	if err != nil {
		return out, err
	}
	q := catalog.Search{Text: cut(in.Query, 300), Portal: in.Portal, Host: in.Host, Sort: in.Sort, After: in.After, Limit: limit}
	if in.Type != "" {
		if q.Type = s.o.MediaType(in.Type); q.Type == "" {
			return out, problem.Newf(http.StatusBadRequest, "Unknown type",
				"%q is neither a media type such as text/csv nor a known extension such as csv", cut(in.Type, 60))
		}
	}
	if !slices.Contains([]string{"", "changed", "versions", "size", "title"}, in.Sort) {
		return out, problem.Newf(http.StatusBadRequest, "Unknown order", "sort is %q; expected changed, versions, size or title",
			cut(in.Sort, 60))
	}
	found, err := s.o.Archive.Search(ctx, q)
	if err != nil {
		return out, err
	}
	out = searchOut{Total: found.Total, Next: found.Next, Hits: []hit{}}
	for _, r := range found.Resources {
		out.Hits = append(out.Hits, s.hitOf(r, found.Columns[r.ID]))
	}
	return out, nil
}

type versionsIn struct {
	URL    string `json:"url" jsonschema:"address of a file, as search returns it"`
	Limit  int    `json:"limit,omitempty" jsonschema:"versions to return, from 1 to 200; 50 by default"`
	Before string `json:"before,omitempty" jsonschema:"only versions archived before this time, such as 2026-05-01T00:00:00Z"`
}

type versionsOut struct {
	File     hit       `json:"file"`
	Versions []version `json:"versions" jsonschema:"newest first"`
	More     int       `json:"more,omitempty" jsonschema:"older versions that are not listed; ask with before"`
}

type version struct {
	IRI    string `json:"iri" jsonschema:"for rows, differences and describe; also the address of the bytes"`
	N      int    `json:"n" jsonschema:"number, from 0"`
	At     string `json:"at" jsonschema:"when it was archived"`
	Size   int64  `json:"size" jsonschema:"bytes"`
	Type   string `json:"type,omitempty" jsonschema:"media type"`
	SHA256 string `json:"sha256"`
	Note   string `json:"note,omitempty"`
}

func (s *Server) versions(ctx context.Context, in versionsIn) (out versionsOut, err error) {
	limit, err := bounded("limit", in.Limit, 50, 200)
	if err != nil {
		return out, err
	}
	before := time.Time{}
	if in.Before != "" {
		if before, err = time.Parse(time.RFC3339, in.Before); err != nil {
			return out, problem.Newf(http.StatusBadRequest, "Bad time", "before is %q; expected a time such as 2026-05-01T00:00:00Z",
				cut(in.Before, 60))
		}
	}
	url, err := s.addressOf(ctx, in.URL)
	if err != nil {
		return out, err
	}
	res, err := s.o.Archive.Resource(ctx, url)
	if err != nil {
		return out, err
	}
	all, err := s.o.Archive.Versions(ctx, res.URL)
	if err != nil {
		return out, err
	}
	out = versionsOut{File: s.hitOf(res, nil), Versions: []version{}}
	for _, v := range slices.Backward(all) {
		if !before.IsZero() && !v.At.Before(before) {
			continue
		}
		if len(out.Versions) == limit {
			out.More++
			continue
		}
		out.Versions = append(out.Versions, s.versionOf(v))
	}
	return out, nil
}

func (s *Server) versionOf(v catalog.Version) version {
	one := version{IRI: s.o.Mint.Version(v.ID), N: v.N, At: stamp(v.At), Size: v.Size, Type: v.Type,
		SHA256: fmt.Sprintf("%x", v.Digests.SHA256)}
	if v.ErrorPage != "" {
		one.Note = "an error page: " + shortened(v.ErrorPage)
	}
	if v.Truncated != "" {
		one.Note = "not the whole file: " + shortened(v.Truncated)
	}
	return one
}

// addressOf returns the address of the file that an address, or the IRI of one of its versions, means.
func (s *Server) addressOf(ctx context.Context, text string) (string, error) {
	id, ok := s.versionID(text)
	if !ok {
		return strings.TrimSpace(text), nil
	}
	v, err := s.o.Archive.Version(ctx, id)
	return v.URL, err
}

// versionID returns the id of the version that an IRI, or an id, names.
func (s *Server) versionID(text string) (string, bool) {
	text = strings.Trim(strings.TrimSpace(text), "<>")
	if ref, ok := s.o.Mint.Parse(text); ok && ref.Kind == ns.KindVersion {
		return ref.ID, true
	}
	_, _, ok := ns.SplitVersionID(text)
	return text, ok
}

// version returns the version that an IRI or id names, or the latest of a file's address.
func (s *Server) version(ctx context.Context, text string) (catalog.Version, error) {
	if id, ok := s.versionID(text); ok {
		return s.o.Archive.Version(ctx, id)
	}
	return s.o.Archive.Latest(ctx, strings.TrimSpace(text))
}
