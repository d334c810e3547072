package campaign

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"odarchive/triplestore/kv"
)

// perTxn is how many URLs one transaction adds or queues.
const perTxn = 500

// Prepare does what is left of queueing a round and of registering links. It can be interrupted and repeated.
func (s *Store) Prepare(ctx context.Context, name string) error {
	id := idOf(name)
	if err := s.addSeeds(ctx, id); err != nil {
		return fmt.Errorf("campaign %s: %w", name, err)
	}
	for {
		more, err := s.queue(ctx, id)
		if err != nil {
			return fmt.Errorf("campaign %s: %w", name, err)
		}
		if !more {
			break
		}
	}
	if err := s.rescore(ctx, id); err != nil {
		return fmt.Errorf("campaign %s: %w", name, err)
	}
	return s.Drain(ctx, name)
}

// addSeeds adds the seeds of a campaign whose round begins.
func (s *Store) addSeeds(ctx context.Context, id campaignID) error {
	var all []string
	err := s.view(ctx, func(txn *kv.Txn) error {
		c, _, err := load(txn, id)
		if c.Queuing && c.Cursor == "" && c.State == Running {
			all = c.Document.Seeds
		}
		return err
	})
	for part := range slices.Chunk(all, perTxn) {
		if err != nil {
			return err
		}
		err = s.extend(ctx, id, func(a *adding) error {
			for _, seed := range part {
				f := found{URL: seed}
				if !f.identify() || !a.scope.allows(seed) {
					a.c.Counts.OutOfScope++
					continue
				}
				a.scoreOf(&f)
				if err := a.add(f, "", 0); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return err
}

// queue queues the next URLs of a round. It returns false if all are.
func (s *Store) queue(ctx context.Context, id campaignID) (more bool, err error) {
	err = s.Archive.DB().Update(ctx, func(txn *kv.Txn) error {
		more = false
		c, known, err := load(txn, id)
		if err != nil || !known || !c.Queuing || c.State != Running {
			return err
		}
		scope, err := s.scopeOf(id, c)
		if err != nil {
			return err
		}
		after, _ := hex.DecodeString(c.Cursor)
		prefix := key(tableMember, id[:])
		var last []byte
		type change struct {
			key []byte
			m   member
		}
		var changes []change
		var due []string
		n := 0
		err = txn.Scan(kv.SpaceCampaigns, prefix, append(bytes.Clone(prefix), after...), func(k, v []byte) (bool, error) {
			if resource := k[len(prefix):]; bytes.Equal(resource, after) {
				return true, nil
			}
			if n++; n > perTxn {
				more = true
				return false, nil
			}
			last = bytes.Clone(k[len(prefix):])
			m, err := decodeMember(v)
			if err != nil {
				return false, err
			}
			if m.round >= c.Round { // visited, or a seed that this round has added
				return true, nil
			}
			if !scope.allows(m.url) { // of a narrower document
				m.round = c.Round
				changes = append(changes, change{bytes.Clone(k), m})
				return true, nil
			}
			due = append(due, m.url)
			return true, nil
		})
		if err != nil {
			return err
		}
		for _, ch := range changes {
			if err := txn.Set(kv.SpaceCampaigns, ch.key, ch.m.encode()); err != nil {
				return err
			}
		}
		if err := s.Frontier.MakeDueIn(txn, due...); err != nil {
			return err
		}
		c.Cursor = hex.EncodeToString(last)
		if !more {
			c.Queuing, c.Cursor = false, ""
			if c.Counts.Pending, err = open(txn, id, c.Round); err != nil {
				return err
			}
			if err := setHarvest(txn, id, c); err != nil {
				return err
			}
			if c.Counts.Tasks, err = openTasks(txn, id, c.Round); err != nil {
				return err
			}
		}
		return s.save(txn, id, c)
	})
	return more, err
}

// open returns the number of URLs that a round has not visited. Visits add and remove some while a round is queued, so
// they are counted at its end.
func open(txn *kv.Txn, id campaignID, round int) (n int, err error) {
	err = txn.Scan(kv.SpaceCampaigns, key(tableMember, id[:]), nil, func(_, v []byte) (bool, error) {
		m, err := decodeMember(v)
		if m.round < round {
			n++
		}
		return true, err
	})
	return n, err
}
