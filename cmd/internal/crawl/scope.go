package crawl

import (
	"context"
	"fmt"
	"time"

	"odarchive/crawler/queue/scope"
)

// keyScopedBy is the setting of the store that names the rules by which the queue was last gone through.
const keyScopedBy = "crawl/scoped-by"

// Rescope goes through the queue if the rules of the scope have changed since the last time: files that are out of
// scope now are not due any more, and those that are in scope again are due.
func (c *Crawl) Rescope(ctx context.Context) error {
	now := c.Scope.Fingerprint()
	before, err := c.store.Setting(keyScopedBy)
	if err != nil || string(before) == now || before == nil && c.Scope.Empty() {
		return err
	}
	out, in, err := c.Frontier.Rescope(ctx, scope.IsRefusal)
	if err != nil {
		return err
	}
	if out+in > 0 {
		c.store.Log.Info("the scope has changed", "out of it", out, "in it again", in)
	}
	return c.store.SetSetting(ctx, keyScopedBy, now)
}

// saveEvery is how often counts of refusals are written.
const saveEvery = time.Minute

// KeepScoped calls Rescope whenever the rules change, and saves counts of what they refused, until ctx ends.
func (c *Crawl) KeepScoped(ctx context.Context) error {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		changed := c.Scope.Changed()
		if err := c.Rescope(ctx); err != nil {
			return err
		}
		select {
		case <-changed:
			select { // rules that are added one after the other are gone through together
			case <-time.After(time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
		case <-tick.C:
			if err := c.Scope.Save(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// inScope returns politeness.Transport.Check for requests that are not visits.
func (c *Crawl) inScope(area scope.Area) func(url string) error {
	return func(url string) error {
		if why := c.Scope.Refuses(scope.Question{Area: area, URL: url, Size: -1}); why != "" {
			return fmt.Errorf("%s is %s", url, why)
		}
		return nil
	}
}
