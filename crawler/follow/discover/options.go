package discover

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"odarchive/crawler/follow/relevance"
)

// Options says what to look for on one site, and how long. Only URL is required.
type Options struct {
	URL      string            `toml:"url" json:"url"`                     // page to begin with; only its host is asked
	Keywords []string          `toml:"keywords" json:"keywords,omitempty"` // words that make a link more promising, besides those for data
	Entities []string          `toml:"entities" json:"entities,omitempty"` // names of places and organisations, likewise
	Weights  relevance.Weights `toml:"weights" json:"weights,omitzero"`    // what a word counts, and where
	Budget   int               `toml:"budget" json:"budget"`               // requests, at most, of every kind; default 2000
	// Whole goes on until the budget is spent or nothing is left, even if hardly a file is expected any more.
	Whole bool `toml:"whole" json:"whole,omitempty"`
}

// Defaults and limits of Options.
const (
	DefaultBudget = 2000
	MaxBudget     = 1_000_000
	maxKeywords   = relevance.MaxKeywords
	maxKeyword    = 200 // bytes
	maxURL        = 2000
)

// ErrBad is wrapped by errors about Options.
var ErrBad = errors.New("not what discover can look for")

func badf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrBad, fmt.Sprintf(format, args...))
}

// Relevance returns what the keywords' expert looks for.
func (o Options) Relevance() relevance.Options {
	return relevance.Options{Keywords: o.Keywords, Entities: o.Entities, Weights: o.Weights}
}

// Normalise returns the options with defaults in place of what is missing. The error wraps ErrBad and names the first
// fault.
func (o Options) Normalise() (Options, error) {
	u, err := url.Parse(strings.TrimSpace(o.URL))
	switch {
	case err != nil, u.Host == "", len(o.URL) > maxURL:
		return o, badf("%.200q is not the URL of a page", o.URL)
	case u.Scheme != "http" && u.Scheme != "https":
		return o, badf("%.200q: expected an http or https URL", o.URL)
	}
	u.User, u.Fragment, u.RawFragment = nil, "", "" // what is harvested is public
	if u.Path == "" {
		u.Path = "/"
	}
	o.URL = u.String()
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	if o.Budget < 0 || o.Budget > MaxBudget {
		return o, badf("a budget of %d: expected 1 to %d requests", o.Budget, MaxBudget)
	}
	if len(o.Keywords) > maxKeywords {
		return o, badf("%d keywords: expected at most %d", len(o.Keywords), maxKeywords)
	}
	if err := o.Relevance().Check(); err != nil {
		return o, fmt.Errorf("%w: %w", ErrBad, err)
	}
	o.Keywords = slices.Clone(o.Keywords)
	for i, w := range o.Keywords {
		plain := strings.ToLower(strings.Join(strings.Fields(w), " "))
		if plain == "" || len(plain) > maxKeyword || !utf8.ValidString(w) {
			return o, badf("the keyword %.80q: expected at most %d bytes of text", w, maxKeyword)
		}
		o.Keywords[i] = plain
	}
	return o, nil
}
