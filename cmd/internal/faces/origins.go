package faces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/archive"
	"odarchive/sparqlapi/files"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// maxOrigins is the number of files up to which a zip says what portals state of each. Looking that up for more would
// take longer than planning the zip.
const maxOrigins = 1000

// maxLicences bounds the statements about licences that are read for one zip.
const maxLicences = 10 * maxOrigins

// origins sets the origins of the entries of a zip, unless they are too many.
func (a *Faces) origins(ctx context.Context, entries []files.Entry) error {
	if len(entries) > maxOrigins {
		return nil
	}
	byURL := map[string]*files.Origin{}
	about := map[string]bool{}
	for i := range entries {
		e := &entries[i]
		if e.LeftOut != "" || e.URL == "" {
			continue
		}
		o, known := byURL[e.URL]
		if !known {
			r, err := a.store.Archive.Resource(ctx, e.URL)
			if errors.Is(err, archive.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			about[e.URL] = true
			for _, s := range r.Sources {
				if s.Delisted.IsZero() {
					o = &files.Origin{Portal: s.Portal, Dataset: s.Dataset, Title: s.DatasetTitle}
					about[s.Dataset] = true
					break
				}
			}
			byURL[e.URL] = o
		}
		e.Origin = o
	}
	licences, err := a.licences(ctx, about)
	if err != nil {
		return err
	}
	for url, o := range byURL {
		if o != nil {
			o.Licence = cmp.Or(licences[url], licences[o.Dataset])
		}
	}
	return nil
}

// licences returns the licence that portals state of each of some files and datasets, the first in the order of texts.
func (a *Faces) licences(ctx context.Context, about map[string]bool) (map[string]string, error) {
	var names []string
	for iri := range about {
		if iri != "" && !strings.ContainsFunc(iri, func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>\"{}|\\^`", r) }) {
			names = append(names, "<"+iri+">")
		}
	}
	found := map[string]string{}
	if len(names) == 0 {
		return found, nil
	}
	slices.Sort(names)
	query := fmt.Sprintf("SELECT DISTINCT ?s ?o { VALUES ?s { %s } GRAPH ?g { ?s <%s> ?o } FILTER(!STRENDS(STR(?g), \"#withdrawn\")) }",
		strings.Join(names, " "), vocab.DCTLicense)
	rows, err := a.selectRows(ctx, query, maxLicences)
	if err != nil {
		return nil, fmt.Errorf("licences of files: %w", err)
	}
	for _, row := range rows.Rows {
		if len(row) != 2 || row[1].Kind() == term.KindBlank {
			continue
		}
		s, o := row[0].Value(), row[1].Value()
		if before, ok := found[s]; !ok || o < before {
			found[s] = o
		}
	}
	return found, nil
}
