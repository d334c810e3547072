package archive

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// view runs f over one unchanging state of the records.
func (a *Archive) view(f func(tables) error) error {
	return a.db.View(func(txn *kv.Txn) error { return f(tables{txn: txn}) })
}

// Resource is what is known of a URL in any of its spellings, or of a resource id.
func (a *Archive) Resource(ctx context.Context, urlOrID string) (catalog.Resource, error) {
	id := urlOrID
	if !ns.IsResourceID(id) {
		var err error
		if id, err = ResourceID(urlOrID); err != nil {
			return catalog.Resource{}, notFound("resource", urlOrID)
		}
	}
	var r record
	err := a.view(func(t tables) error {
		found, known, err := t.resource(id)
		if err == nil && !known {
			err = notFound("resource", urlOrID)
		}
		r = found
		return err
	})
	return r.Resource, err
}

// Versions of a URL or resource id, oldest first; none is no error where the resource is known.
func (a *Archive) Versions(ctx context.Context, urlOrID string) ([]catalog.Version, error) {
	r, err := a.Resource(ctx, urlOrID)
	if err != nil {
		return nil, err
	}
	var all []catalog.Version
	err = a.view(func(t tables) error {
		all, err = t.versions(ctx, r.ID)
		return err
	})
	return all, err
}

// Version by its id "{resource id}_{N}".
func (a *Archive) Version(ctx context.Context, id string) (catalog.Version, error) {
	var v catalog.Version
	err := a.view(func(t tables) error {
		found, ok, err := t.version(id)
		if err == nil && !ok {
			err = notFound("version", id)
		}
		v = found
		return err
	})
	return v, err
}

// Latest version of a URL or resource id that is no error page. ErrNotFound where there is none.
func (a *Archive) Latest(ctx context.Context, urlOrID string) (catalog.Version, error) {
	r, err := a.Resource(ctx, urlOrID)
	if err != nil {
		return catalog.Version{}, err
	}
	for n := r.Versions - 1; n >= 0; n-- {
		if v, err := a.Version(ctx, ns.VersionID(r.ID, n)); err != nil || v.ErrorPage == "" {
			return v, err
		}
	}
	return catalog.Version{}, notFound("a version of", urlOrID)
}

// Newest is the version that was kept last, be it an error page. ErrNotFound where there is none.
func (a *Archive) Newest(ctx context.Context, urlOrID string) (catalog.Version, error) {
	r, err := a.Resource(ctx, urlOrID)
	if err != nil {
		return catalog.Version{}, err
	}
	if r.Versions == 0 {
		return catalog.Version{}, notFound("a version of", urlOrID)
	}
	return a.Version(ctx, ns.VersionID(r.ID, r.Versions-1))
}

// At is the version of a URL that was current at a time: the last one crawled until then, or the first one where all
// are later (RFC 7089 section 4.5.3).
func (a *Archive) At(ctx context.Context, urlOrID string, at time.Time) (catalog.Version, error) {
	all, err := a.Versions(ctx, urlOrID)
	if err != nil {
		return catalog.Version{}, err
	}
	if len(all) == 0 {
		return catalog.Version{}, notFound("a version of", urlOrID)
	}
	i, exact := slices.BinarySearchFunc(all, at, func(v catalog.Version, at time.Time) int { return v.At.Compare(at) })
	if !exact {
		i = max(i-1, 0)
	}
	return all[i], nil
}

// Ref says how the bytes of a version are stored.
func (a *Archive) Ref(ctx context.Context, v catalog.Version) (content.Ref, error) {
	ref, ok, err := a.content.Stat(v.Digests.SHA256)
	if err == nil && !ok {
		err = notFound("the bytes of version", v.ID)
	}
	return ref, err
}

// Open gives a version's bytes as they were fetched; the caller closes.
func (a *Archive) Open(ctx context.Context, id string) (io.ReadCloser, error) {
	v, err := a.Version(ctx, id)
	if err != nil {
		return nil, err
	}
	return a.content.Open(v.Digests.SHA256)
}

// Inside says what a version holds: tables, RDF, members; nil where there is nothing to tell.
func (a *Archive) Inside(ctx context.Context, id string) (*inspect.Inside, error) {
	var in *inspect.Inside
	err := a.view(func(t tables) error {
		if _, ok, err := t.version(id); err != nil || !ok {
			return orNotFound(err, "version", id)
		}
		var err error
		in, err = t.inside(id)
		return err
	})
	return in, err
}

// Profile of a version's first table; nil where it has none.
func (a *Archive) Profile(ctx context.Context, id string) (*csvprofile.Profile, error) {
	in, err := a.Inside(ctx, id)
	if err != nil || in == nil || len(in.Tables) == 0 {
		return nil, err
	}
	return in.Tables[0], nil
}

func orNotFound(err error, what, name string) error {
	if err != nil {
		return err
	}
	return notFound(what, name)
}

