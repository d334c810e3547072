// Package scrape extracts triples from web pages by rules. It is meant for sites that publish regular pages but no
// data.
//
// Rules have a Page for each kind of page, found by the page's address. A Page tells which elements describe a thing
// (Each), the IRI of the thing (Subject or Link), the values of its properties (Value: a CSS selector, an attribute, a
// part of the text), and which links lead to further pages (Follow). Rules are written in TOML (Read) or in the YAML of
// Squirrel's scraper (ReadSquirrel). Rules.Apply uses no network and keeps no state.
//
// Rules come from the operator and are trusted; pages are not. The size of a Result and the work for a page are
// bounded. Regular expressions take linear time.
package scrape

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"

	"github.com/BurntSushi/toml"
	"github.com/andybalholm/cascadia"
)

// Rules are the rules for the pages of one or more sites.
type Rules struct {
	Prefix map[string]string `toml:"prefix,omitempty"` // for predicates, classes and datatypes
	Page   []*Page           `toml:"page"`
}

// Page has the rules for one kind of page.
type Page struct {
	URL     string   `toml:"url"`               // regular expression; the rules apply to pages in whose address it matches
	Each    string   `toml:"each,omitempty"`    // selector of the elements of things; "" if the whole page is one thing
	Subject string   `toml:"subject,omitempty"` // template of a thing's IRI, "{url}" by default
	Link    string   `toml:"link,omitempty"`    // instead of Subject: selector of a link in the thing whose target is the IRI
	Type    []string `toml:"type,omitempty"`    // classes of the things
	Value   []*Value `toml:"value,omitempty"`
	Follow  []string `toml:"follow,omitempty"` // selectors of links to further pages

	url    *regexp.Regexp
	each   cascadia.Selector
	link   cascadia.Selector
	types  []term.Key
	follow []cascadia.Selector
}

// Value is the rule for one predicate of a thing. Each selected element gives one value, unless the value is blank.
type Value struct {
	Predicate string `toml:"predicate"`
	Select    string `toml:"select,omitempty"`   // selector within the thing; "" for the thing's own element
	Attr      string `toml:"attr,omitempty"`     // attribute with the value; "" for the text of the element
	Match     string `toml:"match,omitempty"`    // regular expression; the value is its first group, or the whole match without groups
	Replace   string `toml:"replace,omitempty"`  // template of the value with the groups of Match, as in "$2-$1"
	Datatype  string `toml:"datatype,omitempty"` // of the literal
	Lang      string `toml:"lang,omitempty"`     // language tag of the literal
	IRI       bool   `toml:"iri,omitempty"`      // the value is an address, resolved against the page's
	Auto      bool   `toml:"auto,omitempty"`     // the value is the target of a link or, for other elements, their text

	predicate term.Key
	selector  cascadia.Selector
	match     *regexp.Regexp
	datatype  string
}

// Limits of rules.
const (
	maxRules  = 1 << 20 // bytes
	maxPages  = 500
	maxValues = 5000 // of all pages
)

// Parse parses rules in TOML or in the YAML of Squirrel's scraper. converted reports that the text was YAML; then notes
// are those of ReadSquirrel.
func Parse(text []byte) (r *Rules, converted bool, notes []string, err error) {
	if squirrel.Match(text) {
		r, notes, err = ReadSquirrel(text)
		return r, true, notes, err
	}
	r, err = Read(text)
	return r, false, nil, err
}

// squirrel matches texts that begin with the key file_descriptor, as rules of Squirrel do. It matches no TOML.
var squirrel = regexp.MustCompile(`^(\x{FEFF}|---[^\n]*\n|\s|#[^\n]*\n)*["']?file_descriptor["']?[ \t]*:`)

// Read parses rules in TOML. An error names the setting at fault, and its line if that can be found.
func Read(text []byte) (*Rules, error) {
	if len(text) > maxRules {
		return nil, fmt.Errorf("rules are longer than %d bytes", maxRules)
	}
	var r Rules
	where := catalog.TOMLText(text)
	if err := where.Decode(&r); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	return &r, r.compile(where)
}

// TOML returns the rules in the form that Read parses.
func (r *Rules) TOML() ([]byte, error) {
	var b strings.Builder
	enc := toml.NewEncoder(&b)
	enc.Indent = ""
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	return []byte(b.String()), nil
}

// compile checks the rules and prepares them for Apply.
func (r *Rules) compile(where catalog.TOMLText) error {
	if len(r.Page) == 0 {
		return errors.New("rules: there is no [[page]]")
	}
	values := 0
	for i, p := range r.Page {
		if values += len(p.Value); i >= maxPages || values > maxValues {
			return fmt.Errorf("rules: more than %d pages or %d values", maxPages, maxValues)
		}
		value, err := p.compile(r)
		if err != nil {
			return fmt.Errorf("rules: %spage %d (url = %q): %w", where.Table("page", i, "value", value), i+1, p.URL, err)
		}
	}
	return nil
}

