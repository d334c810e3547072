package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"odarchive/crawler/archive"
	"odarchive/triplestore/kv"
)

// spilled is a list of links that a visit leaves to Drain.
type spilled struct {
	From  string  `json:"f"`
	Depth int     `json:"d"`
	Links []found `json:"l"`
}

// spill stores the links that are too many for the transaction of the visit.
func (v *Visit) spill(txn *kv.Txn, at membership, c *Campaign, depth int) error {
	part := 0
	for list := range slices.Chunk(at.spill, maxInTxn) {
		b, err := json.Marshal(spilled{v.resource, depth, list})
		if err != nil {
			return err
		}
		k := key(tableSpilled, at.id[:], resourceKey(v.resource),
			[]byte{byte(c.Edition >> 8), byte(c.Edition), byte(part >> 8), byte(part)})
		part++
		if _, known, err := txn.Get(kv.SpaceCampaigns, k); err != nil {
			return err
		} else if !known {
			c.Counts.Spilled++
		}
		if err := txn.Set(kv.SpaceCampaigns, k, b); err != nil {
			return err
		}
	}
	return nil
}

// Spilled reports whether the visit left links to Store.Drain.
func (v *Visit) Spilled() bool {
	return v != nil && slices.ContainsFunc(v.in, func(m membership) bool { return len(m.spill) > 0 })
}

// Drain registers the links that the visit left.
func (v *Visit) Drain(ctx context.Context) error {
	var all []error
	for _, m := range v.in {
		if len(m.spill) > 0 {
			all = append(all, v.s.Drain(ctx, m.c.Document.Name))
		}
	}
	return errors.Join(all...)
}

// Drain registers the links that visits have left because they were too many for one transaction.
func (s *Store) Drain(ctx context.Context, name string) error {
	id := idOf(name)
	for more := true; more; {
		err := s.Archive.Update(ctx, func(txn archive.Txn) error {
			more = false
			var k, b []byte
			err := txn.KV().Scan(kv.SpaceCampaigns, key(tableSpilled, id[:]), nil, func(key, v []byte) (bool, error) {
				k, b, more = slices.Clone(key), slices.Clone(v), true
				return false, nil
			})
			if err != nil || !more {
				return err
			}
			c, known, err := load(txn.KV(), id)
			if err != nil || !known || c.State == Paused || c.State == Stopped {
				more = false
				return err
			}
			scope, err := s.scopeOf(id, c)
			if err != nil {
				return err
			}
			var list spilled
			if err := json.Unmarshal(b, &list); err != nil {
				return fmt.Errorf("a list of links is damaged: %w", err)
			}
			a := &adding{s: s, ctx: ctx, txn: txn, id: id, c: &c, scope: scope}
			for _, f := range list.Links {
				if f.identify() && scope.allows(f.URL) {
					if err := a.add(f, list.From, list.Depth); err != nil {
						return err
					}
				}
			}
			c.Counts.Spilled = max(0, c.Counts.Spilled-1)
			if err := txn.KV().Delete(kv.SpaceCampaigns, k); err != nil {
				return err
			}
			return a.finish()
		})
		if err != nil {
			return fmt.Errorf("campaign %s: %w", name, err)
		}
	}
	return nil
}
