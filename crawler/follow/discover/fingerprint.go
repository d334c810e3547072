// Recognises the software of a portal from its home page, and names its harvester.
//
// rules.toml lists what identifies software: signs in the page and its headers, and well-known addresses that confirm
// it. The page is requested once, well-known addresses a limited number of times, those of the most likely software
// first. The portal's name is not used.

package discover

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"

	"github.com/BurntSushi/toml"
)

//go:embed rules.toml
var rules string

const (
	enough      = 80        // weight of signs that needs no probe
	maxRequests = 32        // requests per portal
	headSize    = 512 << 10 // bytes read of an answer
)

// Finding is the software of a portal.
type Finding struct {
	Software string   `json:"software"`
	Kind     string   `json:"kind"`    // kind of source
	URL      string   `json:"url"`     // address to harvest
	Because  []string `json:"because"` // signs, one sentence each
	Asked    int      `json:"asked"`   // number of requests
}

// Software is one entry of the rules.
type Software struct {
	Name    string
	Kind    string
	Harvest string
	Signs   []Sign
	Probes  []Probe
}

// Sign is something in the page or its headers.
type Sign struct {
	Where  string
	Match  string
	Weight int
	Follow bool // harvest the address that the link leads to
	match  *regexp.Regexp
}

// Probe is a well-known address, or a question to the SPARQL endpoint at the portal's address.
type Probe struct {
	Path    string
	Ask     string // query with a boolean answer
	Name    string // software that the answer shows; "" means that of the rule
	Match   string
	Kind    string
	Harvest string
	match   *regexp.Regexp
}

// Rules returns the built-in rules.
func Rules() ([]Software, error) {
	var file struct{ Software []Software }
	if _, err := toml.Decode(rules, &file); err != nil {
		return nil, fmt.Errorf("fingerprint: rules: %w", err)
	}
	for _, s := range file.Software {
		for i := range s.Signs {
			var err error
			if s.Signs[i].match, err = regexp.Compile(s.Signs[i].Match); err != nil {
				return nil, fmt.Errorf("fingerprint: rules for %s: %w", s.Name, err)
			}
		}
		for i := range s.Probes {
			var err error
			if s.Probes[i].match, err = regexp.Compile(s.Probes[i].Match); err != nil {
				return nil, fmt.Errorf("fingerprint: rules for %s: %w", s.Name, err)
			}
		}
	}
	return file.Software, nil
}

// ErrUnknown is wrapped by the error for a portal that is not recognised.
var ErrUnknown = errors.New("no portal software was recognised")

// Tried is told of each request: what was asked, and what came, in a few words. It may be nil.
type Tried func(asked, came string)

// Recognise recognises the portal at an address.
func Recognise(ctx context.Context, doer harvest.Doer, address string, tried Tried) (Finding, error) {
	all, err := Rules()
	if err != nil {
		return Finding{}, err
	}
	root, err := portalapi.Root(address)
	if err != nil {
		return Finding{}, fmt.Errorf("recognise: %w", err)
	}
	if tried == nil {
		tried = func(string, string) {}
	}
	r := &search{ctx: ctx, http: doer, tried: tried, address: strings.TrimSpace(address), answers: map[string][]byte{}}
	page, err := r.page()
	if err != nil {
		tried(r.address, came(err))
		return Finding{Asked: r.asked}, fmt.Errorf("recognise %s: %w", address, err)
	}
	r.bases = bases(root, page.url)
	suspects := r.suspects(all, page)
	tried(r.address, signsOf(suspects))
	for _, signed := range []bool{true, false} { // software with signs first
		for i, base := range r.bases {
			for _, s := range suspects {
				if signed != (s.weight > 0) || i > 1 && s.weight < enough {
					continue
				}
				if found, ok := r.probe(s, base); ok {
					return found, nil
				}
			}
		}
	}
	for _, s := range suspects { // software that has no probes, or does not answer them
		if s.weight >= enough {
			return r.finding(s, s.Kind, s.Harvest, r.bases[0]), nil
		}
	}
	if ctx.Err() != nil {
		return Finding{Asked: r.asked}, ctx.Err()
	}
	return Finding{Asked: r.asked},
		fmt.Errorf("%w at %s: its page has no known sign, and none of %d well-known addresses answered", ErrUnknown, address, r.asked-1)
}

// Signs returns what the signs of a portal's page say of its software, without any request: one finding for each kind
// of which the signs leave no doubt, the most likely first.
func Signs(answer harvest.Answer) []Finding {
	all, err := Rules()
	root, rootErr := portalapi.Root(answer.URL)
	if err != nil || rootErr != nil {
		return nil
	}
	r := &search{address: answer.URL}
	var found []Finding
	for _, s := range r.suspects(all, read(answer)) {
		if s.weight >= enough {
			found = append(found, r.finding(s, s.Kind, s.Harvest, root))
		}
	}
	return found
}

