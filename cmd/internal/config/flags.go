package config

import (
	"fmt"
	"os"

	"odarchive/crawler/archive/hooks"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"
)

// GlobalFlags adds the flags of all commands.
func (c *Config) GlobalFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Data, "data", c.Data, "directory of the archive")
	f.StringVar(&c.Base, "base", c.Base,
		"prefix of the archive's own IRIs, and where a proxy serves it: with a path, as in https://example.org/archive/, links have that "+
			"path, and the proxy may remove it from requests or not")
	c.bytesFlags(f)
	f.Var(&c.KeepChanges, "keep-changes",
		"size of the log of changed triples to keep, 0 for about a quarter of the size of the triples, at most 1 GiB")
	f.StringArrayVar(&c.TextPredicates, "text-predicate", nil,
		"predicate whose literals arc:matches and text:query search, by default titles, descriptions, keywords, labels and column names "+
			"(repeatable, kept)")
	f.DurationVar(&c.KeepVisits, "keep-visits", c.KeepVisits,
		"how long visits that found nothing new are listed one by one; after that, those that found the same are one entry, and reports "+
			"of harvests that changed nothing go, except the last 20 of a source")
	f.StringVar(&c.Examine, "examine", ExamineChildren, "where files of others are read: children (processes that can do nothing else, "+
		"within limits of memory and processor time), unlimited (the same without limits of the kernel) or in-process")
	f.StringVar(&c.LogLevel, "log-level", c.LogLevel, "debug, info, warn or error")
	f.StringVar(&c.LogFile, "log-file", c.LogFile,
		"file to append the log to, instead of stderr; a server opens it again on SIGHUP, so that it can be rotated")
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
	f.DurationVar(&s.Round, "round", s.Round,
		"time in which a server plans as many visits as it has files: more of files that change often, fewer of others")
	f.DurationVar(&s.HostDelay, "host-delay", s.HostDelay, "minimum time between two requests to one host")
	c.hostFlags(f)
	f.StringArrayVar(&s.AllowNets, "allow-net", nil, "private network that may be fetched, as CIDR (repeatable)")
	f.BoolVar(&s.AllowPrivateHosts, "allow-private-hosts", s.AllowPrivateHosts, "fetch loopback and private addresses too")
	f.StringArrayVar(&s.UnverifiedHosts, "unverified-host", nil,
		"host, or host:port, whose TLS certificate is not verified; its fetches record that (repeatable)")
	f.BoolVar(&s.PerAddress, "per-address", s.PerAddress, "one connection to a network address at a time, over all its hosts")
	f.BoolVar(&s.PerDomain, "per-domain", s.PerDomain, "one connection to a registered domain at a time")
	f.StringVar(&s.Hours, "hours", s.Hours, "hours of the day in which to fetch, in local time, as 22:00-06:00")
	f.StringVar(&s.Resolver, "resolver", s.Resolver, "DNS server to use, as HOST:PORT")
	f.StringArrayVar(&s.Resolve, "resolve", nil,
		"where a host is, as HOST=ADDR or HOST=ADDR:PORT, whatever name servers say; it may be fetched there even if the address is "+
			"private (repeatable; 'odarchive admin host set HOST resolve=ADDR:PORT' keeps it in the archive)")
	f.StringVar(&s.Schedule, "schedule", s.Schedule,
		"when to visit again: adaptive (learns how each file changes) or paper (the ODArchive paper's rule)")
	f.Var(&s.Bandwidth, "bandwidth", "bytes per second over all hosts, 0 for no limit")
	f.BoolVar(&s.Sitemaps, "sitemaps", s.Sitemaps,
		"read the sitemaps that robots.txt files name, about once a day, and visit files earlier of which they rightly say that they "+
			"have changed")
	f.StringArrayVar(&s.ScopeAllow, "scope-allow", nil,
		"rule of what may be fetched, as domain:example.org or type:text/*; then nothing else may (repeatable; 'odarchive admin scope -h' "+
			"explains rules)")
	f.StringArrayVar(&s.ScopeDeny, "scope-deny", nil,
		"rule of what must not be fetched, as host:data.example.org or size:>1GiB (repeatable)")
	f.StringArrayVar(&s.NeverKeep, "never-keep", nil,
		"rule of what never becomes a version, wherever it comes from, as pattern:/people/ (repeatable; it is --scope-deny with for:keep)")
	f.StringArrayVar(&s.Honour, "honour", nil,
		"statement by which files are not kept: noarchive (X-Robots-Tag and meta robots) or tdm (TDM reservations, in headers and "+
			"/.well-known/tdmrep.json) (repeatable)")
	f.IntVar(&s.Workers, "workers", s.Workers, "number of hosts to fetch from at the same time")
	f.StringVar(&s.SoftwareRules, "software-rules", s.SoftwareRules,
		"file with rules for the software of sites, beside the built-in ones: what its addresses and pages are")
}

