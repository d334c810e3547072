// Package config is what a person may set: flags, ODARCHIVE_* variables and a TOML file, in that order of weight.
//
// A Config with only its zero values is usable after Defaults. Every setting is a flag first; the file and the
// environment know it by the same name (`max-body = "50MiB"`, ODARCHIVE_MAX_BODY=50MiB), so there is one list to read.
package config

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/web/politeness"

	"github.com/BurntSushi/toml"
	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"
)

// Config is every setting of a node.
type Config struct {
	Data      string // directory of the archive
	Base      string // IRI below which the archive mints its own
	LogLevel  string // debug info warn error
	LogFormat string // text json

	KeepChanges Bytes // of the change log of the triples, 0 = as much as the store's size calls for

	Fetch Fetch
	Serve Serve
}

// Fetch is how the archive behaves towards other people's hosts.
type Fetch struct {
	UserAgent         string
	Contact           string // e-mail or page, part of the User-Agent
	MaxBody           Bytes
	MinInterval       time.Duration // between two visits of one URL
	MaxInterval       time.Duration
	Round             time.Duration // in which as many visits are planned as there are URLs
	HostDelay         time.Duration // between two requests to one host
	AllowNets         []string      // CIDR
	AllowPrivateHosts bool
	UnverifiedHosts   []string // whose TLS certificate is not verified, which their fetches record
	PerAddress        bool     // one connection to a network address at a time, whatever its hosts are called
	PerDomain         bool     // one connection to a registered domain at a time
	Hours             string   // of the day in which fetching is allowed, local time, "22:00-06:00"; "": all
	Resolver          string
	Schedule          string // paper adaptive
	Bandwidth         Bytes  // a second, 0 = no limit
	Workers           int
}

// Serve is how the archive is served.
type Serve struct {
	Listen    string
	Token     string
	Service   []string // endpoints that anybody's SERVICE may ask
	NoCrawl   bool
	ScrubRate Bytes // a second, 0 = no scrub
}

// Defaults of every setting.
func Defaults() Config {
	return Config{
		Data: "odarchive-data", Base: "http://localhost:8080/", LogLevel: "info", LogFormat: "text",
		Fetch: Fetch{
			UserAgent: "odarchive", MaxBody: 100 << 20, MinInterval: time.Hour, MaxInterval: 30 * 24 * time.Hour, Round: 7 * 24 * time.Hour,
			HostDelay: 2 * time.Second, Schedule: "adaptive", Workers: 128,
		},
		Serve: Serve{Listen: "127.0.0.1:8080", ScrubRate: 8 << 20},
	}
}

// Networks parses AllowNets.
func (f Fetch) Networks() ([]netip.Prefix, error) {
	var nets []netip.Prefix
	for _, s := range f.AllowNets {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("--allow-net %q is not a network such as 10.0.0.0/8", s)
		}
		nets = append(nets, p)
	}
	return nets, nil
}

// Check says in one sentence what is wrong with a setting.
func (c Config) Check() error {
	switch {
	case c.Fetch.MinInterval <= 0 || c.Fetch.MaxInterval < c.Fetch.MinInterval:
		return fmt.Errorf("--min-interval %s and --max-interval %s: the first must be more than nothing and not above the second", c.Fetch.MinInterval, c.Fetch.MaxInterval)
	case c.Fetch.MaxBody <= 0:
		return fmt.Errorf("--max-body %s: must be more than nothing", c.Fetch.MaxBody)
	case c.Fetch.Schedule != "paper" && c.Fetch.Schedule != "adaptive":
		return fmt.Errorf("--schedule %q: expected paper or adaptive", c.Fetch.Schedule)
	case c.Fetch.Round <= 0:
		return fmt.Errorf("--round %s: expected a time such as 168h", c.Fetch.Round)
	case c.Fetch.Workers < 1:
		return fmt.Errorf("--workers %d: at least one is needed", c.Fetch.Workers)
	case c.LogFormat != "text" && c.LogFormat != "json":
		return fmt.Errorf("--log-format %q: expected text or json", c.LogFormat)
	}
	if _, err := politeness.ParseHours(c.Fetch.Hours, time.Local); err != nil {
		return fmt.Errorf("--hours %q: expected hours such as 22:00-06:00", c.Fetch.Hours)
	}
	if _, err := c.Fetch.NameServer(); err != nil {
		return err
	}
	_, err := c.Fetch.Networks()
	return err
}

// NameServer returns the address of the DNS server to ask, with its port (53 if none is given); "" for the system's.
func (f Fetch) NameServer() (string, error) {
	if f.Resolver == "" {
		return "", nil
	}
	host, port, err := net.SplitHostPort(f.Resolver)
	if err != nil { // no port, or an IPv6 address by itself
		host, port = strings.Trim(f.Resolver, "[]"), "53"
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || host == "" || strings.ContainsAny(host, " /@") || strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return "", fmt.Errorf("--resolver %q: expected HOST:PORT such as 192.0.2.1:53", f.Resolver)
	}
	return net.JoinHostPort(host, port), nil
}