// bases returns the addresses below which probes are tried: the given one, or that of another host to which it
// redirects, then the host, then, for software that is almost certain, the paths between, since software may be
// installed below a path and its pages below that.
func bases(root, final string) []string {
	if to, err := portalapi.Root(final); err == nil && host(to) != host(root) {
		root = to
	}
	u, err := url.Parse(root)
	if err != nil || u.Path == "" {
		return []string{root}
	}
	list := []string{root, u.Scheme + "://" + u.Host}
	for at := path.Dir(u.Path); at != "/" && at != "." && len(list) < 6; at = path.Dir(at) {
		list = append(list, u.Scheme+"://"+u.Host+at)
	}
	return list
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// search is the recognition of one portal.
type search struct {
	ctx     context.Context
	http    harvest.Doer
	tried   Tried
	address string
	bases   []string
	asked   int
	answers map[string][]byte
}

// suspect is software with the signs found of it.
type suspect struct {
	Software
	weight  int
	because []string
	follow  string // address that a link leads to
}

// suspects returns all software, the most likely first.
func (r *search) suspects(all []Software, p homePage) []suspect {
	var list []suspect
	for _, s := range all {
		one := suspect{Software: s}
		for _, sign := range s.Signs {
			what, found := p.has(sign)
			if !found {
				continue
			}
			one.weight += sign.Weight
			one.because = append(one.because, what)
			if sign.Follow && one.follow == "" {
				one.follow = p.href(sign)
			}
		}
		list = append(list, one)
	}
	slices.SortStableFunc(list, func(a, b suspect) int { return cmp.Compare(b.weight, a.weight) })
	return list
}

// probe tests whether the portal at base runs the software s.
func (r *search) probe(s suspect, base string) (Finding, bool) {
	if found, ok := r.question(s, base); ok {
		return found, true
	}
	if s.Harvest == "." && s.weight >= enough || s.follow != "" { // the address itself is harvested
		return r.finding(s, s.Kind, s.Harvest, base), true
	}
	for _, p := range s.Probes {
		if p.Ask != "" {
			continue
		}
		at := base + strings.ReplaceAll(p.Path, "{host}", url.QueryEscape(host(base)))
		asked := r.asked
		body, what := r.ask(at)
		hit := p.match.Find(body)
		if hit != nil {
			what = fmt.Sprintf("the answer of %s", s.Name)
		}
		if r.asked > asked {
			r.tried(at, what)
		}
		if hit == nil {
			continue
		}
		s.because = append(s.because, fmt.Sprintf("%s answers with %q", at, short(string(hit))))
		return r.finding(s, cmp.Or(p.Kind, s.Kind), cmp.Or(p.Harvest, s.Harvest), base), true
	}
	return Finding{}, false
}

// question tests what the SPARQL endpoint at the portal's address says, if there is a sign of one. A question is worth
// its request even where the page leaves no doubt, if it tells software that deserves another kind of harvest.
func (r *search) question(s suspect, base string) (Finding, bool) {
	address, _, _ := strings.Cut(r.address, "#")
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	for _, p := range s.Probes {
		if p.Ask == "" || s.weight == 0 || s.weight >= enough && p.Kind == "" {
			continue
		}
		asked := r.asked
		body, what := r.ask(address + separator + url.Values{"query": {p.Ask}}.Encode())
		hit := p.match.Match(body)
		if hit {
			what = "yes"
		}
		if r.asked > asked {
			r.tried(address+" "+short(p.Ask), what)
		}
		if hit {
			s.Name = cmp.Or(p.Name, s.Name)
			s.because = append(s.because, fmt.Sprintf("%s answers %q with yes", address, short(p.Ask)))
			return r.finding(s, cmp.Or(p.Kind, s.Kind), s.Harvest, base), true
		}
	}
	return Finding{}, false
}

func (r *search) finding(s suspect, kind, at, base string) Finding {
	f := Finding{Software: s.Name, Kind: kind, Because: s.because, Asked: r.asked}
	switch {
	case s.follow != "":
		f.URL = s.follow
	case at == ".":
		f.URL = r.address
	case at == "":
		f.URL = portalapi.IRI(base)
	default:
		f.URL = base + at
	}
	return f
}

// ask requests a well-known address once, and says what came. It returns nil if there is nothing, or if the limit is
// reached.
func (r *search) ask(at string) (body []byte, what string) {
	if body, known := r.answers[at]; known || r.asked >= maxRequests || r.ctx.Err() != nil {
		return body, ""
	}
	r.asked++
	answer, err := r.head(harvest.Request{URL: at, Tries: 1,
		Accept: "application/sparql-results+json, application/sparql-results+xml;q=0.9, */*;q=0.8"})
	body, what = answer.Body, "an answer without a known sign"
	switch {
	case err != nil:
		body, what = nil, came(err)
	case portalapi.WebPage(body) != "":
		body, what = nil, "a web page"
	}
	r.answers[at] = body
	return body, what
}

// came says what came instead of an answer.
func came(err error) string {
	if status, ok := errors.AsType[*harvest.StatusError](err); ok {
		return strings.TrimSpace(fmt.Sprintf("%d %s", status.Status, http.StatusText(status.Status)))
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	return short(err.Error())
}

// signsOf says what the page of a portal shows of its software; the suspects are sorted by weight.
func signsOf(suspects []suspect) string {
	var names []string
	for _, s := range suspects {
		if s.weight > 0 {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return "a page without a known sign"
	}
	return "a page with signs of " + strings.Join(names, ", ")
}

// head returns an answer with the beginning of its body.
func (r *search) head(q harvest.Request) (harvest.Answer, error) {
	resp, err := harvest.Send(r.ctx, r.http, q)
	if err != nil {
		return harvest.Answer{}, err
	}
	defer resp.Body.Close()
	answer := harvest.Answer{URL: q.URL, Header: resp.Header}
	if resp.Request != nil && resp.Request.URL != nil {
		answer.URL = resp.Request.URL.String()
	}
	answer.Body, err = io.ReadAll(io.LimitReader(resp.Body, headSize))
	if len(answer.Body) > 0 {
		err = nil // the beginning is enough
	}
	return answer, err
}

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
