// Package hosts has what an operator sets for single hosts: how often and how they are asked, as whom, through which
// proxy, with which login, or that they are not asked at all.
//
// A Rule sets some values for the hosts that it matches. Rules come from the settings file and from orders, which the
// Book stores. Of returns the values for one host: those of the most specific rule that sets each, or else those of the
// program. So a rule for a domain and one for a host of it can be combined.
//
// Passwords, cookies and keys are in a file of their own, which only the archive's user may read. Rules name its
// sections. A Secret does not show what it holds when it is printed, logged or encoded.
//
// The package decides nothing: packages fetch and politeness do what it says.
package hosts

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"odarchive/crawler/address"
)

// Rule is what an operator sets for the hosts that Match selects. A field that is not set leaves the value of a less
// specific rule, or that of the program.
type Rule struct {
	// Match is a host ("data.example.org", for every port, or "data.example.org:8443"), a domain with everything below
	// it ("*.example.org"), a regular expression for the whole name of the host with its port
	// ("/data[0-9]+\.example\.org/"), or "*" for all.
	Match string `json:"match" toml:"match"`

	Delay    *Duration `json:"delay,omitempty" toml:"delay"`       // between two requests
	Parallel int       `json:"parallel,omitempty" toml:"parallel"` // requests at a time
	// delay and parallel are for all hosts of the rule together
	Together      bool      `json:"together,omitempty" toml:"together"`
	MaxCrawlDelay *Duration `json:"max-crawl-delay,omitempty" toml:"max-crawl-delay"` // a longer Crawl-delay of robots.txt is cut to it
	Daily         *Daily    `json:"daily,omitempty" toml:"daily"`                     // requests a day
	Retries       *int      `json:"retries,omitempty" toml:"retries"`                 // after a failure that may pass
	MaxBody       Size      `json:"max-body,omitempty" toml:"max-body"`               // of a file

	UserAgent     string            `json:"user-agent,omitempty" toml:"user-agent"`
	Headers       map[string]string `json:"headers,omitempty" toml:"headers"` // that are not secret
	Secret        string            `json:"secret,omitempty" toml:"secret"`   // section of the secrets file
	Unverified    *bool             `json:"unverified,omitempty" toml:"unverified"`
	Proxy         string            `json:"proxy,omitempty" toml:"proxy"` // "direct" for none
	ProxySecret   string            `json:"proxy-secret,omitempty" toml:"proxy-secret"`
	ProxyResolves bool              `json:"proxy-resolves,omitempty" toml:"proxy-resolves"`
	Resolve       *Place            `json:"resolve,omitempty" toml:"resolve"` // where the hosts are, whatever name servers say

	// Robots is "ignore" for hosts whose owner permits that, or "obey". An exception needs the names of who permitted
	// it, and why. Every visit records both.
	Robots    string `json:"robots,omitempty" toml:"robots"`
	RobotsBy  string `json:"robots-by,omitempty" toml:"robots-by"`
	RobotsWhy string `json:"robots-why,omitempty" toml:"robots-why"`

	Paused *string `json:"paused,omitempty" toml:"paused"` // why the hosts are not asked; "" if they are
	Note   string  `json:"note,omitempty" toml:"note"`     // for people
}

// Bounds of rules.
const (
	maxRules    = 10_000
	maxPatterns = 1000 // regular expressions are tried one after the other
	maxHeaders  = 32
	maxText     = 4096
	maxParallel = 32
	MaxRetries  = 5
)

