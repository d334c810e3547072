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
	"odarchive/crawler/content"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// repair mends what a pass has found, gives up what cannot be mended, and returns the report of a last pass.
func (n *Node) repair(ctx context.Context, first *found, since time.Time, progress CheckProgress) (CheckReport, error) {
	if n.DB.ReadOnly() {
		return first.report, fmt.Errorf("repair: %w", kv.ErrReadOnly)
	}
	left, err := first, error(nil)
	if first.unsound {
		if err := n.mend(ctx); err != nil {
			return first.report, fmt.Errorf("repair: %w", err)
		}
		if left, err = n.examine(ctx, since, progress); err != nil {
			return left.report, err
		}
	}
	mended := mendedSince(first.report, left.report)
	var done CheckReport
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

// mend has each part mend itself: from the log and snapshots, from parity, from other records.
func (n *Node) mend(ctx context.Context) error {
	_, err := n.DB.Mend(ctx) // what it could not mend is found again
	if err == nil {
		err = n.mendPacks(ctx)
	}
	if err == nil {
		_, err = n.frontierFaults(ctx, true)
	}
	return err
}

// giveUp drops files that cannot be read, has their URLs fetched again, and derives triples that are missing.
func (n *Node) giveUp(ctx context.Context, f *found, r *CheckReport) error {
	for _, sha := range slices.Collect(maps.Keys(f.files)) {
		if err := errors.Join(n.Archive.Lose(ctx, sha), n.Content.Forget(ctx, sha)); err != nil {
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

// mender is a store of bytes that heals packs from their parity.
type mender interface {
	Mend(ctx context.Context) (left []disk.Damage, files []content.Digest, err error)
}

// mendPacks has the packs heal from their parity. What they could not is found again.
func (n *Node) mendPacks(ctx context.Context) error {
	packs, ok := any(n.Content).(mender)
	if !ok {
		return nil
	}
	_, _, err := packs.Mend(ctx)
	return err
}

// frontierFaults is what is wrong with the records of the crawl, and repairs them if asked to.
func (n *Node) frontierFaults(ctx context.Context, repair bool) ([]string, error) { return nil, nil }
