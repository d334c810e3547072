package crawl

import (
	"context"
	"fmt"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/web/hosts"
)

// newBook returns what the operator sets for single hosts: by the settings file, and by orders.
func (c *Crawl) newBook() (*hosts.Book, error) {
	settings := c.store.Config.Fetch
	secrets, err := hosts.ReadSecrets(settings.SecretsFile)
	if err != nil {
		return nil, err
	}
	base, err := hostDefaults(settings)
	if err != nil {
		return nil, err
	}
	flags, err := settings.Resolved()
	if err != nil {
		return nil, err
	}
	return hosts.NewBook(hosts.Options{DB: c.store.DB, Base: base, File: settings.Hosts, Flags: flags, Secrets: secrets,
		ProxySecret: settings.ProxySecret, Changed: c.hostsChanged, Log: c.store.Log})
}

// hostDefaults returns the settings of hosts without rules.
func hostDefaults(settings config.Fetch) (base hosts.Settings, err error) {
	base = hosts.Settings{
		Delay: settings.HostDelay, Parallel: 1, MaxCrawlDelay: settings.MaxCrawlDelay, Daily: settings.HostDaily, Retries: settings.Retries,
	}
	if base.Proxy, err = hosts.ParseProxy(settings.Proxy); err != nil {
		return base, fmt.Errorf("--proxy: %w", err)
	}
	if p := base.Proxy; p != nil {
		p.Global, p.Resolves = true, p.Resolves || settings.ProxyResolves
	}
	return base, nil
}

// hostsChanged makes changed settings of hosts effective at once. It is called while the Book is locked.
func (c *Crawl) hostsChanged() {
	if c.Gate != nil { // else nothing is running yet
		c.Gate.Robots.Refresh()
		c.Fetcher.Close() // connections to where a host was
	}
}

// WakeHosts lets hosts be asked again whose settings kept them from it, if these permit it now.
func (c *Crawl) WakeHosts(ctx context.Context) error {
	_, err := c.Frontier.Wake(ctx, func(host, why string) bool {
		switch why {
		case "paused":
			return c.Hosts.Of(host).Paused == ""
		case "daily", "proxy":
			return true // the gate knows whether it must wait
		}
		return false
	})
	return err
}

// maxLeaseJobs is the number of jobs of a lease of a host that permits several visits at a time.
const maxLeaseJobs = 32

// leaseJobs returns how many visits of a host are made under one lease, 0 for the usual number.
func (c *Crawl) leaseJobs(host string) int {
	if s := c.Hosts.Of(host); s.Parallel > 1 && s.Delay < time.Second {
		return maxLeaseJobs
	} else if s.Parallel > 1 {
		return s.Parallel
	}
	return 0
}

// files returns how many files of a host are known.
func (c *Crawl) files(host string) int {
	info, _, err := c.Frontier.Host(host)
	if err != nil {
		c.store.Log.Warn("the number of files of a host is not known", "host", host, "error", err)
	}
	return info.URLs
}
