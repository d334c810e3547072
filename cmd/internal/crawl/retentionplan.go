package crawl

import (
	"context"
	"fmt"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/retention"
	"odarchive/ns"
)

const (
	retentionPage  = 500     // files that are read in one transaction
	retainedListed = 1000    // versions that a plan names
	maxKnownShared = 200_000 // digests that a planner remembers; beyond, it finds them out again
)

// retentionPlanner finds the versions that the rules of retention do not keep. Versions with the same bytes go
// together: if one of them is kept, the bytes cannot be removed, and all of them stay.
type retentionPlanner struct {
	c      *Crawl
	rules  []retention.Rule
	most   int // versions; a plan ends when it has as many
	plan   catalog.RetentionPlan
	gone   [][]retention.Gone // groups with the same bytes
	count  int                // of the versions in gone
	known  map[[32]byte]bool  // digests that are in gone
	shared map[[32]byte]bool  // digests of versions that stay
	files  map[retainedFile]bool
}

type retainedFile struct {
	rule int
	url  string
}

func (c *Crawl) planRetention(ctx context.Context, most int) (*retentionPlanner, error) {
	p := &retentionPlanner{c: c, rules: c.retention.Load().Rules, most: most,
		plan:  catalog.RetentionPlan{At: c.store.Clock().UTC(), Versions: []catalog.RetentionVersion{}},
		known: map[[32]byte]bool{}, shared: map[[32]byte]bool{}, files: map[retainedFile]bool{}}
	if len(p.rules) == 0 {
		return p, catalog.ErrNoRetention
	}
	for _, r := range p.rules {
		p.plan.Rules = append(p.plan.Rules, catalog.RetentionTally{Name: r.Name, Keep: r.Keep})
	}
	err := p.all(ctx)
	if err == nil {
		digests := make([]content.Digest, 0, len(p.gone))
		for _, group := range p.gone {
			digests = append(digests, group[0].Digests.SHA256)
		}
		p.plan.Freed, err = c.store.Archive.Bytes().Freed(ctx, digests)
	}
	if err != nil {
		return p, fmt.Errorf("plan retention: %w", err)
	}
	return p, nil
}

// all looks at all files, or at as many as the plan can take.
func (p *retentionPlanner) all(ctx context.Context) error {
	for after := ""; ; {
		var page []catalog.Resource
		err := p.c.store.Archive.Archived(ctx, after, func(r catalog.Resource) bool {
			page = append(page, r)
			return len(page) < retentionPage
		})
		if err != nil {
			return err
		}
		for _, r := range page {
			if p.count >= p.most {
				p.plan.More = true
				return nil
			}
			if err := p.file(ctx, r); err != nil {
				return err
			}
		}
		if len(page) < retentionPage {
			return nil
		}
		after = page[len(page)-1].ID
	}
}

// file adds the versions of one file, and those of others with the same bytes.
func (p *retentionPlanner) file(ctx context.Context, r catalog.Resource) error {
	gone, err := p.decide(ctx, r)
	if err != nil {
		return err
	}
	decided := map[string][]retention.Gone{r.ID: gone}
	for _, g := range gone {
		sha := g.Digests.SHA256
		if p.known[sha] {
			continue
		}
		var group []retention.Gone
		if !p.shared[sha] {
			if group, err = p.group(ctx, sha, decided); err != nil {
				return err
			}
		}
		if group == nil {
			p.plan.Rules[g.Rule].Shared++
			if len(p.shared) < maxKnownShared {
				p.shared[sha] = true
			}
			continue
		}
		p.known[sha] = true
		p.add(group)
	}
	return nil
}

func (p *retentionPlanner) decide(ctx context.Context, r catalog.Resource) ([]retention.Gone, error) {
	versions, err := p.c.store.Archive.Versions(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	return retention.Decide(p.rules, r, versions, p.plan.At), nil
}

// group returns all versions with some bytes if the rules keep none of them, otherwise nil. decided has what was
// decided for some files, by their ids, and gets that of others.
func (p *retentionPlanner) group(ctx context.Context, sha [32]byte, decided map[string][]retention.Gone) (group []retention.Gone,
	err error) {
	all, err := p.c.store.Archive.WithBytes(ctx, sha)
	if err != nil || len(all) >= archive.MaxWithBytes {
		return nil, err
	}
	for _, v := range all {
		id, _, _ := ns.SplitVersionID(v.ID)
		gone, known := decided[id]
		if !known {
			r, err := p.c.store.Archive.Resource(ctx, id)
			if err == nil {
				gone, err = p.decide(ctx, r)
			}
			if err != nil {
				return nil, err
			}
			decided[id] = gone
		}
		before := len(group)
		for _, g := range gone {
			if g.ID == v.ID {
				group = append(group, g)
			}
		}
		if len(group) == before {
			return nil, nil // it is kept
		}
	}
	return group, nil
}

// add adds versions with the same bytes to the plan.
func (p *retentionPlanner) add(group []retention.Gone) {
	p.gone = append(p.gone, group)
	p.count += len(group)
	for _, g := range group {
		tally := &p.plan.Rules[g.Rule]
		tally.Versions++
		tally.Bytes += g.Size
		if f := (retainedFile{g.Rule, g.URL}); !p.files[f] {
			p.files[f] = true
			tally.Files++
		}
		if len(p.plan.Versions) < retainedListed {
			p.plan.Versions = append(p.plan.Versions,
				catalog.RetentionVersion{WithdrawnVersion: p.c.describeWithdrawn([]catalog.Version{g.Version})[0], Rule: tally.Name})
		}
	}
}
