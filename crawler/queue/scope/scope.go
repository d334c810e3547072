// Package scope decides what may be fetched at all, by rules of whoever runs the archive: hosts, domains, patterns,
// media types and sizes that are allowed or denied for the crawl, for campaigns, for harvests.
//
// A URL that a rule denies is out of scope. If there are rules that allow, a URL that none of them covers is out of
// scope, too. A media type or size that is not known yet excludes nothing; the question is asked again when it is
// known.
//
// Rules come from the settings, which stay as long as the process, and from orders, which are kept in the database and
// hold from the next question on. What was refused is counted by rule. The methods of a Scope may be called
// concurrently.
package scope

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"odarchive/triplestore/kv"
)

// Scope is the scope of one data directory.
type Scope struct {
	db  *kv.DB
	now func() time.Time

	mu         sync.RWMutex // guards what follows
	allow      *set
	deny       *set
	generation uint64 // how often the stored rules have changed
	fixed      uint64 // digest of the rules of the settings
	changed    chan struct{}

	refused refusals
}

// Options of a Scope.
type Options struct {
	Allow, Deny []string         // rules of the settings, as for ParseRule
	Now         func() time.Time // default time.Now
}

// Keys of kv.SpaceScope.
const (
	prefixRule    = "r"          // a (allow) or d (deny), and the text of the rule: JSON of stored
	keyGeneration = "generation" // 8 bytes, big-endian
	keyRefused    = "refused"    // JSON of the refusals
)

// stored is the value of a rule.
type stored struct {
	At  time.Time `json:"at"`
	Why string    `json:"why,omitempty"`
}

func ruleKey(allow bool, text string) []byte {
	action := "d"
	if allow {
		action = "a"
	}
	return []byte(prefixRule + action + text)
}

// ParseRules parses the rules of the settings, without opening anything.
func ParseRules(allow, deny []string) error {
	_, err := Open(nil, Options{Allow: allow, Deny: deny})
	return err
}

