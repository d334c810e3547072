package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// view runs f over one unchanging state of the records.
func (a *Archive) view(f func(records.Txn) error) error { return records.View(a.db, f) }

// VersionID returns the id of the version that a name means: its id, or its IRI below any base that the archive has
// had. The IRI of a column means the version that has it, and so does an IRI as people copy it: with a query such as
// ?format=ttl, or with a slash at its end.
func (a *Archive) VersionID(name string) (id string, ok bool) {
	copied, _, _ := strings.Cut(name, "?")
	for _, iri := range []string{name, strings.TrimSuffix(copied, "/")} {
		if ref, minted := a.mint.Parse(iri); minted {
			return ref.ID, ref.Kind == ns.KindVersion || ref.Kind == ns.KindColumn
		}
	}
	_, _, ok = ns.SplitVersionID(name)
	return name, ok
}

// meant returns the version that a name means (VersionID), and its resource. ok is false for other names, and for a
// version IRI that was itself registered as a resource.
func (a *Archive) meant(t records.Txn, name string) (v catalog.Version, r records.Resource, ok bool, err error) {
	id, ok := a.VersionID(name)
	if !ok {
		return v, r, false, nil
	}
	if _, err := recordOf(t, name); !errors.Is(err, ErrNotFound) {
		return v, r, false, err
	}
	v, known, err := t.Version(id)
	if err != nil || !known {
		return v, r, false, records.OrNotFound(err, "version", id)
	}
	resource, _, _ := ns.SplitVersionID(id)
	r, err = recordOf(t, resource)
	return v, r, err == nil, err
}

// Resource returns what is known of a URL in any of its spellings, of a resource id, or of the resource of a version's
// id or IRI.
func (a *Archive) Resource(ctx context.Context, name string) (catalog.Resource, error) {
	var r records.Resource
	err := a.view(func(t records.Txn) (err error) {
		var ok bool
		if _, r, ok, err = a.meant(t, name); !ok && err == nil {
			r, err = recordOf(t, name)
		}
		return err
	})
	return r.Resource, err
}

// versionMeant returns the version that a name means, as meant does.
func (a *Archive) versionMeant(name string) (v catalog.Version, ok bool, err error) {
	err = a.view(func(t records.Txn) (err error) {
		v, _, ok, err = a.meant(t, name)
		return err
	})
	return v, ok, err
}

// recordOf returns the record of a URL in any of its spellings, also without a scheme, or of a resource id.
func recordOf(t records.Txn, urlOrID string) (records.Resource, error) {
	if strings.Contains(urlOrID, ".") && !strings.Contains(urlOrID, ":/") {
		for _, scheme := range []string{"https://", "http://"} {
			if r, err := recordOf(t, scheme+urlOrID); !errors.Is(err, ErrNotFound) {
				return r, err
			}
		}
	}
	id := urlOrID
	if !ns.IsResourceID(id) {
		var err error
		if id, err = records.ResourceID(urlOrID); err != nil {
			return records.Resource{}, records.NotFound("resource", urlOrID)
		}
	}
	r, known, err := t.Resource(id)
	if err != nil || !known {
		return r, records.OrNotFound(err, "resource", urlOrID)
	}
	return r, nil
}

// URLOf returns the URL of the resource whose version a name means, by its id or IRI, and every other name as it is.
func (a *Archive) URLOf(name string) string {
	if v, ok, err := a.versionMeant(name); ok && err == nil {
		return v.URL
	}
	return name
}

// Versions returns the versions of what Resource finds by a name, in the order of their dates, oldest first. Numbers do
// not follow dates where a version was imported (pastversions.go), or a clock was wrong. A known resource may have
// none.
func (a *Archive) Versions(ctx context.Context, name string) ([]catalog.Version, error) {
	r, err := a.Resource(ctx, name)
	if err != nil {
		return nil, err
	}
	var all []catalog.Version
	err = a.view(func(t records.Txn) (err error) {
		all, err = t.Versions(ctx, r.ID)
		return err
	})
	sortByDate(all)
	return all, err
}

// Version returns a version by its id, "{resource id}_{N}", or its IRI.
func (a *Archive) Version(ctx context.Context, name string) (v catalog.Version, err error) {
	id, _ := a.VersionID(name)
	err = a.view(func(t records.Txn) (err error) {
		var known bool
		if v, known, err = t.Version(id); err != nil || !known {
			return records.OrNotFound(err, "version", name)
		}
		return nil
	})
	return v, err
}

