package app

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/bundle"
	"odarchive/sparqlapi/fileserve"
	"odarchive/sparqlapi/memento"
)

// versions is the archive as a zip needs it: by IRI, by URL, by id, by type.
type versions struct{ *archive.Archive }

var _ bundle.Archive = versions{}

// Version implements bundle.Archive.
func (a versions) Version(ctx context.Context, iri string) (bundle.Entry, bool, error) {
	ref, ok := a.Mint().Parse(iri)
	if !ok || (ref.Kind != ns.KindVersion && ref.Kind != ns.KindColumn) {
		return bundle.Entry{}, false, nil
	}
	return a.entry(ctx)(a.Archive.Version(ctx, ref.ID))
}

// Latest implements bundle.Archive.
func (a versions) Latest(ctx context.Context, url string) (bundle.Entry, bool, error) {
	return a.entry(ctx)(a.Archive.Latest(ctx, url))
}

// ByID implements bundle.Archive.
func (a versions) ByID(ctx context.Context, id string) (bundle.Entry, bool, error) {
	if ns.IsResourceID(id) {
		return a.Latest(ctx, id)
	}
	return a.entry(ctx)(a.Archive.Version(ctx, id))
}

// OfType implements bundle.Archive.
func (a versions) OfType(ctx context.Context, mediaType string) iter.Seq2[bundle.Entry, error] {
	return func(yield func(bundle.Entry, error) bool) {
		types, err := a.typesLike(ctx, mediaType)
		if err != nil {
			yield(bundle.Entry{}, err)
			return
		}
		for _, t := range types {
			if !a.eachOfType(ctx, t, yield) {
				return
			}
		}
	}
}

// typesLike are the media types that a name stands for: itself, or those with a subtype that is, ends in or begins with
// the short word ("csv", "json", "turtle").
func (a versions) typesLike(ctx context.Context, name string) ([]string, error) {
	name = strings.ToLower(name)
	if strings.Contains(name, "/") {
		return []string{name}, nil
	}
	known, err := a.Types(ctx)
	if err != nil {
		return nil, err
	}
	var like []string
	for _, t := range known {
		_, subtype, _ := strings.Cut(t.Key, "/")
		if subtype == name || strings.HasSuffix(subtype, "+"+name) || strings.HasSuffix(subtype, "."+name) || strings.TrimPrefix(subtype, "x-") == name {
			like = append(like, t.Key)
		}
	}
	return like, nil
}

func (a versions) eachOfType(ctx context.Context, mediaType string, yield func(bundle.Entry, error) bool) (more bool) {
	more = true
	err := a.ResourcesOfType(ctx, mediaType, "", func(r catalog.Resource) bool {
		if r.Versions == 0 {
			return true
		}
		entry, ok, err := a.Latest(ctx, r.ID)
		if ok || err != nil {
			more = yield(entry, err) && err == nil
		}
		return more
	})
	if err != nil && more {
		yield(bundle.Entry{}, err)
		return false
	}
	return more
}

// entry makes a zip entry of a version that was looked up; what is not in the archive is no error.
func (a versions) entry(ctx context.Context) func(catalog.Version, error) (bundle.Entry, bool, error) {
	return func(v catalog.Version, err error) (bundle.Entry, bool, error) {
		if errors.Is(err, archive.ErrNotFound) {
			return bundle.Entry{}, false, nil
		}
		if err != nil {
			return bundle.Entry{}, false, err
		}
		ref, err := a.Ref(ctx, v)
		if err != nil {
			return bundle.Entry{}, false, err
		}
		return bundle.EntryOf(v, a.Mint().Version(v.ID), ref), true, nil
	}
}

// lookup is the archive for handlers that take "not found" as an answer, not as an error.
type lookup struct{ archive *archive.Archive }

var (
	_ fileserve.Archive = lookup{}
	_ memento.Archive   = lookup{}
)

func known[T any](value T, err error) (T, bool, error) {
	if errors.Is(err, archive.ErrNotFound) {
		return value, false, nil
	}
	return value, err == nil, err
}

// Version implements fileserve.Archive.
func (l lookup) Version(ctx context.Context, id string) (catalog.Version, bool, error) {
	return known(l.archive.Version(ctx, id))
}

// Latest implements fileserve.Archive.
func (l lookup) Latest(ctx context.Context, url string) (catalog.Version, bool, error) {
	return known(l.archive.Latest(ctx, url))
}

// TimeMap implements memento.Archive.
func (l lookup) TimeMap(ctx context.Context, url string) ([]catalog.Version, error) {
	all, _, err := known(l.archive.Versions(ctx, url))
	return slices.DeleteFunc(all, func(v catalog.Version) bool { return v.ErrorPage != "" }), err
}