// HookFlags adds the flags of commands that tell others of changes.
func (c *Config) HookFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&c.Hooks, "hook", nil,
		"address to which each change is sent as JSON; after a space, what a feed selects, as in 'https://example.org/in "+
			"kind=schema,gone' (repeatable)")
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
	f.StringVar(&c.Fetch.KeepAnswers, "keep-answers", c.Fetch.KeepAnswers,
		"keep the portals' answers, byte for byte, in WARC files in this directory")
}

// ServeFlags adds the flags of commands that serve.
func (c *Config) ServeFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Serve.Listen, "listen", c.Serve.Listen,
		"what to serve on: HOST:PORT (port 0 for a free one), unix:PATH, or the sockets that systemd passes, as systemd or systemd:NAME; "+
			"without this setting, those of systemd if there are any")
	f.StringVar(&c.Serve.SocketMode, "socket-mode", c.Serve.SocketMode, "mode of the file of unix:PATH: who may connect")
	f.StringVar(&c.Serve.TLSCert, "tls-cert", c.Serve.TLSCert,
		"certificate, with those of its issuers, as PEM file: serve HTTPS (HTTP/2 and HTTP/1.1) at TCP addresses; read again when it "+
			"changes and on SIGHUP")
	f.StringVar(&c.Serve.TLSKey, "tls-key", c.Serve.TLSKey, "key of --tls-cert, as PEM file")
	f.StringArrayVar(&c.Serve.Service, "allow-service", nil,
		"SPARQL endpoint, or host, that SERVICE may use in anybody's queries; with the token, any may be used (repeatable)")
	f.DurationVar(&c.Serve.ShutdownDelay, "shutdown-delay", c.Serve.ShutdownDelay,
		"how long a server that gets SIGTERM goes on answering while /readyz is 503, so that load balancers send requests elsewhere; no "+
			"longer than needed if nothing has asked /readyz in the last two minutes")
	f.Var(&c.Serve.ScrubRate, "scrub-rate", "bytes per second to verify in the background, 0 for none")
	f.StringArrayVar(&c.Serve.Proxies, "trust-proxy", nil,
		"network of proxies, as CIDR, or unix for those at a unix socket, that say who asks in X-Forwarded-For, or where they do not "+
			"send that, in Forwarded (repeatable)")
	f.DurationVar(&c.Fetch.LDESInterval, "ldes-interval", c.Fetch.LDESInterval,
		"how often event streams (LDES) that were harvested are read again, 0 for never")
	f.StringVar(&c.Serve.Hub, "websub-hub", c.Serve.Hub, "WebSub hub that the feeds name, so that readers are told of changes at once")
	q := &c.Serve.Queries
	f.IntVar(&q.Slots, "query-slots", q.Slots, "costly queries at a time; cheap ones never wait for them")
	f.IntVar(&q.ClientSlots, "client-slots", q.ClientSlots, "costly queries of one client (an address, or the token) at a time")
	f.IntVar(&q.Queue, "query-queue", q.Queue, "queries that may wait for a slot, a quarter of them of one client")
	f.DurationVar(&q.Wait, "query-wait", q.Wait, "how long a query may wait for a slot")
	f.DurationVar(&q.Timeout, "query-timeout", q.Timeout,
		"time limit of a query or update that does not ask for one; the time in which a client reads does not count")
	f.DurationVar(&q.MaxTimeout, "max-timeout", q.MaxTimeout, "time limit that a client with the token may ask for")
	f.Var(&q.Memory, "query-memory", "memory of one query or update")
	f.Var(&q.TotalMemory, "total-memory", "memory of all queries and updates together, 0 for twice --query-memory")
	f.Var(&q.TotalTemp, "total-temp", "size of the temporary files, together, for rows that do not fit into memory; 0 for none")
	f.DurationVar(&q.AnonymousTimeout, "anonymous-timeout", q.AnonymousTimeout, "time limit that a client without the token may ask for")
	f.Var(&q.AnonymousMemory, "anonymous-memory", "memory of one query of a client without the token")
	f.Int64Var(&q.AnonymousRows, "anonymous-rows", q.AnonymousRows,
		"rows or triples of one result for a client without the token, 0 for no limit")
	f.Var(&q.MaxQuery, "max-query", "maximum size of the text of a query")
	f.Var(&q.MaxUpdate, "max-update", "maximum size of the text of an update")
	f.Var(&q.MaxGraph, "max-graph", "maximum size of a graph sent to the graph store")
	f.BoolVar(&q.Strict, "strict", q.Strict,
		"refuse queries that call functions which do not exist, and answers of SERVICE that may lack rows, instead of warning")
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
