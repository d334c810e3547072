// Package config has the settings of the program. Flags have precedence over ODARCHIVE_* variables, and these over a
// TOML file.
//
// Defaults returns a usable Config. Every setting is a flag. The file and the environment use the same name
// (`max-body = "50MiB"`, ODARCHIVE_MAX_BODY=50MiB).
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest/timetable"
	"odarchive/crawler/hooks"
	"odarchive/crawler/scope"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/politeness"
	"odarchive/sparqlapi/access"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"
)

// Config has all settings of a node.
type Config struct {
	Data      string // directory of the archive
	Base      string // prefix of the archive's own IRIs
	LogLevel  string // debug info warn error
	LogFormat string // text json
	LogFile   string // "" for stderr

	KeepChanges    Bytes         // size of the change log of the triples; 0 for a size that depends on the store
	TextPredicates []string      // predicates whose objects are searched by word; none for those of the last time
	KeepVisits     time.Duration // how long visits and harvests without a change are listed one by one
	Hooks          []string      // addresses that are told of changes, each with what it selects (package hooks)
	HookSecret     string        // file with the secret of their signatures; "" for none

	Fetch     Fetch
	Serve     Serve
	Evidence  Evidence
	Retention Retention
	Dumps     Dumps
}

// Fetch has the settings of everything that fetches.
type Fetch struct {
	UserAgent         string
	Contact           string // e-mail or page, part of the User-Agent
	MaxBody           Bytes
	MinInterval       time.Duration // between two visits of one URL
	MaxInterval       time.Duration
	Round             time.Duration    // time in which as many visits are planned as there are URLs
	HostDelay         time.Duration    // between two requests to one host
	HostDaily         hosts.Daily      // requests to one host
	MaxCrawlDelay     time.Duration    // of robots.txt; longer ones are cut to it
	Retries           int              // of fetches that failed for a reason that may pass
	Proxy             string           // address; "" for none
	ProxySecret       string           // section of SecretsFile; "" for none
	ProxyResolves     bool             // the proxy resolves names
	SecretsFile       string           // "" for none
	Hosts             []hosts.Rule     // of the settings file
	Harvests          []timetable.Plan // of the settings file
	AllowNets         []string         // CIDR
	AllowPrivateHosts bool
	UnverifiedHosts   []string // hosts whose TLS certificate is not verified; fetches record that
	PerAddress        bool     // one connection to a network address at a time, over all its hosts
	PerDomain         bool     // one connection to a registered domain at a time
	Hours             string   // hours of fetching in local time, "22:00-06:00"; "" for all
	Resolver          string
	Schedule          string // paper adaptive
	Bandwidth         Bytes  // per second; 0 = no limit
	Workers           int
	Sitemaps          bool          // read the sitemaps that robots.txt names, for hints of changes
	WebSub            bool          // subscribe to hubs that documents name
	LDESInterval      time.Duration // how often event streams that were harvested are read again; 0 for never
	ScopeAllow        []string      // rules of what may be fetched (package scope)
	ScopeDeny         []string
	NeverKeep         []string // rules of what never becomes a version, without "for:keep"
	Honour            []string // statements of hosts, besides robots.txt, by which files are not kept (crawler.Statements)
	SoftwareRules     string   // file with an operator's rules for the software of sites, "" for none
	WARC              string   // directory of WARC files of what is fetched; "" for none
	KeepAnswers       string   // directory of WARC files of what portals answer to harvests; "" for none
}

// Serve has the settings of the server.
type Serve struct {
	Listen     string
	SocketMode string // of the file of a unix socket, octal
	TLSCert    string // file; "" for plain HTTP
	TLSKey     string
	Token      string
	Tokens     []access.Token // of the settings file
	Closed     bool           // reading needs a token
	Service    []string       // endpoints that SERVICE in anybody's queries may use
	Proxies    []string       // CIDR; requests from here say where they come from
	Queries    Queries
	Hub        string // address of a WebSub hub that feeds name; "" for none
	NoCrawl    bool
	ScrubRate  Bytes // per second; 0 = no scrub
}