// Check returns an error that names the first field that is wrong.
func (r Rule) Check() error {
	if _, err := parseMatch(r.Match); err != nil {
		return err
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("host %q: "+format, append([]any{r.Match}, args...)...)
	}
	for _, text := range []string{r.UserAgent, r.Secret, r.Proxy, r.ProxySecret, r.Robots, r.RobotsBy, r.RobotsWhy, r.Note,
		deref(r.Paused)} {
		if len(text) > maxText || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return wrong("a text of more than %d bytes, or with control characters", maxText)
		}
	}
	switch {
	case r.Delay != nil && (*r.Delay < 0 || *r.Delay > Duration(24*time.Hour)):
		return wrong("delay %s: expected a time from 0s to 24h", *r.Delay)
	case r.MaxCrawlDelay != nil && (*r.MaxCrawlDelay < 0 || *r.MaxCrawlDelay > Duration(24*time.Hour)):
		return wrong("max-crawl-delay %s: expected a time from 0s to 24h", *r.MaxCrawlDelay)
	case r.Parallel < 0 || r.Parallel > maxParallel:
		return wrong("parallel %d: expected a number from 1 to %d", r.Parallel, maxParallel)
	case r.Retries != nil && (*r.Retries < 0 || *r.Retries > MaxRetries):
		return wrong("retries %d: expected a number from 0 to %d", *r.Retries, MaxRetries)
	case r.MaxBody < 0:
		return wrong("max-body must be positive")
	case r.Robots != "" && r.Robots != "ignore" && r.Robots != "obey":
		return wrong("robots %q: expected ignore or obey", r.Robots)
	case r.Robots == "ignore" && (strings.TrimSpace(r.RobotsBy) == "" || strings.TrimSpace(r.RobotsWhy) == ""):
		return wrong("robots = \"ignore\" needs robots-by, who permitted it, and robots-why; every visit records them")
	case len(r.Headers) > maxHeaders:
		return wrong("more than %d headers", maxHeaders)
	}
	for name, value := range r.Headers {
		if err := checkHeader(name, value, false); err != nil {
			return wrong("%w", err)
		}
	}
	if _, err := ParseProxy(r.Proxy); err != nil {
		return wrong("%w", err)
	}
	return nil
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Set sets a field by its name in the file to a value as text. "" removes it. A header is "header.NAME".
func (r *Rule) Set(name, value string) (err error) {
	if header, ok := strings.CutPrefix(name, "header."); ok {
		return r.setHeader(header, value)
	}
	texts := map[string]*string{"user-agent": &r.UserAgent, "secret": &r.Secret, "proxy": &r.Proxy, "proxy-secret": &r.ProxySecret,
		"robots": &r.Robots, "robots-by": &r.RobotsBy, "robots-why": &r.RobotsWhy, "note": &r.Note}
	if text, ok := texts[name]; ok {
		*text = value
		return nil
	}
	number, flag := 0, false
	switch name {
	case "delay":
		r.Delay, err = parsed[Duration](value)
	case "max-crawl-delay":
		r.MaxCrawlDelay, err = parsed[Duration](value)
	case "resolve":
		r.Resolve, err = parsed[Place](value)
	case "daily":
		r.Daily, err = parsed[Daily](value)
	case "max-body":
		var size *Size
		size, err = parsed[Size](value)
		r.MaxBody = deref(size)
	case "parallel":
		if value != "" {
			r.Parallel, err = strconv.Atoi(value)
		} else {
			r.Parallel = 0
		}
	case "retries":
		if r.Retries = nil; value != "" {
			number, err = strconv.Atoi(value)
			r.Retries = &number
		}
	case "unverified":
		if r.Unverified = nil; value != "" {
			flag, err = strconv.ParseBool(value)
			r.Unverified = &flag
		}
	case "together":
		r.Together, err = strconv.ParseBool(cmp.Or(value, "false"))
	case "proxy-resolves":
		r.ProxyResolves, err = strconv.ParseBool(cmp.Or(value, "false"))
	case "paused":
		if r.Paused = nil; value != "" {
			r.Paused = &value
		}
	default:
		return fmt.Errorf(
			"a host has no setting %q; there are delay, parallel, together, max-crawl-delay, daily, retries, max-body, user-agent, "+
				"header.NAME, "+
				"secret, unverified, proxy, proxy-secret, proxy-resolves, resolve, robots, robots-by, robots-why, paused and note", name)
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", name, value, err)
	}
	return nil
}

func (r *Rule) setHeader(name, value string) error {
	if value == "" {
		delete(r.Headers, name)
		return nil
	}
	if r.Headers == nil {
		r.Headers = map[string]string{}
	}
	r.Headers[name] = value
	return nil
}

// parsed parses a text, nil for "".
func parsed[T any, P interface {
	*T
	UnmarshalText([]byte) error
}](text string) (*T, error) {
	if text == "" {
		return nil, nil
	}
	v := new(T)
	return v, P(v).UnmarshalText([]byte(text))
}

