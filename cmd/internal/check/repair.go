package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/graphs"
	"odarchive/triplestore/kv"
)

// repair mends what a pass has found, gives up the rest, and returns the report of a last pass.
func (c *Checker) repair(ctx context.Context, first *found, since time.Time, progress Progress) (Report, error) {
	if c.Store.DB.ReadOnly() {
		return first.report, fmt.Errorf("repair: %w", kv.ErrReadOnly)
	}
	var lost []string
	left, err := first, error(nil)
	if first.unsound {
		if lost, err = c.mend(ctx, first); err != nil {
			return first.report, fmt.Errorf("repair: %w", err)
		}
		if left, err = c.examine(ctx, since, progress); err != nil {
			return left.report, err
		}
	}
	mended := mendedSince(first.report, left.report)
	done := Report{NewlyLost: lost}
	last := left
	if len(left.report.Damaged) > 0 {
		if err := c.giveUp(ctx, left, &done); err != nil {
			return left.report, fmt.Errorf("repair: %w", err)
		}
		if last, err = c.examine(ctx, since, progress); err != nil {
			return last.report, err
		}
	}
	r := last.report
	for _, m := range mended {
		if !slices.ContainsFunc(r.Mended, func(listed string) bool { return strings.HasPrefix(listed, m) }) {
			r.Mended = append(r.Mended, m+"; mended")
		}
	}
	r.Repaired = append(r.Repaired, done.Repaired...)
	r.NewlyLost = append(r.NewlyLost, done.NewlyLost...)
	for _, l := range done.NewlyLost {
		if !slices.Contains(r.Lost, l) {
			r.Lost = append(r.Lost, l)
		}
	}
	return r, nil
}

// mend has each part mend itself: from the log and snapshots, from parity, from other records. The next pass finds what
// is left, except for records of the frontier that cannot be rebuilt: mend removes those and returns their names.
func (c *Checker) mend(ctx context.Context, f *found) (lost []string, err error) {
	if _, err = c.Store.DB.Mend(ctx); err == nil {
		err = c.Store.Content.MendRemote(ctx, f.remote)
	}
	if err == nil {
		_, _, err = c.Store.Content.Mend(ctx)
	}
	if err == nil { // so that the next pass sees in the bucket what was mended
		err = c.Store.Content.FlushRemote(ctx)
	}
	if err != nil {
		return nil, err
	}
	if _, err := c.Store.Archive.CheckLog(ctx, true); err != nil {
		return nil, err
	}
	if _, err := c.Store.Archive.MendLeaves(ctx); err != nil {
		return nil, err
	}
	if _, err := c.Store.Archive.CheckFigures(ctx, true); err != nil {
		return nil, err
	}
	report, err := c.Frontier.Check(ctx, true)
	for _, fault := range report.Faults {
		if fault.Lost {
			lost = append(lost, fault.String())
		}
	}
	return lost, err
}

// giveUp drops unreadable files, has their URLs fetched again, derives missing triples and the graphs of documents from
// the records, and discards damaged dumps.
func (c *Checker) giveUp(ctx context.Context, f *found, r *Report) error {
	for _, sha := range slices.Collect(maps.Keys(f.files)) {
		if err := errors.Join(c.Store.Archive.Lose(ctx, sha), c.Store.Content.Forget(ctx, sha)); err != nil {
			return err
		}
	}
	if len(f.files) > 0 { // no file needs the damaged bytes now, so their packs can be sealed
		if _, _, err := c.Store.Content.Mend(ctx); err != nil {
			return err
		}
	}
	for _, v := range f.wires { // it is in no other record
		if err := c.Store.Archive.LoseExchange(ctx, v.ID); err != nil {
			return err
		}
		r.NewlyLost = append(r.NewlyLost, badExchange(v))
	}
	r.NewlyLost = append(r.NewlyLost, f.gone...)
	if err := c.Store.SaveLosses(ctx, true); err != nil {
		return err
	}
	for _, v := range f.hit {
		r.NewlyLost = append(r.NewlyLost, noBytes(v))
	}
	if err := c.fetchAgain(ctx, r, f.hit); err != nil {
		return err
	}
	if err := c.mendGraphs(ctx, f, r); err != nil {
		return err
	}
	if err := c.Store.Dumps.Discard(f.dumps); err != nil {
		return err
	}
	for _, d := range f.dumps {
		r.Repaired = append(r.Repaired, d.File+" is removed; a server with --dump-every makes dumps again at once")
	}
	if f.unreadable > 0 {
		dropped, err := c.Store.Archive.DropVisits(ctx)
		if err != nil {
			return err
		}
		r.NewlyLost = append(r.NewlyLost, fmt.Sprintf("the times of single visits of %d stretches, which could not be read", dropped))
	}
	if f.twice {
		mended, err := c.Store.Archive.MendActivities(ctx)
		if err != nil {
			return err
		}
		r.Repaired = append(r.Repaired, fmt.Sprintf("%d stretches of visits are described once", mended))
	}
	if !f.absent {
		return nil
	}
	added, err := c.deriveTriples(ctx)
	if added > 0 {
		r.Repaired = append(r.Repaired, fmt.Sprintf("%d triples are derived from the records again", added))
	}
	return err
}

// mendGraphs mends the graphs of documents and their records, each from the other.
func (c *Checker) mendGraphs(ctx context.Context, f *found, r *Report) error {
	s, err := graphs.New(c.Store.Mint, c.Store.DB, nil)
	if err != nil {
		return err
	}
	for _, g := range f.graphs {
		done, err := s.Mend(ctx, c.Store.Triples, g)
		if err != nil {
			return err
		}
		if done != "" && len(r.Repaired) < maxGraphs {
			r.Repaired = append(r.Repaired, done)
		}
	}
	return nil
}

// fetchAgain makes the URLs due whose latest version is lost.
func (c *Checker) fetchAgain(ctx context.Context, r *Report, hit []catalog.Version) error {
	for _, v := range hit {
		latest, err := c.Store.Archive.Latest(ctx, v.URL)
		if err != nil {
			return err
		}
		if latest.Digests != v.Digests {
			r.Repaired = append(r.Repaired, fmt.Sprintf("version %s of %s is lost: its URL has changed since", v.ID, v.URL))
			continue
		}
		if err := c.Frontier.MakeDue(ctx, v.URL); err != nil {
			return err
		}
		r.Repaired = append(r.Repaired, fmt.Sprintf("version %s of %s is fetched again by the next crawl", v.ID, v.URL))
	}
	r.Repaired = slices.Compact(r.Repaired)
	return nil
}