// Queries has the limits of queries and updates over HTTP.
type Queries struct {
	Slots, ClientSlots, Queue int
	Wait                      time.Duration
	Timeout, MaxTimeout       time.Duration // usual, and what a client with the token may ask for
	Memory                    Bytes         // of one query
	TotalMemory               Bytes         // of all queries together; 0 for twice Memory
	TotalTemp                 Bytes         // of all queries' temporary files together; 0 for none
	AnonymousTimeout          time.Duration
	AnonymousMemory           Bytes
	AnonymousRows             int64
	MaxQuery, MaxUpdate       Bytes // texts
	MaxGraph                  Bytes // bodies of the Graph Store Protocol
	Strict                    bool
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{
		Data: "odarchive-data", Base: "http://localhost:8080/", LogLevel: "info", LogFormat: "text", KeepVisits: 90 * 24 * time.Hour,
		Evidence: Evidence{SignEvery: 24 * time.Hour},
		Dumps:    Dumps{Kinds: []string{catalog.DumpNQuads}, Keep: 1},
		Fetch: Fetch{
			UserAgent: "odarchive", MaxBody: 100 << 20, MinInterval: time.Hour, MaxInterval: 30 * 24 * time.Hour, Round: 7 * 24 * time.Hour,
			HostDelay: 2 * time.Second, MaxCrawlDelay: 24 * time.Hour, Retries: crawler.DefaultRetries, Schedule: "adaptive", Workers: 128, Sitemaps: true, LDESInterval: time.Hour,
		},
		Serve: Serve{Listen: "127.0.0.1:8080", SocketMode: "0660", ScrubRate: 8 << 20, Queries: Queries{
			Slots: 32, ClientSlots: 8, Queue: 256, Wait: 10 * time.Second,
			Timeout: time.Minute, MaxTimeout: 10 * time.Minute, Memory: 512 << 20, TotalTemp: 8 << 30,
			AnonymousTimeout: time.Minute, AnonymousMemory: 512 << 20,
			MaxQuery: 4 << 20, MaxUpdate: 64 << 20, MaxGraph: 32 << 20,
		}},
	}
}

// Denied returns the rules of the scope that deny: ScopeDeny and NeverKeep.
func (f Fetch) Denied() []string {
	all := slices.Clone(f.ScopeDeny)
	for _, rule := range f.NeverKeep {
		all = append(all, rule+" for:"+string(scope.Keep))
	}
	return all
}

// Networks parses AllowNets.
func (f Fetch) Networks() ([]netip.Prefix, error) { return networks("--allow-net", f.AllowNets) }

// Mode parses SocketMode.
func (s Serve) Mode() (fs.FileMode, error) {
	mode, err := strconv.ParseUint(s.SocketMode, 8, 32)
	if err != nil || mode > 0o777 || mode&0o600 != 0o600 {
		return 0, fmt.Errorf("--socket-mode %q: expected an octal number such as 0660, with 6 for the owner", s.SocketMode)
	}
	return fs.FileMode(mode), nil
}

// TrustedProxies parses Proxies. local reports whether "unix" is one of them.
func (s Serve) TrustedProxies() (nets []netip.Prefix, local bool, err error) {
	others := slices.DeleteFunc(slices.Clone(s.Proxies), func(one string) bool { return one == "unix" })
	nets, err = networks("--trust-proxy", others)
	return nets, len(others) < len(s.Proxies), err
}

// networks parses the values of a flag.
func networks(flag string, values []string) ([]netip.Prefix, error) {
	var nets []netip.Prefix
	for _, s := range values {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("%s %q is not a network such as 10.0.0.0/8", flag, s)
		}
		nets = append(nets, p)
	}
	return nets, nil
}