// match is a parsed Rule.Match. One of its fields is set, none for all hosts.
type match struct {
	host    string // with the port, if the rule has one
	domain  string
	pattern *regexp.Regexp
}

func parseMatch(text string) (m match, err error) {
	bad := func() (match, error) {
		return match{}, fmt.Errorf(
			`%.300q is neither a host such as data.example.org, a domain such as *.example.org, a pattern such as `+
				`/data[0-9]+\.example\.org/, nor *`, text)
	}
	switch {
	case text == "*":
		return match{}, nil
	case len(text) > maxText:
		return bad()
	case len(text) > 2 && strings.HasPrefix(text, "/") && strings.HasSuffix(text, "/"):
		if m.pattern, err = regexp.Compile(`^(?:` + text[1:len(text)-1] + `)$`); err != nil {
			return match{}, fmt.Errorf("host %.300q: %w", text, err)
		}
		return m, nil
	}
	name, isDomain := strings.CutPrefix(text, "*.")
	if name == "" || strings.ContainsAny(name, "*/ ") || address.CheckTarget(name) != nil || strings.Contains(name, "://") {
		return bad()
	}
	if name = address.HostGroup(name); isDomain {
		if strings.Contains(name, ":") {
			return bad()
		}
		return match{domain: name}, nil
	}
	return match{host: name}, nil
}

// CheckTwice returns an error if two different rules are for the same Match: the last one would win without a word.
func CheckTwice(rules []Rule) error {
	seen := map[string]Rule{}
	for _, r := range rules {
		r.Match = canonical(r.Match)
		if before, ok := seen[r.Match]; ok && !reflect.DeepEqual(before, r) {
			return fmt.Errorf("host %q is given twice, with different values; keep one", r.Match)
		}
		seen[r.Match] = r
	}
	return nil
}

// canonical returns Match with its name as hosts are named, so that two spellings are one rule.
func canonical(text string) string {
	m, err := parseMatch(text)
	switch {
	case err != nil || m.pattern != nil:
		return text
	case m.domain != "":
		return "*." + m.domain
	}
	return cmp.Or(m.host, text)
}

// Name returns a host without its port.
func Name(host string) string {
	if strings.HasPrefix(host, "[") {
		name, _, _ := strings.Cut(host, "]")
		return name + "]"
	}
	name, _, _ := strings.Cut(host, ":")
	return name
}

// Proxy is where requests are sent through. It belongs to Settings, which owns its secret.
type Proxy struct {
	URL *url.URL // http, https, socks5; without a user
	// Resolves says that the proxy resolves names. Then this program only checks addresses in URLs, and names that it
	// can resolve, too; what the proxy finds for a name is the proxy's affair.
	Resolves bool
	Secret   *Secret // user and password; nil for none
	Global   bool    // it is that of the whole program, not of single hosts
}

// String returns the proxy's address.
func (p *Proxy) String() string {
	if p == nil {
		return "direct"
	}
	return p.URL.String()
}

var errProxy = errors.New("expected http://HOST:PORT, https://HOST:PORT, socks5://HOST:PORT, socks5h://HOST:PORT or direct")

// ParseProxy parses the address of a proxy. It returns nil for "" and "direct". socks5h is socks5 with names that the
// proxy resolves.
func ParseProxy(text string) (*Proxy, error) {
	if text == "" || text == "direct" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if strings.Contains(text, "@") { // also USER:PASSWORD@HOST, which is no URL; no error quotes a password
		return nil, errors.New(
			"the address of a proxy has no user and password: they are in the secrets file, and proxy-secret names the section")
	}
	if err != nil {
		return nil, fmt.Errorf("the proxy is not an address: %w", errProxy)
	}
	p := &Proxy{URL: u}
	ports := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}
	port, ok := ports[u.Scheme]
	if !ok || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("proxy %.300q: %w", text, errProxy)
	}
	if u.Path = ""; u.Port() == "" {
		u.Host = u.Host + ":" + port
	}
	if u.Scheme == "socks5h" {
		u.Scheme, p.Resolves = "socks5", true
	}
	return p, nil
}
