package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"odarchive/crawler/catalog"
	"odarchive/crawler/content"
	"odarchive/triplestore"
)

// CheckReport says what a check has read and found. Names are stable.
type CheckReport struct {
	Packs    int64    `json:"packs"`
	Segments int64    `json:"segments"`
	Bytes    int64    `json:"bytes"`
	Files    int64    `json:"files"`
	Triples  uint64   `json:"triples"`
	Terms    uint64   `json:"terms"`
	Versions int      `json:"versions"`
	Damaged  []string `json:"damaged"`
	Repaired []string `json:"repaired"`
	Lost     []string `json:"lost"`         // what an earlier repair gave up; nothing can be done about it
	Waste    []string `json:"damagedWaste"` // damage to bytes that no file needs: harmless, gone with the next compaction
}

// Check reads everything that is stored and compares it with its checksums; damage is in the report, an error is what
// kept the check from going on. With repair, damaged files are dropped, and those that are the latest version of their
// URL are due at once.
func (n *Node) Check(ctx context.Context, repair bool, progress func(done, total int64)) (CheckReport, error) {
	r := CheckReport{Damaged: []string{}, Repaired: []string{}, Lost: []string{}, Waste: []string{}}
	if err := n.DB.Verify(); err != nil {
		r.Damaged = append(r.Damaged, "database: "+err.Error())
	}
	checked, err := n.Triples.Check(ctx)
	switch {
	case errors.Is(err, triplestore.ErrDamaged):
		r.Damaged = append(r.Damaged, "triples: "+err.Error())
	case err != nil:
		return r, fmt.Errorf("check triples: %w", err)
	}
	r.Triples, r.Terms = checked.Quads, checked.Terms

	lost, listed := map[content.Digest]string{}, map[string]int{}
	verified, err := n.Content.Verify(ctx, content.VerifyOptions{Deep: true, Progress: progress, Damaged: func(d content.Damage) {
		if len(d.Files) == 0 {
			r.Waste = append(r.Waste, d.Error()) // bytes that nothing needs any more
			return
		}
		if listed[d.Pack]++; d.Pack == "" || listed[d.Pack] <= damagesOfPack {
			r.Damaged = append(r.Damaged, d.Error())
		}
		for _, f := range d.Files {
			lost[f] = d.Error()
		}
	}})
	if err != nil {
		return r, fmt.Errorf("check packs: %w", err)
	}
	for _, pack := range slices.Sorted(maps.Keys(listed)) {
		if more := listed[pack] - damagesOfPack; more > 0 && pack != "" {
			r.Damaged = append(r.Damaged, fmt.Sprintf("content: pack %s: %d more segments", pack, more))
		}
	}
	r.Packs, r.Segments, r.Bytes, r.Files = verified.Packs, verified.Segments, verified.Bytes, verified.Files
	return r, n.checkVersions(ctx, &r, lost, repair)
}

// damagesOfPack is how many damaged segments of one pack are listed.
const damagesOfPack = 10

// checkVersions names the versions that damage hit, and those whose bytes are missing.
func (n *Node) checkVersions(ctx context.Context, r *CheckReport, lost map[content.Digest]string, repair bool) error {
	var hit []catalog.Version
	err := n.Archive.EachVersion(ctx, func(v catalog.Version) error {
		r.Versions++
		if _, damaged := lost[v.Digests.SHA256]; damaged {
			r.Damaged = append(r.Damaged, fmt.Sprintf("version %s of %s cannot be read", v.ID, v.URL))
			hit = append(hit, v)
			return nil
		}
		_, ok, err := n.Content.Stat(v.Digests.SHA256)
		if err != nil || ok {
			return err
		}
		given, err := n.Archive.IsLost(v)
		if given {
			r.Lost = append(r.Lost, fmt.Sprintf("version %s of %s has no bytes any more", v.ID, v.URL))
		} else if err == nil {
			r.Damaged = append(r.Damaged, fmt.Sprintf("version %s of %s has no bytes", v.ID, v.URL))
			hit = append(hit, v)
			lost[v.Digests.SHA256] = ""
		}
		return err
	})
	if err != nil || !repair {
		return err
	}
	for sha := range lost {
		if err := errors.Join(n.Archive.Lose(ctx, sha), n.Content.Forget(ctx, sha)); err != nil {
			return fmt.Errorf("repair: %w", err)
		}
	}
	return n.fetchAgain(ctx, r, hit)
}

// fetchAgain makes the URLs due whose latest version was hit.
func (n *Node) fetchAgain(ctx context.Context, r *CheckReport, hit []catalog.Version) error {
	for _, v := range hit {
		latest, err := n.Archive.Latest(ctx, v.URL)
		if err != nil {
			return fmt.Errorf("repair: %w", err)
		}
		if latest.Digests != v.Digests {
			r.Repaired = append(r.Repaired, fmt.Sprintf("version %s of %s is lost: its URL has changed since", v.ID, v.URL))
			continue
		}
		if err := n.Frontier.MakeDue(ctx, v.URL); err != nil {
			return fmt.Errorf("repair: %w", err)
		}
		r.Repaired = append(r.Repaired, fmt.Sprintf("version %s of %s is fetched again by the next crawl", v.ID, v.URL))
	}
	r.Repaired = slices.Compact(r.Repaired)
	return nil
}
