package crawl

import (
	"context"

	"odarchive/crawler/address"
	"odarchive/crawler/web/hosts"
)

// The methods below implement control.HostSettings. Each order is durable when its method returns, and has effect from
// the next request on.

// HostRules returns all rules, those of the settings file and those that orders set.
func (c *Crawl) HostRules() []hosts.Listed { return c.Hosts.List() }

// ViewHost returns what applies to a host.
func (c *Crawl) ViewHost(name string) hosts.View { return c.Hosts.View(address.HostGroup(name)) }

// SetHosts changes what is set for the hosts that match selects.
func (c *Crawl) SetHosts(ctx context.Context, match string, values map[string]string) (hosts.Rule, error) {
	rule, err := c.Hosts.Change(ctx, match, func(r *hosts.Rule) error {
		for name, value := range values {
			if err := r.Set(name, value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return rule, err
	}
	return rule, c.WakeHosts(ctx)
}

// UnsetHosts removes what orders have set for match.
func (c *Crawl) UnsetHosts(ctx context.Context, match string) error {
	if err := c.Hosts.Remove(ctx, match); err != nil {
		return err
	}
	return c.WakeHosts(ctx)
}

// PauseHosts stops asking the hosts of match. Requests under way are finished.
func (c *Crawl) PauseHosts(ctx context.Context, match, why string) error {
	return c.Hosts.Pause(ctx, match, why)
}

// ResumeHosts ends a pause of the hosts of match.
func (c *Crawl) ResumeHosts(ctx context.Context, match string) error {
	if err := c.Hosts.Resume(ctx, match); err != nil {
		return err
	}
	return c.WakeHosts(ctx)
}

// ForgetHost removes what is remembered of a host: its back-off, robots.txt, answer times, and today's requests. Its
// URLs and versions stay.
func (c *Crawl) ForgetHost(ctx context.Context, name string) error {
	host := address.HostGroup(name)
	if err := c.Gate.Forget(ctx, host); err != nil {
		return err
	}
	_, err := c.Frontier.Wake(ctx, func(group, _ string) bool { return group == host })
	return err
}
