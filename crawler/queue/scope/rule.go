package scope

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"odarchive/crawler/address"

	"github.com/dustin/go-humanize"
)

// ErrBad is wrapped by the error of a text that is malformed.
var ErrBad = errors.New("not a rule or question of the scope")

// ErrTooMany is wrapped by the error of a rule for which there is no room.
var ErrTooMany = errors.New("too many rules")

// Area is what a rule is for.
type Area string

// The areas. A rule without an area is for all of them.
const (
	Crawl    Area = "crawl"    // visits
	Campaign Area = "campaign" // links that campaigns follow, and what they ask endpoints and portals
	Harvest  Area = "harvest"  // requests to portals and other sources
	// Keep is what becomes a version, wherever it comes from: visits and imports. A rule that denies for it holds for
	// Crawl, too, since a visit of what is never kept is of no use.
	Keep Area = "keep"
)

var areas = []Area{Crawl, Campaign, Harvest, Keep}

// errArea is the error of a word that is no area.
var errArea = errors.New("expected crawl, campaign, harvest or keep")

// Rule allows or denies what all its conditions hold for.
type Rule struct {
	Allow bool
	// Text is the rule as it is stored and shown: the conditions, separated by a space, in the order of the fields
	// below.
	Text string

	host    string         // group of the URL: host, and port if it is not the scheme's default
	domain  string         // the host or one below it, with any port
	pattern *regexp.Regexp // of the URL
	types   []string       // media types; one ending in / stands for all below it
	over    int64          // the size is greater; -1 for no condition
	under   int64          // the size is smaller; -1 for no condition
	areas   []Area         // none: all
}

// Limits of a rule.
const (
	maxText    = 1200 // bytes
	maxPattern = 1000 // bytes
	maxTypes   = 50
)

// String returns the rule with its action.
func (r *Rule) String() string {
	if r.Allow {
		return "allow " + r.Text
	}
	return "deny " + r.Text
}

// ParseRule parses the conditions of a rule:
//
//	host:data.example.org      the URL's host; host:localhost:8080 with a port that is not the scheme's default
//	domain:example.org         the host, or one below it
//	pattern:^https://a/b       a regular expression (RE2) that matches the canonical URL
//	type:image/*,text/html     the media type, as declared or as found
//	size:>10MiB                the size of the file; also size:<1KiB
//	for:crawl,harvest          what the rule is for: crawl, campaign, harvest, keep (imports, too); all without this
//
// A word without a colon is a host. Conditions are separated by spaces. The error wraps ErrBad.
func ParseRule(allow bool, text string) (*Rule, error) {
	r := &Rule{Allow: allow, over: -1, under: -1}
	if len(text) > maxText {
		return nil, fmt.Errorf("%w: %d bytes, and at most %d are allowed", ErrBad, len(text), maxText)
	}
	seen := map[string]bool{}
	for _, condition := range strings.Fields(text) {
		what, arg, ok := strings.Cut(condition, ":")
		if !ok || strings.Contains(what, ".") || what == "localhost" {
			what, arg = "host", condition
		}
		if seen[what] {
			return nil, fmt.Errorf("%w: %.200q has two conditions %s", ErrBad, text, what)
		}
		seen[what] = true
		if err := r.set(what, arg); err != nil {
			return nil, fmt.Errorf("%w: %.200q: %w", ErrBad, condition, err)
		}
	}
	if len(seen) == 0 || len(seen) == 1 && seen["for"] {
		return nil, fmt.Errorf("%w: %.200q has no condition such as host:data.example.org", ErrBad, text)
	}
	if r.host != "" && r.domain != "" {
		return nil, fmt.Errorf("%w: %.200q has a host and a domain", ErrBad, text)
	}
	r.Text = r.text()
	return r, nil
}

func (r *Rule) set(what, arg string) (err error) {
	if arg == "" {
		return fmt.Errorf("%s of what?", what)
	}
	switch what {
	case "host":
		if err := address.CheckTarget(arg); err != nil || strings.Contains(arg, "/") {
			return errors.New("expected a host such as data.example.org")
		}
		r.host = address.HostGroup(arg)
	case "domain":
		r.domain, err = domainOf(strings.TrimPrefix(strings.TrimPrefix(arg, "*"), "."))
	case "pattern":
		if len(arg) > maxPattern {
			return fmt.Errorf("%d bytes, and at most %d are allowed", len(arg), maxPattern)
		}
		r.pattern, err = regexp.Compile(arg)
	case "type":
		r.types, err = parseTypes(arg)
	case "size":
		err = r.setSize(arg)
	case "for":
		for one := range strings.SplitSeq(arg, ",") {
			if !slices.Contains(areas, Area(one)) {
				return errArea
			}
			if !slices.Contains(r.areas, Area(one)) {
				r.areas = append(r.areas, Area(one))
			}
		}
		slices.Sort(r.areas)
	default:
		return errors.New("expected one of host:, domain:, pattern:, type:, size:, for: in front")
	}
	return err
}

