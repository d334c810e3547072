package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/discover"
	"odarchive/crawler/follow/links"
	"odarchive/crawler/follow/relevance"
	"odarchive/crawler/follow/scrape"
	"odarchive/crawler/harvest/webapi"
)

// Document is what a campaign is to do, as its author writes it: in TOML, or as JSON over REST. Name is required, and
// Seeds, Discover or API, according to Kind. Settings that say nothing of a kind are of KindFollow.
type Document struct {
	Name string `toml:"name" json:"name"`                     // letters, digits, '.', '-' and '_'
	Kind Kind   `toml:"kind,omitempty" json:"kind,omitempty"` // default KindFollow

	Discover *discover.Options `toml:"discover,omitempty" json:"discover,omitempty"` // of KindDiscover
	API      *webapi.Document  `toml:"api,omitempty" json:"api,omitempty"`           // of KindAPI

	Seeds []string `toml:"seeds,omitempty" json:"seeds,omitempty"`
	// Scope is what may be requested: "host" (the hosts of the seeds), "domain" (their registered domains),
	// "prefix:URL", "pattern:REGEXP" over whole URLs. One of them suffices. Default "host".
	Scope []string `toml:"scope,omitempty" json:"scope,omitempty"`
	Depth int      `toml:"depth,omitempty" json:"depth,omitempty"`             // links from a seed, at most; default 10
	Max   int      `toml:"max,omitempty" json:"max,omitempty"`                 // URLs, at most; default 100,000
	Host  int      `toml:"max-per-host,omitempty" json:"maxPerHost,omitempty"` // URLs of one host, at most; default Max
	// "rdf" (default), "any", or the value of an Accept field
	Accept string `toml:"accept,omitempty" json:"accept,omitempty"`
	// of every kind: keep the statements of documents in named graphs
	Graphs       bool         `toml:"graphs" json:"graphs"`
	Vocabularies bool         `toml:"vocabularies,omitempty" json:"vocabularies,omitempty"` // follow predicates and classes too
	Follow       []links.Kind `toml:"follow,omitempty" json:"follow,omitempty"`             // kinds of links to follow; default all
	// how often the documents change, as "168h": a hint for the schedule. Of other kinds: how often a server begins a
	// round
	Every string `toml:"every,omitempty" json:"every,omitempty"`
	// of every kind: what the campaign looks for. Links have scores then, and the best are visited first
	Keywords []string `toml:"keywords,omitempty" json:"keywords,omitempty"`
	// names of places and organisations that it looks for
	Entities []string `toml:"entities,omitempty" json:"entities,omitempty"`
	// rules for pages, in TOML or the YAML of Squirrel; see package scrape
	Rules string `toml:"rules,omitempty" json:"rules,omitempty"`
	// Weights of the scores of links, pages and sites. They may be changed while the campaign runs.
	Weights *relevance.Weights `toml:"weights,omitempty" json:"weights,omitempty"`
}

// Secret returns the name of the environment variable whose value the document has sent to a host; "" if there is none.
func (d Document) Secret() string {
	if d.API == nil || d.API.Auth == nil {
		return ""
	}
	return d.API.Auth.Env
}

// Defaults and limits of a document.
const (
	defaultDepth = 10
	defaultMax   = 100_000
	maxSeeds     = 1000
	maxScopes    = 100
	maxName      = 64
	maxRules     = 128 << 10
	maxDocument  = 256 << 10 // bytes as JSON; every visit reads the document
	maxPattern   = 2000
	maxKeywords  = 10_000
	maxKeyword   = 500 // bytes
)

// ErrBad is in the chain of errors about documents of campaigns.
var ErrBad = errors.New("not a campaign")

func badf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrBad, fmt.Sprintf(format, args...))
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Normalise returns the document with defaults in place of what is missing, without credentials in its URLs, and with
// its rules in TOML. The error wraps ErrBad and names the first fault.
func (d Document) Normalise() (Document, error) {
	if len(d.Name) > maxName || !validName.MatchString(d.Name) {
		return d, badf("the name %.80q is not made of at most %d letters, digits, '.', '-' and '_'", d.Name, maxName)
	}
	if err := d.checkKeywords(); err != nil {
		return d, err
	}
	if _, err := d.period(); err != nil {
		return d, badf("every %q: expected a time such as 168h", d.Every)
	}
	var err error
	switch d.Kind {
	case "", KindFollow:
		d, err = d.normaliseFollow()
	case KindDiscover, KindAPI:
		d, err = d.normaliseHarvest()
	default:
		err = badf("kind %.80q: expected %s, %s or %s", d.Kind, KindFollow, KindDiscover, KindAPI)
	}
	if err != nil {
		return d, err
	}
	if b, err := json.Marshal(d); err != nil || len(b) > maxDocument {
		return d, badf("a document of %d bytes: at most %d are allowed", len(b), maxDocument)
	}
	return d, nil
}