// Dataset is about one dataset of a portal.
func (a *Archive) Dataset(ctx context.Context, iri string) (catalog.DatasetEntry, error) {
	d := catalog.DatasetEntry{IRI: iri}
	listed := false
	err := a.view(func(t tables) error {
		prefix := key(tableByDataset, iri, "")
		return t.scan(ctx, prefix, nil, func(k, _ []byte) (bool, error) {
			id, ok := behind(k, prefix)
			if !ok {
				return true, nil
			}
			r, ok, err := t.resource(id)
			if err != nil || !ok {
				return false, orNotFound(err, "resource", id)
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
		err = notFound("dataset", iri)
	}
	return d, err
}

// Resources calls f with each resource, in the order of ids, after the given id, until it returns false.
func (a *Archive) Resources(ctx context.Context, after string, f func(catalog.Resource) (more bool)) error {
	err := a.view(func(t tables) error {
		return t.eachResource(ctx, after, func(r record) error {
			if !f(r.Resource) {
				return errStop
			}
			return nil
		})
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// Archived does so for the resources that have a version; those that have none cost it nothing.
func (a *Archive) Archived(ctx context.Context, after string, f func(catalog.Resource) (more bool)) error {
	return a.view(func(t tables) error {
		for prefix := key(tableVersion); ; {
			id := ""
			from := append(key(tableVersion, rid(after)), 0xff) // behind all of its versions
			if after == "" {
				from = nil
			}
			err := t.scan(ctx, prefix, from, func(k, _ []byte) (bool, error) {
				id = string(k[1 : 1+ridLen])
				return false, nil
			})
			if err != nil || id == "" {
				return err
			}
			r, ok, err := t.resource(id)
			if err != nil || !ok {
				return orNotFound(err, "resource", id)
			}
			if !f(r.Resource) {
				return nil
			}
			after = id
		}
	})
}

// errStop ends a walk whose caller has seen enough.
var errStop = errors.New("enough")

// ResourcesOfHost calls f with the resources of one host, in the order of their ids, from behind the id after on.
func (a *Archive) ResourcesOfHost(ctx context.Context, host, after string, f func(catalog.Resource) (more bool)) error {
	host = strings.ToLower(host)
	if err := a.view(func(t tables) error {
		empty, err := t.isEmpty(key(tableByHost, host, ""))
		if empty { // older records keep the host as their source spelled it
			host = address.HostGroup(host)
		}
		return err
	}); err != nil {
		return err
	}
	prefix := key(tableByHost, host, "")
	return a.each(ctx, prefix, append(slices.Clone(prefix), after+"\x00"...), f)
}

// ResourcesOfType does so for the resources whose latest version has a media type.
func (a *Archive) ResourcesOfType(ctx context.Context, mediaType, after string, f func(catalog.Resource) (more bool)) error {
	prefix := key(tableByType, strings.ToLower(mediaType), "")
	return a.each(ctx, prefix, append(slices.Clone(prefix), after+"\x00"...), f)
}

// IDsOfType calls f with the ids of the resources whose latest version has a media type, in their order.
func (a *Archive) IDsOfType(ctx context.Context, mediaType string, f func(id string)) error {
	return a.view(func(t tables) error {
		prefix := key(tableByType, strings.ToLower(mediaType), "")
		return t.scan(ctx, prefix, nil, func(k, _ []byte) (bool, error) {
			if id, ok := behind(k, prefix); ok {
				f(id)
			}
			return true, nil
		})
	})
}

// EachVersion calls f with every version, resource by resource, until it fails.
func (a *Archive) EachVersion(ctx context.Context, f func(catalog.Version) error) error {
	return a.view(func(t tables) error { return t.eachVersion(ctx, f) })
}

func (a *Archive) each(ctx context.Context, prefix, from []byte, f func(catalog.Resource) bool) error {
	return a.view(func(t tables) error {
		return t.scan(ctx, prefix, from, func(k, _ []byte) (bool, error) {
			id, ok := behind(k, prefix)
			if !ok {
				return true, nil
			}
			r, ok, err := t.resource(id)
			if err != nil || !ok {
				return false, orNotFound(err, "resource", id)
			}
			return f(r.Resource), nil
		})
	})
}

// Activities lists fetches, newest first.
func (a *Archive) Activities(ctx context.Context, q catalog.ActivityQuery) ([]catalog.Activity, error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	var found []catalog.Activity
	err := a.view(func(t tables) error {
		visit := func(act catalog.Activity) bool {
			if q.Outcome == "" || q.Outcome == act.Outcome {
				found = append(found, act)
			}
			return len(found) < q.Limit
		}
		if q.URL != "" {
			return t.activitiesOf(ctx, q.URL, q.Before, visit)
		}
		return t.activities(ctx, q, visit)
	})
	return found, err
}

// activitiesOf goes back in time through the fetches of one resource.
func (t tables) activitiesOf(ctx context.Context, address string, before time.Time, visit func(catalog.Activity) bool) error {
	id, err := ResourceID(address)
	if err != nil {
		return notFound("resource", address)
	}
	var from []byte
	if !before.IsZero() {
		from = key(tableByResource, rid(id), before.Add(-time.Millisecond))
	}
	return t.scan(ctx, key(tableByResource, rid(id)), from, func(k, _ []byte) (bool, error) {
		var act catalog.Activity
		ok, err := t.get(append(append([]byte{tableActivity}, k[len(k)-8:]...), id...), &act)
		if err != nil || !ok {
			return false, orNotFound(err, "activity of", address)
		}
		return visit(act), nil
	})
}

// activities goes back in time through all fetches.
func (t tables) activities(ctx context.Context, q catalog.ActivityQuery, visit func(catalog.Activity) bool) error {
	var from []byte
	host := q.Host
	if host != "" {
		host = address.HostGroup(host)
	}
	if !q.Before.IsZero() {
		from = key(tableActivity, q.Before.Add(-time.Millisecond))
	}
	return t.scan(ctx, key(tableActivity), from, func(k, raw []byte) (bool, error) {
		var act catalog.Activity
		if err := json.Unmarshal(raw, &act); err != nil {
			return false, badRecord(k, err)
		}
		if host != "" {
			if of, err := address.Host(act.URL); err != nil || of != host {
				return true, nil
			}
		}
		return visit(act), nil
	})
}
