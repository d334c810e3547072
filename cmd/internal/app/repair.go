package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// repair mends what a pass has found, gives up what cannot be mended, and returns the report of a last pass.
func (n *Node) repair(ctx context.Context, first *found, since time.Time, progress CheckProgress) (CheckReport, error) {
	if n.DB.ReadOnly() {
		return first.report, fmt.Errorf("repair: %w", kv.ErrReadOnly)
	}
	var lost []string
	left, err := first, error(nil)
	if first.unsound {
		if lost, err = n.mend(ctx); err != nil {
			return first.report, fmt.Errorf("repair: %w", err)
		}
		if left, err = n.examine(ctx, since, progress); err != nil {
			return left.report, err
		}
	}
	mended := mendedSince(first.report, left.report)
	done := CheckReport{NewlyLost: lost}
	last := left
	if len(left.report.Damaged) > 0 {
		if err := n.giveUp(ctx, left, &done); err != nil {
			return left.report, fmt.Errorf("repair: %w", err)
		}
		if last, err = n.examine(ctx, since, progress); err != nil {
			return last.report, err
		}
	}
	r := last.report
	for _, m := range mended {
		if !slices.ContainsFunc(r.Mended, func(told string) bool { return strings.HasPrefix(told, m) }) {
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

// mend has each part mend itself: from the log and snapshots, from parity, from other records. What could not be mended is
// found again, except for records of the crawl that nobody can make again: they are gone, and lost names them.
func (n *Node) mend(ctx context.Context) (lost []string, err error) {
	if _, err = n.DB.Mend(ctx); err == nil {
		_, _, err = n.Content.Mend(ctx)
	}
	if err != nil {
		return nil, err
	}
	report, err := n.Frontier.Check(ctx, true)
	for _, fault := range report.Faults {
		if fault.Lost {
			lost = append(lost, fault.String())
		}
	}
	return lost, err
}

// giveUp drops files that cannot be read, has their URLs fetched again, and derives triples that are missing.
func (n *Node) giveUp(ctx context.Context, f *found, r *CheckReport) error {
	for _, sha := range slices.Collect(maps.Keys(f.files)) {
		if err := errors.Join(n.Archive.Lose(ctx, sha), n.Content.Forget(ctx, sha)); err != nil {
			return err
		}
	}
	if len(f.files) > 0 { // what is damaged in the packs is now needed by no file
		if _, _, err := n.Content.Mend(ctx); err != nil {
			return err
		}
	}
	r.NewlyLost = append(r.NewlyLost, f.gone...)
	if err := n.keepLosses(ctx, true); err != nil {
		return err
	}
	for _, v := range f.hit {
		r.NewlyLost = append(r.NewlyLost, noBytes(v))
	}
	if err := n.fetchAgain(ctx, r, f.hit); err != nil {
		return err
	}
	if !f.absent {
		return nil
	}
	added, err := n.deriveTriples(ctx)
	if added > 0 {
		r.Repaired = append(r.Repaired, fmt.Sprintf("%d triples are derived from the records again", added))
	}
	return err
}

// fetchAgain makes the URLs due whose latest version was hit.
func (n *Node) fetchAgain(ctx context.Context, r *CheckReport, hit []catalog.Version) error {
	for _, v := range hit {
		latest, err := n.Archive.Latest(ctx, v.URL)
		if err != nil {
			return err
		}
		if latest.Digests != v.Digests {
			r.Repaired = append(r.Repaired, fmt.Sprintf("version %s of %s is lost: its URL has changed since", v.ID, v.URL))
			continue
		}
		if err := n.Frontier.MakeDue(ctx, v.URL); err != nil {
			return err
		}
		r.Repaired = append(r.Repaired, fmt.Sprintf("version %s of %s is fetched again by the next crawl", v.ID, v.URL))
	}
	r.Repaired = slices.Compact(r.Repaired)
	return nil
}