// domainOf returns a domain as hosts of URLs spell it.
func domainOf(text string) (string, error) {
	host, err := address.Host("http://" + text + "/")
	if err != nil || strings.ContainsAny(text, "/?#@:") && !strings.HasPrefix(text, "[") {
		return "", errors.New("expected a domain such as example.org")
	}
	return host, nil
}

func parseTypes(arg string) (types []string, err error) {
	for one := range strings.SplitSeq(strings.ToLower(arg), ",") {
		top, sub, ok := strings.Cut(one, "/")
		if !ok || top == "" || sub == "" || strings.Contains(top, "*") || strings.Contains(sub, "*") && sub != "*" {
			return nil, errors.New("expected media types such as text/csv or image/*")
		}
		if sub == "*" {
			one = top + "/"
		}
		types = append(types, one)
	}
	if len(types) > maxTypes {
		return nil, fmt.Errorf("%d types, and at most %d are allowed", len(types), maxTypes)
	}
	slices.Sort(types)
	return slices.Compact(types), nil
}

func (r *Rule) setSize(arg string) error {
	n, err := humanize.ParseBytes(strings.TrimLeft(arg, "<>"))
	switch {
	case err != nil || n > 1<<62 || len(arg) < 2:
		return errors.New("expected >10MiB or <1KiB")
	case arg[0] == '>':
		r.over = int64(n)
	case arg[0] == '<':
		r.under = int64(n)
	default:
		return errors.New("expected >10MiB or <1KiB")
	}
	return nil
}

// text spells the conditions. ParseRule returns an equal rule for it.
func (r *Rule) text() string {
	var parts []string
	add := func(what, arg string) {
		if arg != "" {
			parts = append(parts, what+":"+arg)
		}
	}
	add("host", r.host)
	add("domain", r.domain)
	if r.pattern != nil {
		add("pattern", r.pattern.String())
	}
	types := slices.Clone(r.types)
	for i, t := range types {
		if strings.HasSuffix(t, "/") {
			types[i] = t + "*"
		}
	}
	add("type", strings.Join(types, ","))
	if r.over >= 0 {
		add("size", ">"+size(r.over))
	}
	if r.under >= 0 {
		add("size", "<"+size(r.under))
	}
	var all []string
	for _, a := range r.areas {
		all = append(all, string(a))
	}
	add("for", strings.Join(all, ","))
	return strings.Join(parts, " ")
}

// size spells a number of bytes, in full KiB, MiB or GiB if it is a multiple of them.
func size(n int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.bytes && n%unit.bytes == 0 {
			return fmt.Sprintf("%d%s", n/unit.bytes, unit.name)
		}
	}
	return fmt.Sprintf("%d", n)
}

// simple reports whether the rule has a host or a domain and no other condition, so that it can be looked up.
func (r *Rule) simple() bool {
	return (r.host != "" || r.domain != "") && r.pattern == nil && len(r.types) == 0 && r.over < 0 && r.under < 0 && len(r.areas) == 0
}

// truth is what is known of a condition or rule.
type truth byte

const (
	no truth = iota
	unknown
	yes
)

// holds reports whether the rule's conditions hold. Types and sizes may be unknown.
func (r *Rule) holds(q *question) truth {
	if len(r.areas) > 0 && !slices.Contains(r.areas, q.Area) && !(q.Area == Crawl && !r.Allow && slices.Contains(r.areas, Keep)) ||
		r.host != "" && r.host != q.group || r.domain != "" && !below(q.name, r.domain) {
		return no
	}
	all := yes
	if len(r.types) > 0 {
		all = min(all, r.holdsType(q.Type))
	}
	if r.over >= 0 || r.under >= 0 {
		all = min(all, r.holdsSize(q.Size))
	}
	if all == no || r.pattern != nil && !r.pattern.MatchString(q.plain) && (q.plain == q.URL || !r.pattern.MatchString(q.URL)) {
		return no
	}
	return all
}

func (r *Rule) holdsType(t string) truth {
	if t == "" {
		return unknown
	}
	for _, one := range r.types {
		if one == t || strings.HasSuffix(one, "/") && strings.HasPrefix(t, one) {
			return yes
		}
	}
	return no
}

func (r *Rule) holdsSize(n int64) truth {
	switch {
	case n < 0:
		return unknown
	case r.over >= 0 && n > r.over, r.under >= 0 && n < r.under:
		return yes
	}
	return no
}

// below reports whether name is domain, or a name below it. Addresses have no names below them.
func below(name, domain string) bool {
	if name == domain {
		return true
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return false
	}
	return strings.HasSuffix(name, domain) && name[len(name)-len(domain)-1] == '.'
}