// normaliseFollow is Normalise for what a campaign of KindFollow says.
func (d Document) normaliseFollow() (Document, error) {
	if d.Discover != nil || d.API != nil {
		return d, badf("discover and api are not for a campaign that follows links; add kind = \"discover\" or kind = \"api\"")
	}
	d.Kind = ""
	if len(d.Seeds) == 0 || len(d.Seeds) > maxSeeds {
		return d, badf("%d seeds: expected 1 to %d URLs", len(d.Seeds), maxSeeds)
	}
	d.Seeds = slices.Clone(d.Seeds)
	for i, seed := range d.Seeds {
		u, err := address.Parse(seed)
		if err != nil {
			return d, badf("the seed %v", err)
		}
		u, _ = u.WithoutSecret()
		d.Seeds[i] = u.String()
	}
	if len(d.Scope) == 0 {
		d.Scope = []string{"host"}
	}
	if _, err := newScope(d); err != nil {
		return d, err
	}
	if d.Depth == 0 {
		d.Depth = defaultDepth
	}
	if d.Max == 0 {
		d.Max = defaultMax
	}
	if d.Host == 0 {
		d.Host = d.Max
	}
	if d.Depth < 0 || d.Max < 0 || d.Host < 0 {
		return d, badf("depth %d, max %d, max-per-host %d: none may be negative", d.Depth, d.Max, d.Host)
	}
	switch d.Accept {
	case "":
		d.Accept = catalog.AcceptRDF
	case "any":
	default:
		if len(d.Accept) > 1000 || !validField(d.Accept) {
			return d, badf("accept %.100q is not the value of a header field", d.Accept)
		}
	}
	for _, k := range d.Follow {
		if !slices.Contains(links.Kinds(), k) {
			return d, badf("follow %q: expected kinds of links: %v", k, links.Kinds())
		}
	}
	if d.Rules != "" {
		rules, converted, _, err := scrape.Parse([]byte(d.Rules))
		if err != nil {
			return d, badf("%v", err)
		}
		if converted {
			text, err := rules.TOML()
			if err != nil {
				return d, badf("%v", err)
			}
			d.Rules = string(text)
		}
	}
	if err := d.relevance().Check(); err != nil {
		return d, badf("%v", err)
	}
	if len(d.Rules) > maxRules {
		return d, badf("rules of %d bytes: at most %d are allowed", len(d.Rules), maxRules)
	}
	return d, nil
}

func validField(v string) bool {
	h := http.Header{}
	h.Set("Accept", v)
	return !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func (d Document) period() (time.Duration, error) {
	if d.Every == "" {
		return 0, nil
	}
	p, err := time.ParseDuration(d.Every)
	if err == nil && p <= 0 {
		err = errors.New("not positive")
	}
	return p, err
}

// seed returns a URL as the campaign registers it.
func (d Document) seed(url string) catalog.Seed {
	s := catalog.Seed{URL: url, Accept: d.Accept}
	if s.Accept == "any" {
		s.Accept = ""
	}
	s.Period, _ = d.period()
	return s
}

// follows reports whether links of a kind are followed.
func (d Document) follows(k links.Kind) bool {
	return len(d.Follow) == 0 || slices.Contains(d.Follow, k)
}

// sameLinks reports whether two documents follow the same links, and want the same of documents.
func (d Document) sameLinks(e Document) bool {
	if d.Kind != "" || e.Kind != "" {
		return d.sameHarvest(e)
	}
	return slices.Equal(d.Scope, e.Scope) && slices.Equal(d.Seeds, e.Seeds) && d.Depth == e.Depth && d.Max == e.Max && d.Host == e.Host &&
		d.Graphs == e.Graphs &&
		d.Vocabularies == e.Vocabularies && slices.Equal(d.Follow, e.Follow) && d.Rules == e.Rules && d.Accept == e.Accept
}
