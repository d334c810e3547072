package crawl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/retention"
)

const (
	retentionPage  = 500     // files that are read in one transaction
	maxRetained    = 100_000 // versions of one run
	retainedListed = 1000    // versions that a plan names
	retainedAtOnce = 200     // versions between two looks at the context
)

// PlanRetention returns what the rules of retention do not keep, and changes nothing.
func (c *Crawl) PlanRetention(ctx context.Context) (catalog.RetentionPlan, error) {
	plan, _, err := c.planRetention(ctx)
	return plan, err
}

// ApplyRetention takes away what the rules of retention do not keep: the versions are withdrawn with the status 410 and the
// rule as the reason, and KeepWithdrawn removes their bytes. The same bytes may become a version again.
func (c *Crawl) ApplyRetention(ctx context.Context) (plan catalog.RetentionPlan, err error) {
	rules := c.store.Config.Retention.Rules
	plan, gone, err := c.planRetention(ctx)
	if err != nil {
		return plan, err
	}
	for len(gone) > 0 {
		n := min(len(gone), retainedAtOnce)
		for rule, ids := range idsByRule(gone[:n]) {
			w := catalog.Withdrawal{At: c.store.Clock().UTC(), Reason: rules[rule].Reason(), By: catalog.ByRetention, Status: 410}
			if err := c.retainNot(ctx, ids, w); err != nil {
				return plan, fmt.Errorf("apply retention: %w", err)
			}
		}
		gone = gone[n:]
	}
	plan.Applied = true
	return plan, nil
}

// retainNot withdraws versions. If others have got the same bytes since the plan was made, they stay.
func (c *Crawl) retainNot(ctx context.Context, ids []string, w catalog.Withdrawal) error {
	o := archive.Withdrawing{Targets: ids, Returns: true}
	_, err := c.withdraw(ctx, o, w, false)
	if _, shared := errors.AsType[*archive.SharedError](err); !shared {
		return err
	}
	for _, id := range ids {
		o.Targets = []string{id}
		_, err := c.withdraw(ctx, o, w, false)
		if _, shared := errors.AsType[*archive.SharedError](err); err != nil && !shared {
			return err
		}
	}
	return nil
}

func idsByRule(list []retention.Gone) map[int][]string {
	ids := map[int][]string{}
	for _, g := range list {
		ids[g.Rule] = append(ids[g.Rule], g.ID)
	}
	return ids
}

func (c *Crawl) planRetention(ctx context.Context) (plan catalog.RetentionPlan, gone []retention.Gone, err error) {
	rules := c.store.Config.Retention.Rules
	plan = catalog.RetentionPlan{At: c.store.Clock().UTC(), Versions: []catalog.RetentionVersion{}}
	if len(rules) == 0 {
		return plan, nil, catalog.ErrNoRetention
	}
	for _, r := range rules {
		plan.Rules = append(plan.Rules, catalog.RetentionTally{Name: r.Name, Keep: r.Keep})
	}
	found, err := c.notKept(ctx, rules, plan.At)
	if err != nil {
		return plan, nil, fmt.Errorf("plan retention: %w", err)
	}
	if plan.More = len(found) > maxRetained; plan.More {
		found = found[:maxRetained]
	}
	shared, err := c.sharedWithKept(ctx, found)
	if err != nil {
		return plan, nil, fmt.Errorf("plan retention: %w", err)
	}
	type file struct {
		rule int
		url  string
	}
	files := map[file]bool{}
	for _, g := range found {
		tally := &plan.Rules[g.Rule]
		if shared[g.Digests.SHA256] {
			tally.Shared++
			continue
		}
		gone = append(gone, g)
		tally.Versions++
		tally.Bytes += g.Size
		if f := (file{g.Rule, g.URL}); !files[f] {
			files[f] = true
			tally.Files++
		}
		if len(plan.Versions) < retainedListed {
			plan.Versions = append(plan.Versions, catalog.RetentionVersion{WithdrawnVersion: c.describeWithdrawn([]catalog.Version{g.Version})[0], Rule: tally.Name})
		}
	}
	return plan, gone, nil
}

// notKept returns the versions that the rules do not keep, a few more than maxRetained at most.
func (c *Crawl) notKept(ctx context.Context, rules []retention.Rule, now time.Time) (found []retention.Gone, err error) {
	for after := ""; ; {
		var page []catalog.Resource
		err := c.store.Archive.Archived(ctx, after, func(r catalog.Resource) bool {
			page = append(page, r)
			return len(page) < retentionPage
		})
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			versions, err := c.store.Archive.Versions(ctx, r.ID)
			if err != nil {
				return nil, err
			}
			found = append(found, retention.Decide(rules, r, versions, now)...)
			if len(found) > maxRetained {
				return found, nil
			}
		}
		if len(page) < retentionPage {
			return found, nil
		}
		after = page[len(page)-1].ID
	}
}

// sharedWithKept returns the digests of versions whose bytes other versions have that are kept: taking them away would gain
// nothing, and the bytes could not be removed.
func (c *Crawl) sharedWithKept(ctx context.Context, found []retention.Gone) (map[[32]byte]bool, error) {
	groups := map[[32]byte][]string{}
	for _, g := range found {
		groups[g.Digests.SHA256] = append(groups[g.Digests.SHA256], g.ID)
	}
	shared := map[[32]byte]bool{}
	for sha, ids := range groups {
		_, err := c.store.Archive.ToWithdraw(ctx, archive.Withdrawing{Targets: ids, Returns: true})
		if _, is := errors.AsType[*archive.SharedError](err); is {
			shared[sha] = true
		} else if err != nil {
			return nil, err
		}
	}
	return shared, nil
}

// KeepRetained applies the rules of retention once a day at the time of the settings, until ctx ends.
func (c *Crawl) KeepRetained(ctx context.Context) error {
	at, err := c.store.Config.Retention.Time()
	if err != nil {
		return err
	}
	for {
		timer := time.NewTimer(time.Until(nextDaily(time.Now(), at)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		for more := true; more && ctx.Err() == nil; {
			plan, err := c.ApplyRetention(ctx)
			if err != nil {
				c.store.Log.Error("rules of retention were not applied; they are tried again tomorrow", "error", err)
				break
			}
			more = false
			for _, r := range plan.Rules {
				more = more || plan.More && r.Versions > 0
				if r.Versions > 0 {
					c.store.Log.Info("versions taken away by a rule of retention", "rule", r.Name, "versions", r.Versions, "bytes", r.Bytes)
				}
			}
		}
	}
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