// check returns an error that names the first invalid setting.
func (q Queries) check() error {
	switch {
	case q.Slots < 1 || q.ClientSlots < 1 || q.Queue < 1:
		return fmt.Errorf("--query-slots %d, --client-slots %d, --query-queue %d: each must be at least 1", q.Slots, q.ClientSlots, q.Queue)
	case q.Wait <= 0 || q.Timeout <= 0 || q.AnonymousTimeout <= 0 || q.MaxTimeout < q.Timeout:
		return fmt.Errorf("--query-wait %s, --query-timeout %s, --anonymous-timeout %s, --max-timeout %s: each must be positive, and the last not less than the second", q.Wait, q.Timeout, q.AnonymousTimeout, q.MaxTimeout)
	case q.Memory <= 0 || q.AnonymousMemory <= 0 || q.MaxQuery <= 0 || q.MaxUpdate <= 0 || q.MaxGraph <= 0:
		return fmt.Errorf("--query-memory %s, --anonymous-memory %s, --max-query %s, --max-update %s, --max-graph %s: each must be positive", q.Memory, q.AnonymousMemory, q.MaxQuery, q.MaxUpdate, q.MaxGraph)
	case q.TotalMemory != 0 && q.TotalMemory < q.Memory:
		return fmt.Errorf("--query-memory %s, --total-memory %s: the second must be 0 or not less than the first", q.Memory, q.TotalMemory)
	case q.AnonymousRows < 0:
		return fmt.Errorf("--anonymous-rows %d: must not be negative", q.AnonymousRows)
	}
	return nil
}

// Check returns an error that names the first invalid setting.
func (c Config) Check() error {
	switch {
	case c.Fetch.MinInterval <= 0 || c.Fetch.MaxInterval < c.Fetch.MinInterval:
		return fmt.Errorf("--min-interval %s and --max-interval %s: the first must be positive and not greater than the second", c.Fetch.MinInterval, c.Fetch.MaxInterval)
	case c.KeepVisits < 0:
		return fmt.Errorf("--keep-visits %s: must not be negative", c.KeepVisits)
	case c.Fetch.MaxBody <= 0:
		return fmt.Errorf("--max-body %s: must be positive", c.Fetch.MaxBody)
	case c.Fetch.Schedule != "paper" && c.Fetch.Schedule != "adaptive":
		return fmt.Errorf("--schedule %q: expected paper or adaptive", c.Fetch.Schedule)
	case c.Fetch.Round <= 0:
		return fmt.Errorf("--round %s: expected a time such as 168h", c.Fetch.Round)
	case c.Fetch.Workers < 1:
		return fmt.Errorf("--workers %d: must be at least 1", c.Fetch.Workers)
	case c.LogFormat != "text" && c.LogFormat != "json":
		return fmt.Errorf("--log-format %q: expected text or json", c.LogFormat)
	}
	if _, err := politeness.ParseHours(c.Fetch.Hours, time.Local); err != nil {
		return fmt.Errorf("--hours %q: expected hours such as 22:00-06:00", c.Fetch.Hours)
	}
	if _, err := c.Fetch.NameServer(); err != nil {
		return err
	}
	if err := scope.ParseRules(c.Fetch.ScopeAllow, c.Fetch.Denied()); err != nil {
		return fmt.Errorf("--scope-allow, --scope-deny, --never-keep: %w", err)
	}
	if err := crawler.CheckStatements(c.Fetch.Honour); err != nil {
		return fmt.Errorf("--honour: %w", err)
	}
	if err := c.Retention.check(); err != nil {
		return err
	}
	if err := c.Dumps.check(); err != nil {
		return err
	}
	if err := c.Evidence.check(); err != nil {
		return err
	}
	if _, err := c.LogWitnesses(); err != nil {
		return err
	}
	if err := c.Serve.Queries.check(); err != nil {
		return err
	}
	if c.Serve.Closed && c.Serve.Token == "" && len(c.Serve.Tokens) == 0 {
		return errors.New("--closed needs a token: --token-file, or a [[token]] table in the settings file ('odarchive token -h')")
	}
	if (c.Serve.TLSCert == "") != (c.Serve.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key: one needs the other")
	}
	if _, err := c.Serve.Mode(); err != nil {
		return err
	}
	if _, _, err := c.Serve.TrustedProxies(); err != nil {
		return err
	}
	if _, _, err := c.ParseHooks(); err != nil {
		return err
	}
	if err := c.Fetch.checkHosts(); err != nil {
		return err
	}
	_, err := c.Fetch.Networks()
	return err
}

