package software

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"

	"odarchive/crawler/catalog"
)

//go:embed rules.toml
var builtin string

//go:embed generic.toml
var generic string

// Options configure a Helper. The zero value has the built-in rules.
type Options struct {
	Rules string // an operator's own rules, as in rules.toml; "" for none. They come before the built-in ones.
}

// Helper applies rules. It is made by New and never changes.
type Helper struct {
	systems []system
	always  *ruleset            // rules of every site
	of      map[string]*ruleset // rules of one system, by its name
	seed    maphash.Seed
	marked  *selectors // what a page is searched for
}

// system is software as the rules describe it.
type system struct {
	Name  string   `toml:"name"`
	Signs []sign   `toml:"signs"`
	Strip []string `toml:"strip"` // parameters that do not change what is shown
	Page  []rule   `toml:"page"`

	strip []param
}

// sign is something in a page or its header fields.
type sign struct {
	Where  string `toml:"where"`  // generator, header:NAME, cookie, asset, link, css, title, path
	Match  string `toml:"match"`  // regular expression; a selector for css
	Weight int    `toml:"weight"` // of the evidence; Sure is certain

	match *regexp.Regexp
	css   int // of selectors
}

// rule says what a page is by its address, by what it shows, or by the link to it.
type rule struct {
	Level   Level    `toml:"level"`
	Match   string   `toml:"match"`    // regular expression over path and query, in lower case and without percent-escapes
	Segment []string `toml:"segment"`  // segments of the path, without extension, one of which is there
	Param   []string `toml:"param"`    // names of parameters, as "name" or "name=REGEXP"; a name may begin or end with '*'
	CSS     []string `toml:"css"`      // selectors, one of which an element of the page matches
	Title   string   `toml:"title"`    // regular expression over the page's title
	Link    []string `toml:"link"`     // steps of the link's path of tags, as "li.pager__item"
	Rel     []string `toml:"rel"`      // words of the link's rel
	File    float64  `toml:"file"`     // confidence that it is a data file
	Doc     bool     `toml:"document"` // a file, and not of data
	Follow  bool     `toml:"follow"`   // leads towards data
	Boost   float64  `toml:"boost"`
	Why     string   `toml:"why"` // phrase for people

	match  *pattern
	params []param
	css    []int // of selectors
	title  *regexp.Regexp
}

// Limits of an operator's rules.
const (
	maxRules          = 256 << 10 // bytes
	maxSystemsInRules = 200
	maxPages          = 2000 // rules
	maxPattern        = 1000 // bytes
)

// ErrBad is in the chain of errors about an operator's rules.
var ErrBad = errors.New("not rules for software")

// New returns a helper with the built-in rules and those of o. The error names the line of o.Rules that is wrong.
func New(o Options) (*Helper, error) {
	h := &Helper{of: map[string]*ruleset{}, marked: newSelectors(), seed: maphash.MakeSeed()}
	var systems []system
	for _, text := range []string{o.Rules, builtin, generic} {
		read, err := h.read(text)
		if err != nil {
			return nil, err
		}
		systems = append(systems, read...)
	}
	var always []system
	for _, s := range systems {
		if s.Name == "" {
			always = append(always, s)
			continue
		}
		h.systems = append(h.systems, s)
	}
	h.always = newRuleset(always)
	for _, s := range h.systems { // an operator's rules for a known system come before ours
		if _, done := h.of[s.Name]; !done {
			same := slices.DeleteFunc(slices.Clone(h.systems), func(o system) bool { return o.Name != s.Name })
			h.of[s.Name] = newRuleset(same)
		}
	}
	return h, nil
}

