package archive

import (
	"cmp"
	"context"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
)

// detail returns an event together with the details that the records have of its file, dataset and version.
func detail(ctx context.Context, t records.Txn, e events.Event) (d catalog.Event, err error) {
	d = catalog.Event{Seq: e.Seq, Kinds: e.Kinds.Names(), At: e.At, N: e.N, Before: -1, From: e.From, To: e.To, Why: e.Why}
	if e.Dataset != "" {
		d.Datasets = []string{e.Dataset}
	}
	if e.Portal != "" {
		d.Portals = []string{e.Portal}
	}
	if e.Resource != "" {
		r, known, err := t.Resource(e.Resource)
		if err != nil || !known {
			return d, records.OrNotFound(err, "resource", e.Resource)
		}
		d.URL = r.URL
		if e.Dataset == "" {
			d.Title, d.Portals, d.Datasets = cmp.Or(r.Title, r.FileName, r.URL), r.Portals, r.Datasets
		} else {
			for _, s := range r.Sources {
				if s.Dataset == e.Dataset {
					d.Title = cmp.Or(d.Title, s.DatasetTitle)
				}
			}
		}
	}
	d.Title = cmp.Or(d.Title, e.Dataset)
	if !e.IsVersion() {
		return d, ctx.Err()
	}
	return d, addVersion(t, &d, e)
}

// addVersion adds the details of the event's version, and how it differs from the previous version.
func addVersion(t records.Txn, d *catalog.Event, e events.Event) error {
	v, known, err := t.Version(e.VersionID())
	if err != nil || !known {
		return records.OrNotFound(err, "version", e.VersionID())
	}
	d.Version, d.Previous, d.Type, d.Size, d.Crawled = v.ID, v.Previous, v.Type, v.Size, v.At
	if v.Previous == "" {
		return nil
	}
	before, known, err := t.Version(v.Previous)
	if err != nil || !known {
		return records.OrNotFound(err, "version", v.Previous)
	}
	d.Before = before.Size
	change, err := t.Change(v.ID)
	if err != nil {
		return err
	}
	if change != nil {
		d.Rows = catalog.RowChange{Added: change.RowsAdded, Removed: change.RowsRemoved, Changed: change.RowsChanged}
	}
	if e.Kinds&events.Schema == 0 {
		return nil
	}
	older, err := t.Inside(v.Previous)
	if err != nil {
		return err
	}
	newer, err := t.Inside(v.ID)
	d.Columns = compareSchemas(older, newer)
	return err
}