// NameServer returns the address of the DNS server to use, with its port (default 53); "" for the system's.
func (f Fetch) NameServer() (string, error) {
	if f.Resolver == "" {
		return "", nil
	}
	host, port, err := net.SplitHostPort(f.Resolver)
	if err != nil { // no port, or a bare IPv6 address
		host, port = strings.Trim(f.Resolver, "[]"), "53"
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || host == "" || strings.ContainsAny(host, " /@") || strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return "", fmt.Errorf("--resolver %q: expected HOST:PORT such as 192.0.2.1:53", f.Resolver)
	}
	return net.JoinHostPort(host, port), nil
}

// GlobalFlags adds the flags of all commands.
func (c *Config) GlobalFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Data, "data", c.Data, "directory of the archive")
	f.StringVar(&c.Base, "base", c.Base, "prefix of the archive's own IRIs, and where a proxy serves it: with a path, as in https://example.org/archive/, links have that path, and the proxy may remove it from requests or not")
	f.Var(&c.KeepChanges, "keep-changes", "size of the log of changed triples to keep, 0 for about half the size of the triples, at most 1 GiB")
	f.StringArrayVar(&c.TextPredicates, "text-predicate", nil, "predicate whose literals arc:matches and text:query search, by default titles, descriptions, keywords, labels and column names (repeatable, kept)")
	f.DurationVar(&c.KeepVisits, "keep-visits", c.KeepVisits, "how long visits that found nothing new are listed one by one; after that, those that found the same are one entry, and reports of harvests that changed nothing go, except the last 20 of a source")
	f.StringVar(&c.LogLevel, "log-level", c.LogLevel, "debug, info, warn or error")
	f.StringVar(&c.LogFile, "log-file", c.LogFile, "file to append the log to, instead of stderr; a server opens it again on SIGHUP, so that it can be rotated")
	f.StringVar(&c.LogFormat, "log-format", c.LogFormat, "text or json")
}

// FetchFlags adds the flags of commands that fetch.
func (c *Config) FetchFlags(f *pflag.FlagSet) {
	s := &c.Fetch
	f.StringVar(&s.UserAgent, "user-agent", s.UserAgent, "product token of the crawler")
	f.StringVar(&s.Contact, "contact", s.Contact, "e-mail address or page for owners of hosts")
	f.Var(&s.MaxBody, "max-body", "maximum size of a file")
	f.DurationVar(&s.MinInterval, "min-interval", s.MinInterval, "minimum time between two visits of one URL")
	f.DurationVar(&s.MaxInterval, "max-interval", s.MaxInterval, "maximum time between two visits of one URL")
	f.DurationVar(&s.Round, "round", s.Round, "time in which a server plans as many visits as it has files: more of files that change often, fewer of others")
	f.DurationVar(&s.HostDelay, "host-delay", s.HostDelay, "minimum time between two requests to one host")
	c.hostFlags(f)
	f.StringArrayVar(&s.AllowNets, "allow-net", nil, "private network that may be fetched, as CIDR (repeatable)")
	f.BoolVar(&s.AllowPrivateHosts, "allow-private-hosts", s.AllowPrivateHosts, "fetch loopback and private addresses too")
	f.StringArrayVar(&s.UnverifiedHosts, "unverified-host", nil, "host, or host:port, whose TLS certificate is not verified; its fetches record that (repeatable)")
	f.BoolVar(&s.PerAddress, "per-address", s.PerAddress, "one connection to a network address at a time, over all its hosts")
	f.BoolVar(&s.PerDomain, "per-domain", s.PerDomain, "one connection to a registered domain at a time")
	f.StringVar(&s.Hours, "hours", s.Hours, "hours of the day in which to fetch, in local time, as 22:00-06:00")
	f.StringVar(&s.Resolver, "resolver", s.Resolver, "DNS server to use, as HOST:PORT")
	f.StringVar(&s.Schedule, "schedule", s.Schedule, "when to visit again: adaptive (learns how each file changes) or paper (the ODArchive paper's rule)")
	f.Var(&s.Bandwidth, "bandwidth", "bytes per second over all hosts, 0 for no limit")
	f.BoolVar(&s.Sitemaps, "sitemaps", s.Sitemaps, "read the sitemaps that robots.txt files name, about once a day, and visit files earlier of which they rightly say that they have changed")
	f.StringArrayVar(&s.ScopeAllow, "scope-allow", nil, "rule of what may be fetched, as domain:example.org or type:text/*; then nothing else may (repeatable; 'odarchive scope -h' explains rules)")
	f.StringArrayVar(&s.ScopeDeny, "scope-deny", nil, "rule of what must not be fetched, as host:data.example.org or size:>1GiB (repeatable)")
	f.StringArrayVar(&s.NeverKeep, "never-keep", nil, "rule of what never becomes a version, wherever it comes from, as pattern:/people/ (repeatable; it is --scope-deny with for:keep)")
	f.StringArrayVar(&s.Honour, "honour", nil, "statement by which files are not kept: noarchive (X-Robots-Tag and meta robots) or tdm (TDM reservations, in headers and /.well-known/tdmrep.json) (repeatable)")
	f.IntVar(&s.Workers, "workers", s.Workers, "number of hosts to fetch from at the same time")
	f.StringVar(&s.SoftwareRules, "software-rules", s.SoftwareRules, "file with rules for the software of sites, beside the built-in ones: what its addresses and pages are")
}

