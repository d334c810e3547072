package scope

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/address"
	"odarchive/triplestore/kv"
)

// Refusal is what was refused because of one rule.
type Refusal struct {
	Rule   string    `json:"rule"` // with its action; "not allowed" if no rule denies it and none allows it
	Count  int64     `json:"count"`
	Latest time.Time `json:"latest"`
	URLs   []string  `json:"urls"` // the latest ones, newest first, at most maxURLs
}

// Limits of the list of refusals.
const (
	maxRefusals = 500 // rules that are counted one by one; further ones count as otherRules
	maxURLs     = 5
	maxURL      = 500 // bytes of an URL that are kept
	otherRules  = "other rules"
)

// refusals counts what was refused. The zero value is ready to use.
type refusals struct {
	mu     sync.Mutex // guards what follows
	byRule map[string]*Refusal
	dirty  bool // something was counted since the last save
}

func (r *refusals) add(rule, url string, now time.Time) {
	url, _ = address.WithoutSecret(url)
	if len(url) > maxURL {
		url = strings.ToValidUTF8(url[:maxURL], "")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byRule == nil {
		r.byRule = map[string]*Refusal{}
	}
	one := r.byRule[rule]
	if one == nil {
		if len(r.byRule) >= maxRefusals {
			rule = otherRules
		}
		if one = r.byRule[rule]; one == nil {
			one = &Refusal{Rule: rule}
			r.byRule[rule] = one
		}
	}
	one.Count++
	one.Latest = now.UTC().Truncate(time.Second)
	if !slices.Contains(one.URLs, url) {
		one.URLs = slices.Insert(one.URLs, 0, url)
		one.URLs = one.URLs[:min(maxURLs, len(one.URLs))]
	}
	r.dirty = true
}

func (r *refusals) list() []Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Refusal, 0, len(r.byRule))
	for _, one := range r.byRule {
		copied := *one
		copied.URLs = slices.Clone(one.URLs)
		all = append(all, copied)
	}
	slices.SortFunc(all, func(a, b Refusal) int { return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Rule, b.Rule)) })
	return all
}

// load reads what was saved. Damaged counts begin again.
func (r *refusals) load(b []byte) {
	var all []Refusal
	if json.Unmarshal(b, &all) != nil {
		return
	}
	r.byRule = map[string]*Refusal{}
	for _, one := range all[:min(len(all), maxRefusals+1)] {
		r.byRule[one.Rule] = &one
	}
}

// Refusals returns what was refused, by rule, the most frequent first. It includes what earlier processes refused.
func (s *Scope) Refusals() []Refusal { return s.refused.list() }

// Save writes the counts of refusals to the database, if there are new ones. What was counted since the last Save is
// lost if the process is killed.
func (s *Scope) Save(ctx context.Context) error {
	if s == nil || s.db == nil || s.db.ReadOnly() {
		return nil
	}
	s.refused.mu.Lock()
	dirty := s.refused.dirty
	s.refused.dirty = false
	s.refused.mu.Unlock()
	if !dirty {
		return nil
	}
	b, err := json.Marshal(s.refused.list())
	if err == nil {
		err = s.db.Update(ctx, func(txn *kv.Txn) error { return txn.Set(kv.SpaceScope, []byte(keyRefused), b) })
	}
	if err != nil {
		s.refused.mu.Lock()
		s.refused.dirty = true
		s.refused.mu.Unlock()
		return fmt.Errorf("scope: counts of refusals: %w", err)
	}
	return nil
}
