package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"odarchive/crawler/web/hosts"

	"github.com/spf13/pflag"
)

// hostTable is the name of the tables in the settings file that concern single hosts.
const hostTable = "host"

// hostFlags adds the flags that say how hosts are asked, beside --host-delay.
func (c *Config) hostFlags(f *pflag.FlagSet) {
	s := &c.Fetch
	f.DurationVar(&s.MaxCrawlDelay, "max-crawl-delay", s.MaxCrawlDelay,
		"longest Crawl-delay of robots.txt that is kept; longer ones are cut to it")
	f.IntVar(&s.Retries, "retries", s.Retries,
		"how often a fetch that failed for a reason that may pass is retried before the schedule decides, 0 to 5")
	f.Var(dailyValue{&s.HostDaily}, "host-daily",
		"requests a day to one host at most: a number, or a share of its files such as 20% (at least 100); 0 for no limit")
	f.StringVar(&s.Proxy, "proxy", s.Proxy,
		"proxy of all requests, as http://HOST:PORT, https://HOST:PORT, socks5://HOST:PORT or socks5h://HOST:PORT")
	f.StringVar(&s.ProxySecret, "proxy-secret", s.ProxySecret, "section of the secrets file with the user and password of the proxy")
	f.BoolVar(&s.ProxyResolves, "proxy-resolves", s.ProxyResolves,
		"the proxy resolves names; only what this program can resolve, too, is then known not to be a private address")
	c.SecretsFlag(f)
}

// SecretsFlag adds the flag of commands that need logins.
func (c *Config) SecretsFlag(f *pflag.FlagSet) {
	f.StringVar(&c.Fetch.SecretsFile, "secrets-file", c.Fetch.SecretsFile,
		"TOML file with logins, cookies and client certificates for hosts and proxies, which only its owner may read")
}

// dailyValue is a flag of a hosts.Daily.
type dailyValue struct{ *hosts.Daily }

func (d dailyValue) Set(text string) error { return d.UnmarshalText([]byte(text)) }
func (d dailyValue) Type() string          { return "limit" }

// checkHosts returns an error that names the first invalid setting of these flags.
func (f Fetch) checkHosts() error {
	switch {
	case !isHeaderText(f.UserAgent) || !isHeaderText(f.Contact):
		return fmt.Errorf("--user-agent %q, --contact %q: a header of every request has them, which takes one line of text", f.UserAgent,
			f.Contact)
	case f.HostDelay < 0:
		return fmt.Errorf("--host-delay %s: must not be negative", f.HostDelay)
	case f.LDESInterval < 0:
		return fmt.Errorf("--ldes-interval %s: must not be negative", f.LDESInterval)
	case f.MaxCrawlDelay < 0:
		return fmt.Errorf("--max-crawl-delay %s: must not be negative", f.MaxCrawlDelay)
	case f.Retries < 0 || f.Retries > hosts.MaxRetries:
		return fmt.Errorf("--retries %d: expected a number from 0 to %d", f.Retries, hosts.MaxRetries)
	case f.ProxySecret != "" && f.SecretsFile == "":
		return errors.New("--proxy-secret names a section of --secrets-file, which is not given")
	}
	if _, err := hosts.ParseProxy(f.Proxy); err != nil {
		return fmt.Errorf("--proxy: %w", err)
	}
	return nil
}

// isHeaderText reports whether requests can have s in a header. With anything else every request would fail, and the
// records would blame the hosts.
func isHeaderText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// HostRules returns the [[host]] tables of a settings file, none if file is nil.
func HostRules(file *File) ([]hosts.Rule, error) {
	if file == nil {
		return nil, nil
	}
	var tables struct {
		Host []hosts.Rule `toml:"host"`
	}
	meta, err := file.decode(&tables)
	if err != nil {
		return nil, err
	}
	if err := file.check(hostTable, reflect.TypeOf(tables), meta.Undecoded()); err != nil {
		return nil, err
	}
	for _, r := range tables.Host {
		if err := r.Check(); err != nil {
			return nil, file.errorf("%w", err)
		}
	}
	if err := hosts.CheckTwice(tables.Host); err != nil {
		return nil, file.errorf("%w", err)
	}
	return tables.Host, nil
}