// HookFlags adds the flags of commands that tell others of changes.
func (c *Config) HookFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&c.Hooks, "hook", nil, "address to which each change is sent as JSON; after a space, what a feed selects, as in 'https://example.org/in kind=schema,gone' (repeatable)")
	f.StringVar(&c.HookSecret, "hook-secret-file", c.HookSecret, "file with the secret that signs what hooks are sent (Standard Webhooks)")
}

// ParseHooks parses Hooks and reads HookSecret, which is nil if there is none.
func (c Config) ParseHooks() (list []hooks.Hook, secret []byte, err error) {
	for _, text := range c.Hooks {
		h, err := hooks.Parse(text)
		if err != nil {
			return nil, nil, fmt.Errorf("--hook: %w", err)
		}
		list = append(list, h)
	}
	if c.HookSecret == "" {
		return list, nil, nil
	}
	raw, err := os.ReadFile(c.HookSecret)
	if err == nil {
		secret, err = hooks.ParseSecret(string(raw))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--hook-secret-file: %w", err)
	}
	return list, secret, nil
}

// WARCFlag adds the flag of commands that crawl.
func (c *Config) WARCFlag(f *pflag.FlagSet) {
	f.StringVar(&c.Fetch.WARC, "warc", c.Fetch.WARC, "also write what is fetched to WARC files in this directory")
}

// AnswersFlag adds the flag of commands that harvest.
func (c *Config) AnswersFlag(f *pflag.FlagSet) {
	f.StringVar(&c.Fetch.KeepAnswers, "keep-answers", c.Fetch.KeepAnswers, "keep the portals' answers, byte for byte, in WARC files in this directory")
}