// GlobalFlags, FetchFlags and ServeFlags bind the settings to a command's flags.
func (c *Config) GlobalFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Data, "data", c.Data, "directory of the archive")
	f.StringVar(&c.Base, "base", c.Base, "address below which the archive's own IRIs stand")
	f.Var(&c.KeepChanges, "keep-changes", "how much of the log of changed triples is kept, 0 for about the size of the triples themselves, at most 1 GiB")
	f.StringVar(&c.LogLevel, "log-level", c.LogLevel, "debug, info, warn or error")
	f.StringVar(&c.LogFormat, "log-format", c.LogFormat, "text or json")
}

func (c *Config) FetchFlags(f *pflag.FlagSet) {
	s := &c.Fetch
	f.StringVar(&s.UserAgent, "user-agent", s.UserAgent, "product token the crawler calls itself by")
	f.StringVar(&s.Contact, "contact", s.Contact, "e-mail or page for hosts that want to reach you")
	f.Var(&s.MaxBody, "max-body", "largest file that is fetched")
	f.DurationVar(&s.MinInterval, "min-interval", s.MinInterval, "shortest time between two visits of one URL")
	f.DurationVar(&s.MaxInterval, "max-interval", s.MaxInterval, "longest time between two visits of one URL")
	f.DurationVar(&s.Round, "round", s.Round, "time in which a running server plans as many visits as it knows files: more of those that change often, fewer of others")
	f.DurationVar(&s.HostDelay, "host-delay", s.HostDelay, "shortest time between two requests to one host")
	f.StringArrayVar(&s.AllowNets, "allow-net", nil, "private network that may be fetched, as CIDR (repeatable)")
	f.BoolVar(&s.AllowPrivateHosts, "allow-private-hosts", s.AllowPrivateHosts, "fetch loopback and private addresses too")
	f.StringArrayVar(&s.UnverifiedHosts, "unverified-host", nil, "host, or host:port, whose TLS certificate is not verified, which its fetches record (repeatable)")
	f.BoolVar(&s.PerAddress, "per-address", s.PerAddress, "one connection to a network address at a time, whatever its hosts are called")
	f.BoolVar(&s.PerDomain, "per-domain", s.PerDomain, "one connection to a registered domain at a time")
	f.StringVar(&s.Hours, "hours", s.Hours, "hours of the day in which to fetch, in local time, as 22:00-06:00")
	f.StringVar(&s.Resolver, "resolver", s.Resolver, "DNS server to ask, as HOST:PORT")
	f.StringVar(&s.Schedule, "schedule", s.Schedule, "when to visit again: adaptive (learns how each file changes) or paper (the ODArchive paper's rule)")
	f.Var(&s.Bandwidth, "bandwidth", "bytes a second over all hosts, 0 for no limit")
	f.IntVar(&s.Workers, "workers", s.Workers, "hosts that are fetched from at the same time")
}

func (c *Config) ServeFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Serve.Listen, "listen", c.Serve.Listen, "address to serve on, as HOST:PORT (port 0: a free one)")
	f.StringArrayVar(&c.Serve.Service, "allow-service", nil, "SPARQL endpoint, or host, that SERVICE may ask for anybody; the token holder may ask any (repeatable)")
	f.Var(&c.Serve.ScrubRate, "scrub-rate", "bytes a second that are read again in the background and compared with their checksums, 0 for none")
	f.StringVar(&c.Serve.Token, "token", c.Serve.Token, "secret that allows to add, crawl and update over HTTP")
}

// Load fills every flag that was not given from the environment, else from the file (may be ""). A name that no flag
// of the program has is an error, so that a misspelt setting does not go unnoticed.
func Load(flags *pflag.FlagSet, file string, known func(name string) bool) error {
	settings := map[string]any{}
	if file != "" {
		if _, err := toml.DecodeFile(file, &settings); err != nil {
			return fmt.Errorf("config file %s: %w", file, err)
		}
		for name := range settings {
			if !known(name) {
				return fmt.Errorf("config file %s: there is no setting %q", file, name)
			}
		}
	}
	var first error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || first != nil {
			return
		}
		if v, ok := os.LookupEnv("ODARCHIVE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))); ok {
			if err := flags.Set(f.Name, v); err != nil {
				first = fmt.Errorf("environment: --%s: %w", f.Name, err)
			}
		} else if v, ok := settings[f.Name]; ok {
			first = setFromFile(flags, f.Name, v, file)
		}
	})
	return first
}

func setFromFile(flags *pflag.FlagSet, name string, value any, file string) error {
	values, isList := value.([]any)
	if !isList {
		values = []any{value}
	}
	for _, v := range values {
		if err := flags.Set(name, fmt.Sprint(v)); err != nil {
			return fmt.Errorf("config file %s: %s: %w", file, name, err)
		}
	}
	return nil
}

// Bytes is a size that people write as 100MiB or 2GB. It is a flag value.
type Bytes int64

func (b *Bytes) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n > 1<<62 {
		return fmt.Errorf("%q is not a size such as 100MiB", s)
	}
	*b = Bytes(n)
	return nil
}

func (b Bytes) String() string { return humanize.IBytes(uint64(b)) }

// Type is what help shows for the flag's value.
func (b Bytes) Type() string { return "size" }