// Names returns the names of the software that the helper knows.
func (h *Helper) Names() []string {
	var names []string
	for _, s := range h.systems {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// read reads and compiles rules.
func (h *Helper) read(text string) ([]system, error) {
	if len(text) > maxRules {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrBad, maxRules)
	}
	var file struct {
		Software []system `toml:"software"`
	}
	where := catalog.TOMLText(text)
	if err := where.Decode(&file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBad, err)
	}
	pages := 0
	for i := range file.Software {
		s := &file.Software[i]
		if pages += len(s.Page); i >= maxSystemsInRules || pages > maxPages {
			return nil, fmt.Errorf("%w: more than %d systems or %d pages", ErrBad, maxSystemsInRules, maxPages)
		}
		if err := h.compile(s); err != nil {
			return nil, fmt.Errorf("%w: %ssoftware %q: %w", ErrBad, where.Table("software", i, "page", -1), s.Name, err)
		}
		for j := range s.Page {
			if err := h.compileRule(&s.Page[j]); err != nil {
				return nil, fmt.Errorf("%w: %ssoftware %q, page %d: %w", ErrBad, where.Table("software", i, "page", j), s.Name, j+1, err)
			}
		}
	}
	return file.Software, nil
}

// compile checks a system and its signs.
func (h *Helper) compile(s *system) (err error) {
	if s.Name == "" && len(s.Signs) > 0 {
		return errors.New("the name is missing")
	}
	for i := range s.Signs {
		g := &s.Signs[i]
		if g.Weight <= 0 || g.Match == "" {
			return fmt.Errorf("the sign %q has no match or no weight", g.Where)
		}
		kind, name, _ := strings.Cut(g.Where, ":")
		switch {
		case kind == "css":
			g.css, err = h.marked.add(g.Match)
		case kind == "header" && name != "", slices.Contains([]string{"generator", "cookie", "asset", "link", "title", "path"}, g.Where):
			g.match, err = expression(g.Match)
		default:
			return fmt.Errorf("the sign %q: expected generator, header:NAME, cookie, asset, link, css, title or path", g.Where)
		}
		if err != nil {
			return fmt.Errorf("the sign %q: %w", g.Where, err)
		}
	}
	for _, text := range s.Strip {
		p, err := newParam(text)
		if err != nil {
			return fmt.Errorf("strip %q: %w", text, err)
		}
		s.strip = append(s.strip, p)
	}
	return nil
}

// compileRule checks a rule.
func (h *Helper) compileRule(r *rule) (err error) {
	if !slices.Contains(Levels(), r.Level) {
		return fmt.Errorf("the level %q: expected one of %v", r.Level, Levels())
	}
	if r.Match == "" && len(r.Segment)+len(r.Param)+len(r.CSS)+len(r.Link)+len(r.Rel) == 0 && r.Title == "" {
		return errors.New("one of match, segment, param, css, title, link and rel is required")
	}
	if r.File < 0 || r.File > 1 || r.Boost < -1 || r.Boost > 1 {
		return fmt.Errorf("file %v, boost %v: expected at most 1, and file not negative", r.File, r.Boost)
	}
	if r.Match != "" {
		if r.match, err = newPattern(r.Match); err != nil {
			return fmt.Errorf("match: %w", err)
		}
	}
	for _, text := range r.Segment {
		if text == "" || text != strings.ToLower(text) || strings.ContainsAny(text, "/.?") {
			return fmt.Errorf("the segment %q: write a part between two '/' in lower case, without extension", text)
		}
	}
	for _, text := range r.Param {
		p, err := newParam(text)
		if err != nil {
			return fmt.Errorf("param %q: %w", text, err)
		}
		r.params = append(r.params, p)
	}
	for _, text := range r.CSS {
		n, err := h.marked.add(text)
		if err != nil {
			return fmt.Errorf("css %q: %w", text, err)
		}
		r.css = append(r.css, n)
	}
	if r.Title != "" {
		if r.title, err = expression(r.Title); err != nil {
			return fmt.Errorf("title: %w", err)
		}
	}
	r.Why = cmp.Or(r.Why, string(r.Level))
	return nil
}

func expression(text string) (*regexp.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("an expression of more than %d bytes", maxPattern)
	}
	return regexp.Compile(text)
}