// ServeFlags adds the flags of commands that serve.
func (c *Config) ServeFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Serve.Listen, "listen", c.Serve.Listen, "what to serve on: HOST:PORT (port 0 for a free one), unix:PATH, or the sockets that systemd passes, as systemd or systemd:NAME; without this setting, those of systemd if there are any")
	f.StringVar(&c.Serve.SocketMode, "socket-mode", c.Serve.SocketMode, "mode of the file of unix:PATH: who may connect")
	f.StringVar(&c.Serve.TLSCert, "tls-cert", c.Serve.TLSCert, "certificate, with those of its issuers, as PEM file: serve HTTPS (HTTP/2 and HTTP/1.1) at TCP addresses; read again when it changes and on SIGHUP")
	f.StringVar(&c.Serve.TLSKey, "tls-key", c.Serve.TLSKey, "key of --tls-cert, as PEM file")
	f.StringArrayVar(&c.Serve.Service, "allow-service", nil, "SPARQL endpoint, or host, that SERVICE may use in anybody's queries; with the token, any may be used (repeatable)")
	f.Var(&c.Serve.ScrubRate, "scrub-rate", "bytes per second to verify in the background, 0 for none")
	f.StringArrayVar(&c.Serve.Proxies, "trust-proxy", nil, "network of proxies, as CIDR, or unix for those at a unix socket, that say who asks in X-Forwarded-For, or where they do not send that, in Forwarded (repeatable)")
	f.DurationVar(&c.Fetch.LDESInterval, "ldes-interval", c.Fetch.LDESInterval, "how often event streams (LDES) that were harvested are read again, 0 for never")
	f.BoolVar(&c.Fetch.WebSub, "websub", c.Fetch.WebSub, "subscribe to the WebSub hubs that files, pages and feeds name, so that changes are known at once; hubs must reach the address of --base")
	f.StringVar(&c.Serve.Hub, "websub-hub", c.Serve.Hub, "WebSub hub that the feeds name, so that readers are told of changes at once")
	q := &c.Serve.Queries
	f.IntVar(&q.Slots, "query-slots", q.Slots, "costly queries at a time; cheap ones never wait for them")
	f.IntVar(&q.ClientSlots, "client-slots", q.ClientSlots, "costly queries of one client (an address, or the token) at a time")
	f.IntVar(&q.Queue, "query-queue", q.Queue, "queries that may wait for a slot, a quarter of them of one client")
	f.DurationVar(&q.Wait, "query-wait", q.Wait, "how long a query may wait for a slot")
	f.DurationVar(&q.Timeout, "query-timeout", q.Timeout, "time limit of a query or update that does not ask for one; the time in which a client reads does not count")
	f.DurationVar(&q.MaxTimeout, "max-timeout", q.MaxTimeout, "time limit that a client with the token may ask for")
	f.Var(&q.Memory, "query-memory", "memory of one query or update")
	f.Var(&q.TotalMemory, "total-memory", "memory of all queries and updates together, 0 for twice --query-memory")
	f.Var(&q.TotalTemp, "total-temp", "size of the temporary files, together, for rows that do not fit into memory; 0 for none")
	f.DurationVar(&q.AnonymousTimeout, "anonymous-timeout", q.AnonymousTimeout, "time limit that a client without the token may ask for")
	f.Var(&q.AnonymousMemory, "anonymous-memory", "memory of one query of a client without the token")
	f.Int64Var(&q.AnonymousRows, "anonymous-rows", q.AnonymousRows, "rows or triples of one result for a client without the token, 0 for no limit")
	f.Var(&q.MaxQuery, "max-query", "maximum size of the text of a query")
	f.Var(&q.MaxUpdate, "max-update", "maximum size of the text of an update")
	f.Var(&q.MaxGraph, "max-graph", "maximum size of a graph sent to the graph store")
	f.BoolVar(&q.Strict, "strict", q.Strict, "refuse queries that call functions which do not exist, and answers of SERVICE that may lack rows, instead of warning")
	f.BoolVar(&c.Serve.Closed, "closed", c.Serve.Closed, "also reading needs a token with the right to read")
	c.TokenFlags(f, "secret that permits adding, crawling and updating over HTTP")
}

// Bytes is a size, written as 100MiB or 2GB. It implements pflag.Value.
type Bytes int64

// Set parses a size.
func (b *Bytes) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n > 1<<62 {
		return fmt.Errorf("%q is not a size such as 100MiB", s)
	}
	*b = Bytes(n)
	return nil
}

// String formats the size in binary units.
func (b Bytes) String() string { return humanize.IBytes(uint64(b)) }

// Type returns the word for the value in help texts.
func (b Bytes) Type() string { return "size" }
