package relevance

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"

	"odarchive/crawler/inspect/csvprofile"
)

// MaxKeywords is the maximum number of keywords, and of entities, of one Options.
const MaxKeywords = 10_000

const maxParts = 12

// ErrBad is in the chain of errors about options.
var ErrBad = errors.New("not a scoring")

// Scorer scores texts.
type Scorer struct {
	weights Weights
	index   *index
}

// builtin are the listed terms, which all scorers share.
var builtin = sync.OnceValues(listed)

// New returns a scorer. The error wraps ErrBad if the options are malformed.
func New(o Options) (*Scorer, error) {
	all, err := builtin()
	if err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	all = slices.Clone(all)
	for kind, texts := range map[string][]string{Keyword: o.Keywords, Entity: o.Entities} {
		for _, text := range texts {
			terms, err := newTerms(text, kind, "")
			if err != nil {
				return nil, fmt.Errorf("%w: the %s %w", ErrBad, kind, err)
			}
			all = append(all, terms...)
		}
	}
	return &Scorer{weights: o.Weights.withDefaults(), index: newIndex(all)}, nil
}

// Check returns an error that wraps ErrBad if the options are malformed.
func (o Options) Check() error {
	if len(o.Keywords) > MaxKeywords || len(o.Entities) > MaxKeywords {
		return fmt.Errorf("%w: %d keywords and %d entities: at most %d of each", ErrBad, len(o.Keywords), len(o.Entities), MaxKeywords)
	}
	for _, text := range slices.Concat(o.Keywords, o.Entities) {
		if len(text) > maxShort {
			return fmt.Errorf("%w: a keyword of %d bytes: at most %d", ErrBad, len(text), maxShort)
		}
		if _, err := newTerms(text, Keyword, ""); err != nil {
			return fmt.Errorf("%w: the keyword %w", ErrBad, err)
		}
	}
	for name, value := range o.Weights.all() {
		if math.IsNaN(value) || math.Abs(value) > 100 {
			return fmt.Errorf("%w: the weight %s is %v: expected a number from -100 to 100", ErrBad, name, value)
		}
	}
	return nil
}

func (w Weights) all() map[string]float64 {
	return map[string]float64{"data": w.Data, "keyword": w.Keyword, "entity": w.Entity, "format": w.Format, "noise": w.Noise,
		"place": w.Place,
		"title": w.Title, "heading": w.Heading, "anchor": w.Anchor, "address": w.Address, "text": w.Text,
		"page": w.Page, "site": w.Site, "software": w.Software}
}

// withDefaults returns the weights with defaults in place of zeros.
func (w Weights) withDefaults() Weights {
	return Weights{Data: cmp.Or(w.Data, 1), Keyword: cmp.Or(w.Keyword, 2), Entity: cmp.Or(w.Entity, 1), Format: cmp.Or(w.Format, 1),
		Noise: cmp.Or(w.Noise, -1), Place: w.Place,
		Title: cmp.Or(w.Title, 1), Heading: cmp.Or(w.Heading, 0.7), Anchor: cmp.Or(w.Anchor, 1), Address: cmp.Or(w.Address, 0.5),
		Text: cmp.Or(w.Text, 0.2),
		Page: cmp.Or(w.Page, 0.3), Site: cmp.Or(w.Site, 0.2), Software: cmp.Or(w.Software, 1)}
}

// Weights returns the scorer's weights, with defaults in place of what was not given.
func (s *Scorer) Weights() Weights { return s.weights }

// of returns the weight of a kind of term.
func (w Weights) of(kind string) float64 {
	switch kind {
	case Data:
		return w.Data
	case Keyword:
		return w.Keyword
	case Entity:
		return w.Entity
	case Format:
		return w.Format
	case Noise:
		return w.Noise
	}
	return 0
}

// Link returns the score of a link.
func (s *Scorer) Link(anchor, address string) float64 {
	var space [24]string
	sum := 0.0
	for _, one := range []struct {
		text   string
		factor float64
	}{{anchor, s.weights.Anchor}, {addressText(address), s.weights.Address}} {
		words := tokens(space[:0], one.text, maxShort)
		s.index.find(words, func(i, _ int) { sum += s.weights.of(s.index.terms[i].kind) * one.factor })
	}
	return sum
}

// ExplainLink returns the score of a link with its parts.
func (s *Scorer) ExplainLink(anchor, address string) Score {
	b := scoring{s: s}
	b.text("anchor", anchor, s.weights.Anchor, maxShort, true)
	b.text("address", addressText(address), s.weights.Address, maxShort, true)
	return b.score()
}

