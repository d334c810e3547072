package hosts

import (
	"maps"
	"slices"
	"strconv"
)

// Shown are the values for a host, for people and programs. It has no secrets.
type Shown struct {
	Delay         Duration          `json:"delay"`
	Parallel      int               `json:"parallel"`
	Together      string            `json:"together,omitempty"` // the Match of hosts that share delay and parallel
	MaxCrawlDelay Duration          `json:"max-crawl-delay"`
	Daily         Daily             `json:"daily"`
	Retries       int               `json:"retries"`
	MaxBody       Size              `json:"max-body,omitempty"`
	UserAgent     string            `json:"user-agent,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	Secret        string            `json:"secret,omitempty"` // its name
	Unverified    bool              `json:"unverified,omitempty"`
	Proxy         string            `json:"proxy"`
	Resolve       Place             `json:"resolve,omitzero"`
	Robots        string            `json:"robots"` // "obey", or the permission
	Paused        string            `json:"paused,omitempty"`
}

// Show returns the values for people and programs.
func (s Settings) Show() Shown {
	shown := Shown{
		Delay: Duration(s.Delay), Parallel: s.Parallel, Together: s.Group, MaxCrawlDelay: Duration(s.MaxCrawlDelay), Daily: s.Daily,
		Retries: s.Retries,
		MaxBody: Size(s.MaxBody), UserAgent: s.UserAgent, Headers: maps.Clone(s.Headers), Unverified: s.Unverified, Proxy: s.Proxy.String(),
		Resolve: s.Resolve, Robots: "obey", Paused: s.Paused,
	}
	if s.Secret != nil {
		shown.Secret = s.Secret.name
	}
	if s.Robots != nil {
		shown.Robots = s.Robots.String()
	}
	return shown
}

// View is what applies to a host, and the rules that say so: later ones have precedence.
type View struct {
	Host     string   `json:"host"`
	Settings Shown    `json:"settings"`
	Rules    []Listed `json:"rules"`
}

// View returns what applies to a host.
func (b *Book) View(host string) View {
	return View{Host: host, Settings: b.Of(host).Show(), Rules: b.For(host)}
}

// Lines returns what a rule sets, a "name=value" for each field, in the order of the documentation.
func (r Rule) Lines() []string {
	var lines []string
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, name+"="+value)
		}
	}
	if r.Delay != nil {
		add("delay", r.Delay.String())
	}
	if r.Parallel > 0 {
		add("parallel", strconv.Itoa(r.Parallel))
	}
	if r.Together {
		add("together", "true")
	}
	if r.MaxCrawlDelay != nil {
		add("max-crawl-delay", r.MaxCrawlDelay.String())
	}
	if r.Daily != nil {
		add("daily", r.Daily.String())
	}
	if r.Retries != nil {
		add("retries", strconv.Itoa(*r.Retries))
	}
	if r.MaxBody > 0 {
		size, _ := r.MaxBody.MarshalText() // does not fail
		add("max-body", string(size))
	}
	add("user-agent", r.UserAgent)
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		add("header."+name, r.Headers[name])
	}
	add("secret", r.Secret)
	if r.Unverified != nil {
		add("unverified", strconv.FormatBool(*r.Unverified))
	}
	add("proxy", r.Proxy)
	add("proxy-secret", r.ProxySecret)
	if r.ProxyResolves {
		add("proxy-resolves", "true")
	}
	if r.Resolve != nil {
		add("resolve", r.Resolve.String())
	}
	add("robots", r.Robots)
	add("robots-by", r.RobotsBy)
	add("robots-why", r.RobotsWhy)
	if r.Paused != nil {
		lines = append(lines, "paused="+*r.Paused)
	}
	add("note", r.Note)
	return lines
}
