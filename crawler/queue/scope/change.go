package scope

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"odarchive/triplestore/kv"
)

// perTxn is how many rules one transaction changes at most.
const perTxn = 2000

// Change adds rules, or removes them, perTxn in a transaction, and returns how many that changed. They hold when it
// returns. If there is no room for all, the error wraps ErrTooMany, and the
// transactions before stay. Rules of the settings cannot be removed; those that are not there are skipped.
func (s *Scope) Change(ctx context.Context, add bool, why string, rules ...*Rule) (n int, err error) {
	for part := range slices.Chunk(rules, perTxn) {
		done, err := s.change(ctx, add, why, part)
		n += done
		if err != nil {
			return n, fmt.Errorf("scope: %w", err)
		}
	}
	return n, nil
}

func (s *Scope) change(ctx context.Context, add bool, why string, rules []*Rule) (n int, err error) {
	value, err := json.Marshal(stored{s.now().UTC().Truncate(time.Second), fmt.Sprintf("%.300s", why)})
	if err != nil {
		return 0, err
	}
	err = s.db.Update(ctx, func(txn *kv.Txn) error {
		todo, err := s.todo(add, rules)
		if n = len(todo); err != nil || n == 0 {
			return err
		}
		for _, r := range todo {
			if add {
				err = txn.Set(kv.SpaceScope, ruleKey(r.Allow, r.Text), value)
			} else {
				err = txn.Delete(kv.SpaceScope, ruleKey(r.Allow, r.Text))
			}
			if err != nil {
				return err
			}
		}
		s.mu.RLock()
		next := s.generation + 1
		s.mu.RUnlock()
		txn.OnCommit(func() { s.follow(add, todo, next) })
		return txn.Set(kv.SpaceScope, []byte(keyGeneration), binary.BigEndian.AppendUint64(nil, next))
	})
	return n, err
}

// todo returns the rules that a change adds or removes, each once. It returns an error if there are too many to add.
func (s *Scope) todo(add bool, rules []*Rule) (todo []*Rule, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	seen := map[string]bool{}
	for _, r := range rules {
		has, ofSettings := s.setOf(r.Allow).has(r)
		if has == add || ofSettings || seen[r.String()] {
			continue
		}
		seen[r.String()] = true
		todo = append(todo, r)
	}
	if !add {
		return todo, nil
	}
	for _, of := range []*set{s.allow, s.deny} {
		all, others, patterns := of.size(), len(of.others), of.patterns
		for _, r := range todo {
			if r.Allow != of.allow {
				continue
			}
			if err := room(r, all, others, patterns); err != nil {
				return nil, err
			}
			all++
			if !r.simple() {
				others++
			}
			if r.pattern != nil {
				patterns++
			}
		}
	}
	return todo, nil
}

// follow makes a committed change hold.
func (s *Scope) follow(add bool, rules []*Rule, generation uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rules {
		if set := s.setOf(r.Allow); add {
			_ = set.add(r, false) // there is room: todo counted
		} else {
			set.remove(r)
		}
	}
	s.generation = generation
	close(s.changed)
	s.changed = make(chan struct{})
}
