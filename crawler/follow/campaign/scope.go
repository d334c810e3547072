package campaign

import (
	"regexp"
	"strings"

	"golang.org/x/net/publicsuffix"

	"odarchive/crawler/address"
)

// scope is what a campaign may request.
type scope struct {
	hosts    map[string]bool // groups
	domains  map[string]bool
	prefixes []string
	patterns []*regexp.Regexp
	refuses  func(url string) bool // Store.Refuses; may be nil
}

// newScope compiles the scope of a document.
func newScope(d Document) (*scope, error) {
	s := &scope{hosts: map[string]bool{}, domains: map[string]bool{}}
	if len(d.Scope) > maxScopes {
		return nil, badf("%d scopes: at most %d are allowed", len(d.Scope), maxScopes)
	}
	for _, one := range d.Scope {
		what, arg, _ := strings.Cut(one, ":")
		switch {
		case one == "host" || one == "domain":
			for _, seed := range d.Seeds {
				u, err := address.Parse(seed)
				if err != nil {
					return nil, badf("the seed %v", err)
				}
				if one == "host" {
					s.hosts[u.Group()] = true
				} else {
					s.domains[domainOf(u)] = true
				}
			}
		case what == "prefix":
			u, err := address.Parse(arg)
			if err != nil {
				return nil, badf("scope %.200q: %v", one, err)
			}
			s.prefixes = append(s.prefixes, u.String())
		case what == "pattern":
			if len(arg) > maxPattern {
				return nil, badf("scope: a pattern of %d bytes", len(arg))
			}
			p, err := regexp.Compile(arg)
			if err != nil {
				return nil, badf("scope %.200q: %v", one, err)
			}
			s.patterns = append(s.patterns, p)
		default:
			return nil, badf("scope %.200q: expected host, domain, prefix:URL or pattern:REGEXP", one)
		}
	}
	return s, nil
}

// domainOf returns the registered domain of a URL, or its host if that is an address or has none.
func domainOf(u address.URL) string {
	name, _ := u.Address()
	if domain, err := publicsuffix.EffectiveTLDPlusOne(strings.TrimSuffix(name, ".")); err == nil &&
		strings.Trim(name, "0123456789.") != "" {
		return domain
	}
	return name
}

// allows reports whether a URL may be requested: it is in the campaign's scope, and in that of the archive.
func (s *scope) allows(url string) bool {
	return s.covers(url) && (s.refuses == nil || !s.refuses(url))
}

// covers reports whether a URL is in the campaign's scope.
func (s *scope) covers(url string) bool {
	u, err := address.Parse(url)
	if err != nil {
		return false
	}
	if s.hosts[u.Group()] || len(s.domains) > 0 && s.domains[domainOf(u)] {
		return true
	}
	plain := u.String()
	for _, p := range s.prefixes {
		if strings.HasPrefix(plain, p) {
			return true
		}
	}
	for _, p := range s.patterns {
		if p.MatchString(plain) {
			return true
		}
	}
	return false
}
