package archive

import (
	"context"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
)

// Delisting says that a dataset of a portal no longer lists resources.
type Delisting struct {
	Portal, Dataset string
	Resources       []string // ids; nil for all of the dataset
	At              time.Time
}

// delistedPerTxn bounds the resources that one transaction marks.
const delistedPerTxn = 300

// Delist marks listings as past; repeating it changes nothing. Versions and due visits stay, since a file outlives its
// listing. Delist uses as many transactions as it needs.
func (a *Archive) Delist(ctx context.Context, list []Delisting) error {
	for _, d := range list {
		if err := a.delistAll(ctx, d); err != nil {
			return fmt.Errorf("archive: delist %s: %w", d.Dataset, err)
		}
	}
	return nil
}

func (a *Archive) delistAll(ctx context.Context, d Delisting) error {
	ids := d.Resources
	if ids == nil {
		err := a.view(func(t records.Txn) error {
			return t.OfDataset(ctx, d.Dataset, func(id string) (bool, error) { ids = append(ids, id); return true, nil })
		})
		if err != nil {
			return err
		}
	}
	for part := range slices.Chunk(ids, delistedPerTxn) {
		err := a.update(ctx, func(u *update) error {
			any := false
			for _, id := range part {
				was, err := u.delist(id, d)
				if any = any || was; err != nil {
					return err
				}
			}
			if !any {
				return nil
			}
			listed, err := isListing(ctx, u.records, d.Portal, d.Dataset)
			if err != nil || listed {
				return err
			}
			return u.tallies.AddDataset(d.Portal, -1)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isListing reports whether a portal lists a resource under a dataset now.
func isListing(ctx context.Context, t records.Txn, portal, dataset string) (listed bool, err error) {
	err = t.OfDataset(ctx, dataset, func(id string) (bool, error) {
		r, known, err := t.Resource(id)
		listed = known && r.ListedBy(portal, dataset)
		return !listed, err
	})
	return listed, err
}

// delist reports whether the resource was listed.
func (u *update) delist(id string, d Delisting) (was bool, err error) {
	before, known, err := u.records.Resource(id)
	if err != nil || !known {
		return false, err
	}
	i := slices.IndexFunc(before.Sources, func(s catalog.Source) bool { return s.Portal == d.Portal && s.Dataset == d.Dataset })
	if i < 0 || !before.Sources[i].Delisted.IsZero() {
		return false, nil
	}
	after := before
	after.Sources = slices.Clone(before.Sources)
	after.Sources[i].Delisted = d.At.UTC()
	if d.Portal != "" && !after.ListedByPortal(d.Portal) {
		if err := u.tallies.AddDelisted(d.Portal, 1); err != nil {
			return true, err
		}
	}
	if err := u.saveResource(before, after); err != nil {
		return true, err
	}
	return true, u.logListing(before, after, d.At)
}
