package scope

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"odarchive/crawler/address"
)

// Limits of the rules of a scope. Those that only name a host or domain are looked up, however many they are; others
// are tried one by one for each URL.
const (
	maxRules    = 1_000_000
	maxOthers   = 5000
	maxPatterns = 250
)

// set is the rules with one action.
type set struct {
	allow    bool
	hosts    map[string]bool // rules that have one condition; the value is true for rules of the settings
	domains  map[string]bool
	others   []*Rule
	settings map[string]bool // texts of others that are in the settings
	patterns int
}

func newSet(allow bool) *set {
	return &set{allow: allow, hosts: map[string]bool{}, domains: map[string]bool{}, settings: map[string]bool{}}
}

func (s *set) size() int { return len(s.hosts) + len(s.domains) + len(s.others) }

// add adds a rule, unless it is there. Rules of the settings take the place of others.
func (s *set) add(r *Rule, ofSettings bool) error {
	has, fixed := s.has(r)
	if !has {
		if err := room(r, s.size(), len(s.others), s.patterns); err != nil {
			return err
		}
	}
	switch {
	case r.simple() && r.host != "":
		s.hosts[r.host] = ofSettings || fixed
	case r.simple():
		s.domains[r.domain] = ofSettings || fixed
	case has:
		s.settings[r.Text] = ofSettings || fixed
	default:
		s.others = append(s.others, r)
		s.settings[r.Text] = ofSettings
		if r.pattern != nil {
			s.patterns++
		}
	}
	return nil
}

// room returns an error if a rule is too many for a set that has so many rules, others and patterns.
func room(r *Rule, all, others, patterns int) error {
	switch {
	case all >= maxRules:
		return fmt.Errorf("%w: there are %d already", ErrTooMany, maxRules)
	case !r.simple() && others >= maxOthers:
		return fmt.Errorf("%w: there are %d already that have more than a host or domain", ErrTooMany, maxOthers)
	case r.pattern != nil && patterns >= maxPatterns:
		return fmt.Errorf("%w: there are %d patterns already; one pattern may have alternatives: a|b", ErrTooMany, maxPatterns)
	}
	return nil
}

func (s *set) action() string {
	if s.allow {
		return "allow"
	}
	return "deny"
}

// ofSettings returns the texts of the rules of the settings, sorted.
func (s *set) ofSettings() (texts []string) {
	for kind, rules := range map[string]map[string]bool{"host:": s.hosts, "domain:": s.domains, "": s.settings} {
		for text, is := range rules {
			if is {
				texts = append(texts, kind+text)
			}
		}
	}
	slices.Sort(texts)
	return texts
}

// has reports whether a rule is there, and whether it is one of the settings.
func (s *set) has(r *Rule) (has, ofSettings bool) {
	switch {
	case r.simple() && r.host != "":
		ofSettings, has = s.hosts[r.host]
	case r.simple():
		ofSettings, has = s.domains[r.domain]
	default:
		ofSettings, has = s.settings[r.Text]
	}
	return has, ofSettings
}

func (s *set) remove(r *Rule) {
	switch {
	case r.simple() && r.host != "":
		delete(s.hosts, r.host)
	case r.simple():
		delete(s.domains, r.domain)
	default:
		before := len(s.others)
		s.others = slices.DeleteFunc(s.others, func(o *Rule) bool { return o.Text == r.Text })
		delete(s.settings, r.Text)
		if r.pattern != nil && len(s.others) < before {
			s.patterns--
		}
	}
}

// question is what is asked of the rules.
type question struct {
	Question
	group string // of the URL
	name  string // its host without the port
	plain string // canonical URL
}

func newQuestion(q Question) (*question, error) {
	u, err := address.Parse(q.URL)
	if err != nil {
		return nil, err
	}
	u, _ = u.WithoutSecret()
	name, _ := u.Address()
	return &question{Question: q, group: u.Group(), name: strings.TrimSuffix(name, "."), plain: u.Canonical().String()}, nil
}

// find returns the text of a rule that holds, and with that "" and unknown if one may hold.
func (s *set) find(q *question) (text string, found truth) {
	if _, ok := s.hosts[q.group]; ok {
		return "host:" + q.group, yes
	}
	for name := q.name; len(s.domains) > 0; {
		if _, ok := s.domains[name]; ok {
			return "domain:" + name, yes
		}
		if _, err := netip.ParseAddr(name); err == nil {
			break
		}
		_, rest, ok := strings.Cut(name, ".")
		if !ok {
			break
		}
		name = rest
	}
	for _, r := range s.others {
		switch r.holds(q) {
		case yes:
			return r.Text, yes
		case unknown:
			found = unknown
		}
	}
	return "", found
}

// concerns reports whether a rule is for an area.
func (s *set) concerns(a Area) bool {
	return len(s.hosts)+len(s.domains) > 0 ||
		slices.ContainsFunc(s.others, func(r *Rule) bool { return len(r.areas) == 0 || slices.Contains(r.areas, a) })
}