// Page returns the score of a page. Each term counts once in each place where it stands.
func (s *Scorer) Page(p Page) Score {
	b := scoring{s: s}
	b.text("title", p.Title, s.weights.Title, maxShort, false)
	for i, h := range p.Headings {
		if i == maxHeading {
			break
		}
		b.text("heading", h, s.weights.Heading, maxShort, false)
	}
	b.text("address", addressText(p.URL), s.weights.Address, maxShort, false)
	b.text("text", p.Text, s.weights.Text, maxText, false)
	return b.score()
}

// Word returns the first word or phrase of a text that stands for data or a format, or is a keyword or an entity, as it
// is listed; "" if there is none.
func (s *Scorer) Word(text string) string {
	var space [24]string
	found := ""
	s.index.find(tokens(space[:0], text, maxShort), func(i, _ int) {
		switch t := &s.index.terms[i]; t.kind {
		case Data, Format, Keyword, Entity:
			if found == "" {
				found = t.text
			}
		}
	})
	return found
}

// Kind returns the kind of the first listed word in a text, among Data, Noise, Keyword, Entity, Format, "next" (page of
// a list) and "download"; "" if there is none.
func (s *Scorer) Kind(text string) string {
	var space [24]string
	found := ""
	s.index.find(tokens(space[:0], text, maxShort), func(i, _ int) {
		if found == "" {
			found = s.index.terms[i].kind
		}
	})
	return found
}

// addressText returns what words an address has: those of its path and of the values in its query.
func addressText(address string) string {
	if at := strings.Index(address, "://"); at >= 0 {
		rest := address[at+3:]
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			return ""
		}
		address = rest[slash:]
	}
	if len(address) > maxShort {
		address = address[:maxShort]
	}
	if strings.IndexByte(address, '%') >= 0 {
		if plain, err := url.PathUnescape(address); err == nil {
			address = plain
		}
	}
	return address
}

// scoring adds up one score.
type scoring struct {
	s     *Scorer
	parts []Part
	seen  map[[2]string]bool // by place and text of the term
}

// text adds what a text contributes. each reports that a term counts as often as it is there.
func (b *scoring) text(where, text string, factor float64, limit int, each bool) {
	if text == "" || factor == 0 {
		return
	}
	if b.seen == nil {
		b.seen = map[[2]string]bool{}
	}
	b.s.index.find(tokens(nil, text, limit), func(i, _ int) {
		t := &b.s.index.terms[i]
		b.add(t.text, t.kind, where, b.s.weights.of(t.kind)*factor, each)
	})
	if b.s.weights.Place != 0 {
		for _, place := range places(text, limit) {
			b.add(place, "place", where, b.s.weights.Place*factor, each)
		}
	}
}

func (b *scoring) add(what, kind, where string, value float64, each bool) {
	if value == 0 || !each && b.seen[[2]string{where, what}] {
		return
	}
	b.seen[[2]string{where, what}] = true
	b.parts = append(b.parts, Part{What: what, Kind: kind, Where: where, Value: round(value)})
}

func (b *scoring) score() Score {
	sum := 0.0
	for _, p := range b.parts {
		sum += p.Value
	}
	slices.SortStableFunc(b.parts, func(a, c Part) int { return cmp.Compare(math.Abs(c.Value), math.Abs(a.Value)) })
	return Score{Value: round(sum), Parts: b.parts[:min(len(b.parts), maxParts)]}
}

func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// places returns the names of countries and larger cities in a text: words that begin with a capital letter, one to
// three in a row.
func places(text string, limit int) (found []string) {
	if len(text) > limit {
		text = text[:limit]
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '.' })
	if len(words) > maxTokens {
		words = words[:maxTokens]
	}
	for i := 0; i < len(words); i++ {
		if !strings.ContainsFunc(words[i][:1], unicode.IsUpper) && words[i][0] < 0x80 {
			continue
		}
		for n := min(3, len(words)-i); n > 0; n-- {
			name := strings.Join(words[i:i+n], " ")
			if len(name) <= maxToken && (csvprofile.IsCity(name) || csvprofile.IsCountry(name)) {
				found = append(found, name)
				i += n - 1
				break
			}
		}
	}
	return found
}

// Tally is the score of a site, from the scores of its pages. Its zero value is a site without pages.
type Tally struct {
	Pages int     `json:"pages"`
	Sum   float64 `json:"sum"`
	Best  float64 `json:"best"`
}

// Add adds the score of a page.
func (t *Tally) Add(page float64) {
	if t.Pages++; t.Pages == 1 || page > t.Best {
		t.Best = page
	}
	t.Sum = round(t.Sum + page)
}

// few is how many pages of score 0 a site is credited with, so that one page alone says little.
const few = 5

// Value returns the score of the site: the mean of its pages, nearer to 0 the fewer they are.
func (t Tally) Value() float64 { return round(t.Sum / float64(t.Pages+few)) }