// Latest returns the latest version of a URL or resource id that is neither an error page nor withdrawn; the id or IRI
// of a version names that version. If there is none, the error wraps ErrNotFound, and is catalog.ErrWithdrawn, too, if
// one was withdrawn.
func (a *Archive) Latest(ctx context.Context, urlOrID string) (catalog.Version, error) {
	if v, ok, err := a.versionMeant(urlOrID); ok || err != nil {
		return v, err
	}
	r, err := a.Resource(ctx, urlOrID)
	if err != nil {
		return catalog.Version{}, err
	}
	if r.OutOfOrder {
		return a.latestByDate(ctx, r)
	}
	var seen []catalog.Version
	for n := r.Versions - 1; n >= 0; n-- {
		v, err := a.Version(ctx, ns.VersionID(r.ID, n))
		if err != nil || v.IsData() {
			return v, err
		}
		seen = append(seen, v)
	}
	return catalog.Version{}, noLatest(urlOrID, seen)
}

// noLatest returns the error of Latest for a resource none of whose versions, the latest first, is data: that of the
// withdrawal if one was withdrawn.
func noLatest(resource string, versions []catalog.Version) error {
	for _, v := range versions {
		if v.Withdrawn != nil {
			return withdrawnError{&catalog.WithdrawnError{Version: v.ID, Withdrawal: *v.Withdrawn}}
		}
	}
	return records.NotFound("a version of", resource)
}

// withdrawnError is also ErrNotFound.
type withdrawnError struct{ *catalog.WithdrawnError }

func (withdrawnError) Unwrap() error { return ErrNotFound }

// Newest returns the version that was kept last, even if it is an error page.
func (a *Archive) Newest(ctx context.Context, urlOrID string) (catalog.Version, error) {
	r, err := a.Resource(ctx, urlOrID)
	if err != nil {
		return catalog.Version{}, err
	}
	if r.Versions == 0 {
		return catalog.Version{}, records.NotFound("a version of", urlOrID)
	}
	return a.Version(ctx, ns.VersionID(r.ID, r.LatestN()))
}

// At returns the version of what Resource finds by a name that was current at a time: the last one crawled until then,
// or the first one if all were crawled later (RFC 7089 section 4.5.3).
func (a *Archive) At(ctx context.Context, name string, at time.Time) (catalog.Version, error) {
	all, err := a.Versions(ctx, name)
	if err != nil {
		return catalog.Version{}, err
	}
	if len(all) == 0 {
		return catalog.Version{}, records.NotFound("a version of", name)
	}
	i, exact := slices.BinarySearchFunc(all, at, func(v catalog.Version, at time.Time) int { return v.At.Compare(at) })
	if !exact {
		i = max(i-1, 0)
	}
	return all[i], nil
}

// Ref returns how the bytes of a version are stored. The error is a *catalog.WithdrawnError if they were taken away.
func (a *Archive) Ref(ctx context.Context, v catalog.Version) (content.Ref, error) {
	if err := v.Available(); err != nil {
		return content.Ref{}, err
	}
	ref, ok, err := a.content.Stat(v.Digests.SHA256)
	if err == nil && !ok {
		err = records.NotFound("the bytes of version", v.ID)
	}
	return ref, err
}

// Open returns a version's bytes as they were fetched; the caller closes the reader.
func (a *Archive) Open(ctx context.Context, id string) (io.ReadCloser, error) {
	v, err := a.Version(ctx, id)
	if err != nil {
		return nil, err
	}
	return a.open(v)
}

func (a *Archive) open(v catalog.Version) (*content.Reader, error) {
	if err := v.Available(); err != nil {
		return nil, err
	}
	return a.content.Open(v.Digests.SHA256)
}

// Inside returns what a version contains: tables, RDF, members. It is nil if nothing is known.
func (a *Archive) Inside(ctx context.Context, id string) (in *inspect.Inside, err error) {
	err = a.view(func(t records.Txn) error {
		if _, ok, err := t.Version(id); err != nil || !ok {
			return records.OrNotFound(err, "version", id)
		}
		in, err = t.Inside(id)
		return err
	})
	return in, err
}

// LoseExchange removes what was on the wire when a version was fetched, because it cannot be read. The transparency log
// keeps the version's leaf, as far as its parity goes.
func (a *Archive) LoseExchange(ctx context.Context, versionID string) error {
	err := a.db.Update(ctx, func(txn *kv.Txn) error {
		if err := (transparency.Txn{Txn: txn}).KeepWhole(versionID); err != nil {
			return err
		}
		return records.Txn{Txn: txn}.DropExchange(versionID)
	})
	if err != nil {
		return fmt.Errorf("archive: lose the exchange of %s: %w", versionID, err)
	}
	return nil
}