// Open reads the rules. Without a database, there are only those of the settings.
func Open(db *kv.DB, o Options) (*Scope, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Scope{db: db, now: o.Now, allow: newSet(true), deny: newSet(false), changed: make(chan struct{})}
	digest := fnv.New64a()
	for _, part := range []struct {
		set   *set
		texts []string
	}{{s.allow, o.Allow}, {s.deny, o.Deny}} {
		for _, text := range part.texts {
			r, err := ParseRule(part.set.allow, text)
			if err == nil {
				err = part.set.add(r, true)
			}
			if err != nil {
				return nil, err
			}
			fmt.Fprintln(digest, r)
		}
	}
	s.fixed = digest.Sum64()
	if db == nil {
		return s, nil
	}
	err := db.View(func(txn *kv.Txn) error {
		b, _, err := txn.Get(kv.SpaceScope, []byte(keyGeneration))
		if err != nil {
			return err
		}
		if len(b) == 8 {
			s.generation = binary.BigEndian.Uint64(b)
		}
		if b, _, err = txn.Get(kv.SpaceScope, []byte(keyRefused)); err != nil {
			return err
		}
		s.refused.load(b)
		return txn.Scan(kv.SpaceScope, []byte(prefixRule), nil, func(k, _ []byte) (bool, error) {
			if !bytes.HasPrefix(k, []byte(prefixRule+"a")) && !bytes.HasPrefix(k, []byte(prefixRule+"d")) {
				return true, nil
			}
			set := s.setOf(k[1] == 'a')
			r, err := ParseRule(set.allow, string(k[2:]))
			if err == nil {
				err = set.add(r, false)
			}
			return true, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("scope: %w", err)
	}
	return s, nil
}

func (s *Scope) setOf(allow bool) *set {
	if allow {
		return s.allow
	}
	return s.deny
}

// Question asks whether a URL is in scope.
type Question struct {
	Area Area
	URL  string
	Type string // media type in lower case, without parameters; "" if it is not known
	Size int64  // of the file; negative if it is not known
	// Declared reports that the server declares type and size, and may be wrong: they are held against rules that deny
	// only.
	Declared bool
}

// whyPrefix begins the reason of a refusal.
const whyPrefix = "out of scope: "

// IsRefusal reports whether a reason is one that Refuses returned.
func IsRefusal(why string) bool { return strings.HasPrefix(why, whyPrefix) }

// Refuses returns why something must not be fetched or kept, "" if it may, and counts the refusal. A malformed URL is
// left to others.
// It may be called on nil.
func (s *Scope) Refuses(q Question) (why string) {
	why, rule := s.ask(q)
	if why != "" {
		s.refused.add(rule, q.URL, s.now())
	}
	return why
}

// Test is Refuses, but counts nothing. It may be called on nil.
func (s *Scope) Test(q Question) (why string) {
	why, _ = s.ask(q)
	return why
}

// noRule is the name under which refusals are counted that no rule denies.
const noRule = "not allowed"

func (s *Scope) ask(q Question) (why, rule string) {
	if s == nil {
		return "", ""
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.allow.size()+s.deny.size() == 0 {
		return "", ""
	}
	asked, err := newQuestion(q)
	if err != nil {
		return "", ""
	}
	if text, found := s.deny.find(asked); found == yes {
		return whyPrefix + "deny " + text, "deny " + text
	}
	if q.Declared || q.Area == Keep || !s.allow.concerns(q.Area) { // what others fetched need not be allowed to be fetched
		return "", ""
	}
	if _, found := s.allow.find(asked); found == no {
		return whyPrefix + "no rule allows it", noRule
	}
	return "", ""
}

// SizeLimit returns the size beyond which a URL is out of scope, whatever its media type; -1 if there is none.
func (s *Scope) SizeLimit(area Area, url string) int64 {
	limit := int64(-1)
	if s.Empty() {
		return limit
	}
	q, err := newQuestion(Question{Area: area, URL: url, Size: -1})
	if err != nil {
		return limit
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, r := range s.deny.others {
		if r.over >= 0 && len(r.types) == 0 && r.holds(q) == unknown && (limit < 0 || r.over < limit) {
			limit = r.over
		}
	}
	return limit
}

// Empty reports whether there are no rules, so that everything is in scope. It may be called on nil.
func (s *Scope) Empty() bool {
	if s == nil {
		return true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.allow.size()+s.deny.size() == 0
}

// Fingerprint identifies the rules: of the settings and the stored ones.
func (s *Scope) Fingerprint() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return fmt.Sprintf("%d %x", s.generation, s.fixed)
}

// Changed returns a channel that is closed when stored rules change.
func (s *Scope) Changed() <-chan struct{} {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.changed
}

// Listed is a rule as lists show it.
type Listed struct {
	Action   string    `json:"action"` // allow or deny
	Rule     string    `json:"rule"`
	Settings bool      `json:"settings,omitempty"` // it is one of the settings
	At       time.Time `json:"at,omitzero"`        // when it was ordered
	Why      string    `json:"why,omitempty"`
}

// List returns at most limit rules: those of the settings, if after is "", and then the stored ones that follow after,
// in the order of their texts, those that allow first. next is what to pass as after for the following ones, "" at the
// end.
func (s *Scope) List(after string, limit int) (all []Listed, next string, err error) {
	s.mu.RLock()
	if after == "" {
		for _, set := range []*set{s.allow, s.deny} {
			for _, text := range set.ofSettings() {
				all = append(all, Listed{Action: set.action(), Rule: text, Settings: true})
			}
		}
	}
	s.mu.RUnlock()
	if s.db == nil {
		return all, "", nil
	}
	n := 0
	err = s.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceScope, []byte(prefixRule), []byte(prefixRule+after), func(k, v []byte) (bool, error) {
			key := string(k[len(prefixRule):])
			if key == after || key == "" || key[0] != 'a' && key[0] != 'd' {
				return true, nil
			}
			if n == limit {
				next = after
				return false, nil
			}
			n++
			after = key
			one := Listed{Action: s.setOf(key[0] == 'a').action(), Rule: key[1:]}
			var value stored
			if json.Unmarshal(v, &value) == nil { // else the rule holds nevertheless
				one.At, one.Why = value.At, value.Why
			}
			all = append(all, one)
			return true, nil
		})
	})
	if err != nil {
		return nil, "", fmt.Errorf("scope: %w", err)
	}
	return all, next, nil
}

// Counts returns how many rules allow and how many deny.
func (s *Scope) Counts() (allow, deny int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.allow.size(), s.deny.size()
}
