package crawl

import (
	"context"
	"errors"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/politeness"
)

// ReloadCrawl makes a running crawl follow changed settings, whose Check has succeeded: what hosts are asked with, the hours, the
// bandwidth, the workers and the scope. The secrets file is read again. After an error, nothing has changed.
func (c *Crawl) ReloadCrawl(ctx context.Context, settings config.Fetch) error {
	hours, err := politeness.ParseHours(settings.Hours, time.Local)
	if err != nil {
		return err
	}
	secrets, err := hosts.ReadSecrets(settings.SecretsFile)
	if err != nil {
		return err
	}
	base, err := hostDefaults(settings)
	if err != nil {
		return err
	}
	if err := c.Hosts.Replace(base, settings.ProxySecret, settings.Hosts, secrets); err != nil {
		return err
	}
	c.hours.Store(&hours)
	c.Fetcher.SetBandwidth(float64(settings.Bandwidth))
	c.Pipeline.SetWorkers(settings.Workers)
	return errors.Join(c.Timetable.Reload(settings.Harvests), c.Scope.Reload(ctx, settings.ScopeAllow, settings.Denied()), c.WakeHosts(ctx))
}
