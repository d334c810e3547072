package tallies

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"odarchive/crawler/archive/records"
)

// Difference is how much a tally differs from the records, in what they tell without the diary: resources and datasets.
type Difference struct {
	of              tallyID
	counted, stored Tally
}

func (d Difference) String() string {
	files := func(t Tally) string {
		return fmt.Sprintf("%d files, %d of them delisted, and %d datasets", t.Resources, t.Delisted, t.Datasets)
	}
	name := "the whole archive"
	if d.of.group != All {
		name = string(d.of.group) + " " + d.of.name
	}
	return fmt.Sprintf("figures: %s is said to have %s; the records have %s", name, files(d.stored), files(d.counted))
}

// Recount counts the resources and datasets of a transaction's records, and returns the tallies that differ.
func Recount(ctx context.Context, t records.Txn) (list []Difference, err error) {
	counted := map[tallyID]Tally{{All, ""}: {}}
	count := func(of tallyID, add Tally) {
		n := counted[of]
		n.Resources, n.Delisted, n.Datasets = n.Resources+add.Resources, n.Delisted+add.Delisted, n.Datasets+add.Datasets
		counted[of] = n
	}
	listed := map[[16]byte]struct{}{} // datasets of portals
	err = t.EachResource(ctx, "", func(r records.Resource) (bool, error) {
		count(tallyID{All, ""}, Tally{Resources: 1})
		count(tallyID{ByHost, r.Host}, Tally{Resources: 1})
		for _, portal := range r.Portals {
			add := Tally{Resources: 1}
			if !r.ListedByPortal(portal) {
				add.Delisted = 1
			}
			count(tallyID{ByPortal, portal}, add)
		}
		for _, s := range r.Sources {
			if s.Dataset == "" || !s.Delisted.IsZero() {
				continue
			}
			sum := sha256.Sum256([]byte(s.Portal + "\x00" + s.Dataset))
			if _, known := listed[[16]byte(sum[:16])]; known {
				continue
			}
			listed[[16]byte(sum[:16])] = struct{}{}
			count(tallyID{All, ""}, Tally{Datasets: 1})
			if s.Portal != "" {
				count(tallyID{ByPortal, s.Portal}, Tally{Datasets: 1})
			}
		}
		return true, nil
	})
	for _, group := range []Group{All, ByHost, ByPortal} {
		if err != nil {
			break
		}
		err = Each(ctx, t.Txn, group, func(name string, n Tally) error {
			of := tallyID{group, name}
			c := counted[of]
			delete(counted, of)
			if c.Resources != n.Resources || c.Delisted != n.Delisted || c.Datasets != n.Datasets {
				list = append(list, Difference{of, c, n})
			}
			return nil
		})
	}
	for of, c := range counted { // these have no tally
		if c.Resources > 0 {
			list = append(list, Difference{of, c, Tally{}})
		}
	}
	slices.SortFunc(list, func(a, b Difference) int { return slices.Compare(a.of.key(), b.of.key()) })
	return list, err
}

// Correct adds differences to the tallies, which may have changed since as the records have.
func (u *Update) Correct(list []Difference) error {
	for _, d := range list {
		err := u.change([]tallyID{d.of}, func(t *Tally) {
			t.Resources += d.counted.Resources - d.stored.Resources
			t.Delisted += d.counted.Delisted - d.stored.Delisted
			t.Datasets += d.counted.Datasets - d.stored.Datasets
		})
		if err != nil {
			return err
		}
	}
	return nil
}
