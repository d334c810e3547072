package archive

import (
	"context"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/triplestore"
)

// Delisting says that a dataset of a portal lists resources no longer.
type Delisting struct {
	Portal, Dataset string
	Resources       []string // ids; nil for all that the dataset has
	At              time.Time
}

// delistedAtOnce is how many resources one transaction marks.
const delistedAtOnce = 300

// Delist marks listings as past; marking them twice changes nothing. What was archived stays, and so do the visits that are
// due: a file outlives its listing. It is as many transactions as it takes.
func (a *Archive) Delist(ctx context.Context, list []Delisting) error {
	for _, d := range list {
		ids := d.Resources
		if ids == nil {
			err := a.view(func(t tables) (err error) {
				ids, err = t.ofDataset(ctx, d.Dataset)
				return err
			})
			if err != nil {
				return fmt.Errorf("archive: delist %s: %w", d.Dataset, err)
			}
		}
		for part := range slices.Chunk(ids, delistedAtOnce) {
			err := a.triples.Update(ctx, func(txn *triplestore.Txn) error {
				t, err := a.writing(txn.KV())
				if err != nil {
					return err
				}
				for _, id := range part {
					if err := t.delist(txn, id, d); err != nil {
						return err
					}
				}
				return a.save(t)
			})
			if err != nil {
				return fmt.Errorf("archive: delist %s: %w", d.Dataset, err)
			}
		}
	}
	return nil
}

func (t tables) ofDataset(ctx context.Context, dataset string) (ids []string, err error) {
	prefix := key(tableByDataset, dataset, "")
	err = t.scan(ctx, prefix, nil, func(k, _ []byte) (bool, error) {
		if id, ok := behind(k, prefix); ok {
			ids = append(ids, id)
		}
		return true, nil
	})
	return ids, err
}

func (t tables) delist(txn *triplestore.Txn, id string, d Delisting) error {
	before, known, err := t.resource(id)
	if err != nil || !known {
		return err
	}
	i := slices.IndexFunc(before.Sources, func(s catalog.Source) bool { return s.Portal == d.Portal && s.Dataset == d.Dataset })
	if i < 0 || !before.Sources[i].Delisted.IsZero() {
		return nil
	}
	after := before
	after.Sources = slices.Clone(before.Sources)
	after.Sources[i].Delisted = d.At.UTC()
	if err := t.set(key(tableResource, rid(id)), after); err != nil {
		return err
	}
	if err := t.find(before, after, nil); err != nil {
		return err
	}
	return replace(txn, describe.Resource(before.Resource), describe.Resource(after.Resource))
}
