package campaign

import (
	"context"
	"fmt"
	"time"

	"odarchive/crawler/archive"
	"odarchive/triplestore/kv"
)

// Run begins a campaign, or a new round of one that is finished or stopped. A campaign that runs goes on with what is
// left, and one that is paused is resumed. Document replaces the one that the campaign has. The error wraps ErrBad if
// the document is malformed.
func (s *Store) Run(ctx context.Context, d Document) (c Campaign, err error) {
	if d, err = d.Normalise(); err != nil {
		return c, err
	}
	id := idOf(d.Name)
	err = s.Archive.Update(ctx, func(txn archive.Txn) error {
		var known bool
		if c, known, err = load(txn.KV(), id); err != nil {
			return err
		}
		now := s.Clock().UTC()
		if !known {
			c = Campaign{Created: now, State: Finished}
		} else if c.Document.Kind != d.Kind {
			return badf("there is a campaign %s of another kind", d.Name)
		}
		again := c.State == Finished || c.State == Stopped
		if !c.Document.sameLinks(d) {
			c.Edition++
			again = true
		}
		if known && !c.Document.sameScores(d) {
			c.Scoring++
			c.Rescoring, c.Rescored = true, ""
		}
		c.Document = d
		if again {
			c.Round++
			c.Began, c.Ended = now, time.Time{}
			before := c.Counts
			c.Counts = Counts{URLs: before.URLs, Spilled: before.Spilled, Pages: before.Pages}
			c.Queuing, c.Cursor = true, ""
		} else if c.State == Paused {
			c.Queuing, c.Cursor = true, "" // what was put off meanwhile
		}
		c.State, c.Why = Running, ""
		return s.save(txn.KV(), id, c)
	})
	if err != nil {
		return c, fmt.Errorf("campaign %s: %w", d.Name, err)
	}
	return c, s.Prepare(ctx, d.Name)
}

// Pause stops visits on behalf of a campaign until Resume.
func (s *Store) Pause(ctx context.Context, name string) (Campaign, error) {
	return s.change(ctx, name, func(c *Campaign) error {
		if c.State == Stopped {
			return badf("%s is stopped", name)
		}
		c.State, c.Why = Paused, "paused by an order"
		return nil
	})
}

// Resume ends a pause.
func (s *Store) Resume(ctx context.Context, name string) (Campaign, error) {
	c, err := s.change(ctx, name, func(c *Campaign) error {
		if c.State == Paused {
			c.State, c.Why, c.Queuing, c.Cursor = Running, "", true, ""
		}
		return nil
	})
	if err != nil {
		return c, err
	}
	if err := s.Prepare(ctx, name); err != nil {
		return c, err
	}
	return s.Get(ctx, name)
}

// Stop ends a campaign. Its URLs stay in the archive. Those that were never visited are not visited any more; Run
// begins a new round with them.
func (s *Store) Stop(ctx context.Context, name string) (Campaign, error) {
	return s.change(ctx, name, func(c *Campaign) error {
		c.State, c.Why, c.Ended = Stopped, "stopped by an order", s.Clock().UTC()
		c.Queuing, c.Cursor = false, ""
		return nil
	})
}

// GiveUp ends the round of a campaign that cannot go on: all that is left waits for hosts that must not be asked for
// long. The frontier visits it later.
func (s *Store) GiveUp(ctx context.Context, name string) (Campaign, error) {
	return s.change(ctx, name, func(c *Campaign) error {
		if c.State == Running {
			c.State, c.Ended = Finished, s.Clock().UTC()
			c.Why = fmt.Sprintf("%d URLs are left whose hosts cannot be asked at present; a server visits them later", c.Counts.Pending)
		}
		return nil
	})
}

func (s *Store) change(ctx context.Context, name string, f func(*Campaign) error) (c Campaign, err error) {
	id := idOf(name)
	err = s.Archive.DB().Update(ctx, func(txn *kv.Txn) error {
		var known bool
		if c, known, err = load(txn, id); err != nil {
			return err
		}
		if !known {
			return fmt.Errorf("%w: %q", ErrUnknown, name)
		}
		if err := f(&c); err != nil {
			return err
		}
		return s.save(txn, id, c)
	})
	if err != nil {
		return c, fmt.Errorf("campaign: %w", err)
	}
	return c, nil
}
