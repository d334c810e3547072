package hosts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// entry is a rule in a table.
type entry struct {
	rule        Rule
	from        Origin
	match       match
	secret      *Secret
	proxy       *Proxy
	proxySecret *Secret
	broken      string
}

// table has the rules by what they match. It does not change.
type table struct {
	every    []*entry
	patterns []*entry
	domains  map[string][]*entry
	hosts    map[string][]*entry
	empty    bool
	base     Settings // of hosts without rules
}

// table returns a table with the values of the program, the login of its proxy among them. The caller holds mu.
func (b *Book) table(file []Rule, stored map[string]Rule, secrets map[string]*Secret) (*table, error) {
	t, err := newTable(file, stored, b.opts.Flags, secrets)
	if err != nil {
		return nil, err
	}
	t.base = b.base
	if name := b.login; name != "" && t.base.Proxy != nil {
		if secrets[name] == nil {
			return nil, fmt.Errorf("%w: the secrets file has no section %q, which --proxy-secret names", ErrBad, name)
		}
		p := *t.base.Proxy
		p.Secret = secrets[name]
		t.base.Proxy = &p
	}
	return t, nil
}

func newTable(file []Rule, stored map[string]Rule, flags []Rule, secrets map[string]*Secret) (*table, error) {
	t := &table{domains: map[string][]*entry{}, hosts: map[string][]*entry{}, empty: len(file)+len(stored)+len(flags) == 0}
	for _, r := range file {
		t.add(newEntry(r, FromFile, secrets))
	}
	for _, match := range slices.Sorted(maps.Keys(stored)) {
		t.add(newEntry(stored[match], FromOrder, secrets))
	}
	for _, r := range flags {
		t.add(newEntry(r, FromFlag, secrets))
	}
	if len(t.patterns) > maxPatterns {
		return nil, fmt.Errorf("%w: more than %d patterns", ErrBad, maxPatterns)
	}
	return t, nil
}

func newEntry(r Rule, from Origin, secrets map[string]*Secret) *entry {
	e := &entry{rule: r, from: from, secret: secrets[r.Secret], proxySecret: secrets[r.ProxySecret]}
	e.match, _ = parseMatch(r.Match) // Check has parsed it
	e.proxy, _ = ParseProxy(r.Proxy) // likewise
	err := namesKnown(r, secrets)    // of stored rules only
	if e.broken = ""; err != nil {
		e.broken = err.Error()
	}
	return e
}

func (t *table) add(e *entry) {
	switch m := e.match; {
	case m.pattern != nil:
		t.patterns = append(t.patterns, e)
	case m.domain != "":
		t.domains[m.domain] = append(t.domains[m.domain], e)
	case m.host != "":
		t.hosts[m.host] = append(t.hosts[m.host], e)
	default:
		t.every = append(t.every, e)
	}
}

// each calls f with the rules for a host, the most specific last.
func (t *table) each(host string, f func(*entry)) {
	if t.empty {
		return
	}
	call := func(list []*entry) {
		for _, e := range list {
			f(e)
		}
	}
	call(t.every)
	for _, e := range t.patterns {
		if e.match.pattern.MatchString(host) {
			f(e)
		}
	}
	name := Name(host)
	if len(t.domains) > 0 {
		for at := len(name); at > 0; {
			at = strings.LastIndexByte(name[:at], '.')
			call(t.domains[name[at+1:]])
		}
	}
	if call(t.hosts[name]); host != name {
		call(t.hosts[host])
	}
}

// all calls f with every rule, the least specific first.
func (t *table) all(f func(*entry)) {
	for _, list := range [][]*entry{t.every, t.patterns} {
		for _, e := range list {
			f(e)
		}
	}
	for _, kind := range []map[string][]*entry{t.domains, t.hosts} {
		for _, name := range slices.Sorted(maps.Keys(kind)) {
			for _, e := range kind[name] {
				f(e)
			}
		}
	}
}

// apply sets what the rule sets.
func (e *entry) apply(s *Settings) {
	r := &e.rule
	if r.Delay != nil {
		s.Delay = time.Duration(*r.Delay)
	}
	if r.Parallel > 0 {
		s.Parallel = r.Parallel
	}
	if r.Delay != nil || r.Parallel > 0 {
		s.Group = ""
		if r.Together {
			s.Group = r.Match
		}
	}
	if r.MaxCrawlDelay != nil {
		s.MaxCrawlDelay = time.Duration(*r.MaxCrawlDelay)
	}
	if r.Daily != nil {
		s.Daily = *r.Daily
	}
	if r.Retries != nil {
		s.Retries = *r.Retries
	}
	s.MaxBody = cmp.Or(int64(r.MaxBody), s.MaxBody)
	s.UserAgent = cmp.Or(r.UserAgent, s.UserAgent)
	if len(r.Headers) > 0 {
		if s.Headers = maps.Clone(s.Headers); s.Headers == nil {
			s.Headers = map[string]string{}
		}
		maps.Copy(s.Headers, r.Headers)
	}
	if e.secret != nil {
		s.Secret = e.secret
	}
	if r.Unverified != nil {
		s.Unverified = *r.Unverified
	}
	if r.Proxy != "" {
		if s.Proxy = nil; e.proxy != nil {
			p := *e.proxy
			p.Secret, p.Resolves = e.proxySecret, p.Resolves || r.ProxyResolves
			s.Proxy = &p
		}
	}
	if r.Resolve != nil {
		s.Resolve = *r.Resolve
	}
	switch r.Robots {
	case "ignore":
		s.Robots = &Exception{By: r.RobotsBy, Why: r.RobotsWhy}
	case "obey":
		s.Robots = nil
	}
	if r.Paused != nil {
		s.Paused = *r.Paused
	}
	if e.broken != "" { // never without the login that the operator wanted
		s.Paused = e.broken
	}
}