// Exchange returns what was on the wire when a version was fetched, nil if that is not known.
func (a *Archive) Exchange(ctx context.Context, v catalog.Version) (e *catalog.Exchange, err error) {
	err = a.view(func(t records.Txn) (err error) { e, err = t.Exchange(v); return err })
	if err != nil {
		return nil, fmt.Errorf("archive: exchange of %s: %w", v.ID, err)
	}
	return e, nil
}

// Dataset returns one dataset of a portal.
func (a *Archive) Dataset(ctx context.Context, iri string) (catalog.DatasetEntry, error) {
	d := catalog.DatasetEntry{IRI: iri}
	listed := false
	err := a.view(func(t records.Txn) error {
		return t.OfDataset(ctx, iri, func(id string) (bool, error) {
			r, ok, err := t.Resource(id)
			if err != nil || !ok {
				return false, records.OrNotFound(err, "resource", id)
			}
			i := slices.IndexFunc(r.Sources, func(s catalog.Source) bool { return s.Dataset == iri })
			if i < 0 {
				return true, nil
			}
			d.Portal, d.Title = r.Sources[i].Portal, r.Sources[i].DatasetTitle
			d.URLs = append(d.URLs, r.URL)
			since := r.Sources[i].Delisted
			if listed = listed || since.IsZero(); since.After(d.Withdrawn) {
				d.Withdrawn = since
			}
			return true, nil
		})
	})
	if listed {
		d.Withdrawn = time.Time{}
	}
	if err == nil && len(d.URLs) == 0 {
		err = records.NotFound("dataset", iri)
	}
	return d, err
}

// Resources calls f with the resources after the given id, in the order of their ids, until f returns false.
func (a *Archive) Resources(ctx context.Context, after string, f func(catalog.Resource) (more bool)) error {
	return a.view(func(t records.Txn) error {
		return t.EachResource(ctx, after, func(r records.Resource) (bool, error) { return f(r.Resource), nil })
	})
}

// Archived does the same for the resources that have a version, and reads no others.
func (a *Archive) Archived(ctx context.Context, after string, f func(catalog.Resource) (more bool)) error {
	return a.view(func(t records.Txn) error {
		for id := after; ; {
			var err error
			if id, err = t.NextArchived(ctx, id); err != nil || id == "" {
				return err
			}
			if more, err := callWithResource(t, id, f); err != nil || !more {
				return err
			}
		}
	})
}

// ResourcesOfHost does the same for the resources of one host.
func (a *Archive) ResourcesOfHost(ctx context.Context, host, after string, f func(catalog.Resource) (more bool)) error {
	return a.view(func(t records.Txn) error {
		host := strings.ToLower(host)
		exists, err := t.HasHost(host)
		if err != nil {
			return err
		}
		if !exists { // older records keep the host as their source spelled it
			host = address.HostGroup(host)
		}
		return t.OfHost(ctx, host, after, func(id string) (bool, error) { return callWithResource(t, id, f) })
	})
}

// ResourcesOfType does the same for the resources whose latest version has a media type.
func (a *Archive) ResourcesOfType(ctx context.Context, mediaType, after string, f func(catalog.Resource) (more bool)) error {
	return a.view(func(t records.Txn) error {
		return t.OfType(ctx, strings.ToLower(mediaType), after, func(id string) (bool, error) { return callWithResource(t, id, f) })
	})
}

func callWithResource(t records.Txn, id string, f func(catalog.Resource) (more bool)) (more bool, err error) {
	r, ok, err := t.Resource(id)
	if err != nil || !ok {
		return false, records.OrNotFound(err, "resource", id)
	}
	return f(r.Resource), nil
}

// IDsOfType calls f with the ids of the resources whose latest version has a media type, in their order.
func (a *Archive) IDsOfType(ctx context.Context, mediaType string, f func(id string)) error {
	return a.view(func(t records.Txn) error {
		return t.OfType(ctx, strings.ToLower(mediaType), "", func(id string) (bool, error) { f(id); return true, nil })
	})
}

// EachVersion calls f with every version, resource by resource, until f fails.
func (a *Archive) EachVersion(ctx context.Context, f func(catalog.Version) error) error {
	return a.view(func(t records.Txn) error {
		return t.EachVersion(ctx, "", func(v catalog.Version) (bool, error) { return true, f(v) })
	})
}

// Excerpt returns the first max bytes of a version.
func (a *Archive) Excerpt(_ context.Context, v catalog.Version, max int64) ([]byte, error) {
	body, err := a.content.Open(v.Digests.SHA256)
	if err != nil {
		return nil, fmt.Errorf("version %s: %w", v.ID, err)
	}
	defer body.Close()
	return io.ReadAll(io.LimitReader(body, max))
}
