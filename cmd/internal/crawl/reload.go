package crawl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/politeness"
)

// ReloadCrawl makes a running crawl follow changed settings, whose Check has succeeded: what hosts are asked with, the
// hours, the bandwidth, the workers and the scope. The secrets file is read again. After an error, nothing has changed,
// unless it is an ErrPartly.
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
	var failed error
	for _, step := range []struct {
		of  string
		err error
	}{
		{"the [[harvest]] tables", c.Timetable.Reload(settings.Harvests)},
		{"the scope", c.Scope.Reload(ctx, settings.ScopeAllow, settings.Denied())},
		{"URLs that wait for their hosts", c.WakeHosts(ctx)},
	} {
		if step.err != nil {
			failed = errors.Join(failed, fmt.Errorf("%w: not those of %s: %w", ErrPartly, step.of, step.err))
		}
	}
	return failed
}

// ErrPartly means that the settings of hosts, the hours, the bandwidth and the workers are in force, and something else
// is not.
var ErrPartly = errors.New("some settings are in force")