// compile checks the rules of a page. If one of its values is at fault, value is the index of that, otherwise -1.
func (p *Page) compile(r *Rules) (value int, err error) {
	if p.URL == "" {
		return -1, errors.New("url is missing")
	}
	if p.url, err = regexp.Compile(p.URL); err != nil {
		return -1, fmt.Errorf("url: %w", err)
	}
	if p.each, err = selector("each", p.Each); err != nil {
		return -1, err
	}
	if p.link, err = selector("link", p.Link); err != nil {
		return -1, err
	}
	if p.Subject == "" {
		p.Subject = "{url}"
	}
	if _, err := p.subject("http://a.example/", nil, 1); err != nil {
		return -1, err
	}
	for _, class := range p.Type {
		iri, err := r.expand(class)
		if err != nil {
			return -1, err
		}
		p.types = append(p.types, term.IRI(iri))
	}
	for _, f := range p.Follow {
		s, err := selector("follow", f)
		if err != nil {
			return -1, err
		}
		if s != nil {
			p.follow = append(p.follow, s)
		}
	}
	for i, v := range p.Value {
		if err := v.compile(r); err != nil {
			return i, fmt.Errorf("value %q: %w", v.Predicate, err)
		}
	}
	return -1, nil
}

func (v *Value) compile(r *Rules) error {
	iri, err := r.expand(v.Predicate)
	if err != nil {
		return err
	}
	v.predicate = term.IRI(iri)
	if v.selector, err = selector("select", v.Select); err != nil {
		return err
	}
	if v.Match != "" {
		if v.match, err = regexp.Compile(v.Match); err != nil {
			return fmt.Errorf("match: %w", err)
		}
	}
	switch {
	case v.Replace != "" && v.match == nil:
		return errors.New("replace needs match")
	case v.IRI && (v.Datatype != "" || v.Lang != "") || v.Datatype != "" && v.Lang != "" || v.Auto && (v.IRI || v.Attr != ""):
		return errors.New("only one of iri, datatype and lang can be given, and with auto neither iri nor attr")
	case v.Datatype != "":
		v.datatype, err = r.expand(v.Datatype)
	}
	return err
}

// selector parses the selector of a setting. It returns nil for a blank text.
func selector(setting, text string) (cascadia.Selector, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	s, err := cascadia.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%s = %q: %w", setting, text, err)
	}
	if effort(text) > maxEffort {
		return nil, fmt.Errorf("%s = %q: more than %d steps to descendants (a step to siblings by ~ counts as 3); use > where possible",
			setting, text, maxEffort)
	}
	return s, nil
}

// maxEffort bounds the steps of a selector that make matching slow: for each step to descendants, all ancestors of an
// element are tried, for each step to siblings, all siblings, and the numbers of tries multiply.
const maxEffort = 5

var (
	quoted = regexp.MustCompile(`\\.|"[^"]*"|'[^']*'|\[[^\]]*\]`)
	steps  = regexp.MustCompile(`\s*[>+,(]\s*|\s*\)|\s*~\s*|\s+|:has\(\s*`)
)

// effort counts the slow steps of a selector (see maxEffort).
func effort(text string) (n int) {
	for _, one := range steps.FindAllString(quoted.ReplaceAllString(strings.TrimSpace(text), "x"), -1) {
		switch strings.TrimSpace(one) {
		case "~":
			n += 3
		case "", ":has(":
			n++
		}
	}
	return n
}

// usual has the prefixes that need not be declared.
var usual = map[string]string{
	"dcat": "http://www.w3.org/ns/dcat#", "dct": "http://purl.org/dc/terms/", "foaf": "http://xmlns.com/foaf/0.1/",
	"owl": "http://www.w3.org/2002/07/owl#",
	"rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdfs": "http://www.w3.org/2000/01/rdf-schema#", "schema": "http://schema.org/",
	"skos": "http://www.w3.org/2004/02/skos/core#", "xsd": "http://www.w3.org/2001/XMLSchema#",
}

// expand returns the absolute IRI of a name, which is either an absolute IRI or has a prefix.
func (r *Rules) expand(name string) (string, error) {
	prefix, local, ok := strings.Cut(name, ":")
	if namespace, declared := r.Prefix[prefix]; ok && declared {
		return namespace + local, nil
	}
	if namespace, known := usual[prefix]; ok && known {
		return namespace + local, nil
	}
	u, err := url.Parse(name)
	if err != nil || !u.IsAbs() || u.Host == "" && u.Opaque == "" || strings.ContainsAny(name, " <>\"{}|\\^`") {
		return "", fmt.Errorf("%q is neither an absolute IRI nor a name with a declared prefix", name)
	}
	if !strings.Contains(name, "/") && u.Scheme != "urn" {
		return "", fmt.Errorf("the prefix of %q is not declared", name)
	}
	return name, nil
}
