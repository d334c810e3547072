package crawl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/retention"
)

const (
	maxRetained    = 100_000 // versions of one run
	retainedAtOnce = 200     // versions between two looks at the context
)

// ReloadRetention makes a running server follow changed rules of retention, which were checked, and their time.
func (c *Crawl) ReloadRetention(settings config.Retention) {
	c.retention.Store(&settings)
	select {
	case c.retentionChanged <- struct{}{}:
	default: // KeepRetained has not looked since the change before
	}
}

// PlanRetention returns what the rules of retention do not keep, and changes nothing.
func (c *Crawl) PlanRetention(ctx context.Context) (catalog.RetentionPlan, error) {
	p, err := c.planRetention(ctx, maxRetained)
	return p.plan, err
}

// ApplyRetention takes away what the rules of retention do not keep: the versions are withdrawn with the status 410 and
// the rule as the reason, and KeepWithdrawn removes their bytes. The same bytes may become a version again.
func (c *Crawl) ApplyRetention(ctx context.Context) (catalog.RetentionPlan, error) {
	return c.applyRetention(ctx, maxRetained)
}

func (c *Crawl) applyRetention(ctx context.Context, most int) (catalog.RetentionPlan, error) {
	p, err := c.planRetention(ctx, most)
	if err != nil {
		return p.plan, err
	}
	for len(p.gone) > 0 {
		n, versions := 0, 0
		for n < len(p.gone) && (n == 0 || versions+len(p.gone[n]) <= retainedAtOnce) {
			versions += len(p.gone[n])
			n++
		}
		for rule, groups := range byRule(p.gone[:n]) {
			w := catalog.Withdrawal{At: c.store.Clock().UTC(), Reason: p.rules[rule].Reason(), By: catalog.ByRetention, Status: 410}
			if err := c.retainNot(ctx, groups, w); err != nil {
				return p.plan, fmt.Errorf("apply retention: %w", err)
			}
		}
		p.gone = p.gone[n:]
	}
	p.plan.Applied = true
	return p.plan, nil
}

// retainNot withdraws groups of versions with the same bytes, given by their ids. If others have got the bytes of a
// group since the plan was made, it stays.
func (c *Crawl) retainNot(ctx context.Context, groups [][]string, w catalog.Withdrawal) error {
	o := archive.Withdrawing{Returns: true}
	for _, ids := range groups {
		o.Targets = append(o.Targets, ids...)
	}
	_, err := c.withdraw(ctx, o, w, false)
	if _, shared := errors.AsType[*archive.SharedError](err); !shared {
		return err
	}
	for _, ids := range groups {
		o.Targets = ids
		_, err := c.withdraw(ctx, o, w, false)
		if _, shared := errors.AsType[*archive.SharedError](err); err != nil && !shared {
			return err
		}
	}
	return nil
}

// byRule returns the ids of groups by the rule of the first version of each: versions with the same bytes go together,
// although different rules may be for them.
func byRule(groups [][]retention.Gone) map[int][][]string {
	all := map[int][][]string{}
	for _, group := range groups {
		ids := make([]string, 0, len(group))
		for _, g := range group {
			ids = append(ids, g.ID)
		}
		all[group[0].Rule] = append(all[group[0].Rule], ids)
	}
	return all
}

// KeepRetained applies the rules of retention once a day at the time of the settings, which ReloadRetention may change,
// until ctx ends.
func (c *Crawl) KeepRetained(ctx context.Context) error {
	for {
		settings := c.retention.Load()
		var daily <-chan time.Time // nil, so that it never comes, without a time or rules
		stop := func() bool { return true }
		if settings.At != "" && len(settings.Rules) > 0 {
			at, err := settings.Time()
			if err != nil {
				return err
			}
			timer := time.NewTimer(time.Until(nextDaily(time.Now(), at)))
			daily, stop = timer.C, timer.Stop
		}
		select {
		case <-daily:
			c.applyDaily(ctx)
		case <-c.retentionChanged:
			stop()
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
	}
}

// applyDaily applies the rules until nothing is left that they do not keep, and logs what went.
func (c *Crawl) applyDaily(ctx context.Context) {
	began := time.Now()
	for more := true; more && ctx.Err() == nil; {
		plan, err := c.ApplyRetention(ctx)
		if err != nil {
			c.store.Log.Error("rules of retention were not applied; they are tried again tomorrow", "error", err)
			return
		}
		more = false
		for _, r := range plan.Rules {
			more = more || plan.More && r.Versions > 0
			if r.Versions > 0 {
				c.store.Log.Info("versions taken away by a rule of retention", "rule", r.Name, "versions", r.Versions, "bytes", r.Bytes)
			}
		}
	}
	c.store.Log.Info("rules of retention applied", "took", time.Since(began).Round(time.Millisecond))
}

// nextDaily returns the next time of day, since midnight in local time, after now.
func nextDaily(now time.Time, at time.Duration) time.Time {
	year, month, day := now.Date()
	for {
		next := time.Date(year, month, day, int(at.Hours()), int(at.Minutes())%60, 0, 0, now.Location())
		if next.After(now) {
			return next
		}
		day++
	}
}
