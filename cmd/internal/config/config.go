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
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest/timetable"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/politeness"
	"odarchive/sparqlapi/operate/access"
)

// Config has all settings of a node.
type Config struct {
	Data      string // directory of the archive
	Base      string // prefix of the archive's own IRIs
	LogLevel  string // debug info warn error
	LogFormat string // text json
	LogFile   string // "" for stderr
	Examine   string // where files are examined: one of the constants below; "" is ExamineHere

	Bytes     string // URL of the bucket that holds closed packs; "" for the one that the archive remembers, BytesHere for none
	Cache     Bytes  // size of packs that are in the bucket and here; 0 for 10 GiB
	TakeBytes bool   // take the bucket from another copy of the archive

	KeepChanges    Bytes         // size of the change log of the triples; 0 for a size that depends on the store
	TextPredicates []string      // predicates whose objects are searched by word; none for those of the last time
	KeepVisits     time.Duration // how long visits and harvests without a change are listed one by one
	Hooks          []string      // addresses that are told of changes, each with what it selects (package hooks)
	HookSecret     string        // file with the secret of their signatures; "" for none

	Fetch     Fetch
	Serve     Serve
	Follow    Follow
	Evidence  Evidence
	Retention Retention
	Dumps     Dumps
	Backup    Backup
	Workers   Workers
}

// Where files are examined.
const (
	ExamineChildren  = "children"   // in processes of their own, which the kernel limits
	ExamineUnlimited = "unlimited"  // in processes of their own, without these limits
	ExamineHere      = "in-process" // in this process
)

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
	Resolve           []string // HOST=ADDR:PORT
	Schedule          string   // paper adaptive
	Bandwidth         Bytes    // per second; 0 = no limit
	Workers           int
	Sitemaps          bool          // read the sitemaps that robots.txt names, for hints of changes
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
	// ShutdownDelay is how long the server goes on after SIGTERM while /readyz says that it is not ready.
	ShutdownDelay time.Duration
}

// maxShutdownDelay bounds Serve.ShutdownDelay: supervisors kill a process that takes longer to end than they expect.
const maxShutdownDelay = 5 * time.Minute

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
		Backup:   Backup{Days: 30, Every: time.Second},
		Workers:  Workers{Listen: "127.0.0.1:4222", Lease: time.Minute},
		Fetch: Fetch{
			UserAgent: "odarchive", MaxBody: 100 << 20, MinInterval: time.Hour, MaxInterval: 30 * 24 * time.Hour, Round: 7 * 24 * time.Hour,
			HostDelay: 2 * time.Second, MaxCrawlDelay: 24 * time.Hour, Retries: crawler.DefaultRetries, Schedule: "adaptive", Workers: 128,
			Sitemaps: true, LDESInterval: time.Hour,
		},
		Serve: Serve{Listen: "127.0.0.1:8080", SocketMode: "0660", ScrubRate: 8 << 20, ShutdownDelay: 5 * time.Second, Queries: Queries{
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

// Resolved parses Resolve. Two places of one host are an error.
func (f Fetch) Resolved() ([]hosts.Rule, error) {
	var rules []hosts.Rule
	for _, text := range f.Resolve {
		r, err := hosts.ParseResolve(text)
		if err != nil {
			return nil, fmt.Errorf("--resolve: %w", err)
		}
		rules = append(rules, r)
	}
	if err := hosts.CheckTwice(rules); err != nil {
		return nil, fmt.Errorf("--resolve: %w", err)
	}
	return rules, nil
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
		return fmt.Errorf(
			"--query-wait %s, --query-timeout %s, --anonymous-timeout %s, --max-timeout %s: each must be positive, and the last not less "+
				"than the second", q.Wait, q.Timeout, q.AnonymousTimeout, q.MaxTimeout)
	case q.Memory <= 0 || q.AnonymousMemory <= 0 || q.MaxQuery <= 0 || q.MaxUpdate <= 0 || q.MaxGraph <= 0:
		return fmt.Errorf(
			"--query-memory %s, --anonymous-memory %s, --max-query %s, --max-update %s, --max-graph %s: each must be positive", q.Memory,
			q.AnonymousMemory, q.MaxQuery, q.MaxUpdate, q.MaxGraph)
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
		return fmt.Errorf("--min-interval %s and --max-interval %s: the first must be positive and not greater than the second",
			c.Fetch.MinInterval, c.Fetch.MaxInterval)
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
	case c.Examine != "" && c.Examine != ExamineChildren && c.Examine != ExamineUnlimited && c.Examine != ExamineHere:
		return fmt.Errorf("--examine %q: expected children, unlimited or in-process", c.Examine)
	case c.LogFormat != "text" && c.LogFormat != "json":
		return fmt.Errorf("--log-format %q: expected text or json", c.LogFormat)
	}
	if err := c.checkBytes(); err != nil {
		return err
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
	if err := c.Backup.check(); err != nil {
		return err
	}
	if err := c.checkPlaces(); err != nil {
		return err
	}
	if _, err := c.LogWitnesses(); err != nil {
		return err
	}
	if err := c.Serve.Queries.check(); err != nil {
		return err
	}
	if err := c.Workers.check(); err != nil {
		return err
	}
	if c.Serve.Closed && c.Serve.Token == "" && len(c.Serve.Tokens) == 0 {
		return errors.New("--closed needs a token: --token-file, or a [[token]] table in the settings file ('odarchive admin token -h')")
	}
	if (c.Serve.TLSCert == "") != (c.Serve.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key: one needs the other")
	}
	if d := c.Serve.ShutdownDelay; d < 0 || d > maxShutdownDelay {
		return fmt.Errorf("--shutdown-delay %s: expected a time from 0s to %s", d, maxShutdownDelay)
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
	if _, err := c.Fetch.Resolved(); err != nil {
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
	if err != nil || number == 0 || host == "" || strings.ContainsAny(host, " /@") || strings.Contains(host, ":") &&
		net.ParseIP(host) == nil {
		return "", fmt.Errorf("--resolver %q: expected HOST:PORT such as 192.0.2.1:53", f.Resolver)
	}
	return net.JoinHostPort(host, port), nil
}
