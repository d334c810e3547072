package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/triplestore"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// CheckReport says what a check has read and found. Names are stable.
type CheckReport struct {
	Packs     int64    `json:"packs"`
	Segments  int64    `json:"segments"`
	Bytes     int64    `json:"bytes"`
	Files     int64    `json:"files"`
	Triples   uint64   `json:"triples"`
	Terms     uint64   `json:"terms"`
	Versions  int      `json:"versions"`
	Damaged   []string `json:"damaged"`      // what is damaged now: after a repair, what it could not mend
	Mended    []string `json:"mended"`       // what was damaged and is whole again: found by this check, or when it opened the archive
	Repaired  []string `json:"repaired"`     // what the repair did about the rest
	Lost      []string `json:"lost"`         // what was given up, now or by an earlier repair; nothing can be done about it here
	NewlyLost []string `json:"newlyLost"`    // of these, what this repair gave up
	Waste     []string `json:"damagedWaste"` // damage to bytes that no file needs: harmless, and no error; compactions take it with other waste
}

// Err says why a check does not end well: damage that is left, or a loss that this repair gave up.
func (r CheckReport) Err(repair bool) error {
	switch {
	case len(r.Damaged) > 0 && repair:
		return errors.New("the archive is damaged, and not all of it could be repaired")
	case len(r.Damaged) > 0:
		return errors.New("the archive is damaged; 'odarchive check --repair' mends what it can, and has what is lost fetched again")
	case len(r.NewlyLost) > 0:
		return errors.New("the archive is whole again, except for what is lost")
	case len(r.Mended) > 0 && !repair:
		return errors.New("the archive was damaged; it is mended, and another check finds it whole")
	}
	return nil
}

// CheckProgress is called as a stage of a check advances. total is -1 if it is not known.
type CheckProgress func(stage string, done, total int64)

func (p CheckProgress) stage(name string) func(done, total int64) {
	return func(done, total int64) {
		if p != nil {
			p(name, done, total)
		}
	}
}

// found is what one pass has found, for the repair.
type found struct {
	report  CheckReport
	files   map[content.Digest]string // that cannot be read, and why
	hit     []catalog.Version         // whose bytes these are
	gone    []string                  // what opening or a scrub could not bring back, and no repair has named
	absent  bool                      // triples that the records call for are missing
	unsound bool                      // the database, the packs or the frontier may be mended
}

func (f *found) damage(format string, args ...any) {
	f.report.Damaged = append(f.report.Damaged, fmt.Sprintf(format, args...))
}

// failed notes what kept a stage from going on, if that is damage; other errors come back.
func (f *found) failed(stage string, err error) error {
	if errors.Is(err, kv.ErrDamaged) || errors.Is(err, triplestore.ErrDamaged) || errors.Is(err, content.ErrDamaged) {
		f.unsound = true
		f.damage("%s: %v", stage, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", stage, err)
	}
	return nil
}

// Check reads everything that is stored and compares it with its checksums; damage is in the report, an error is what
// kept the check from going on. With repair, what can be mended is mended, what cannot is given up and named, and URLs
// whose latest version is lost are due at once; the report then tells of the state after it.
//
// What was found and mended before since is not told: the zero time tells everything of this process.
func (n *Node) Check(ctx context.Context, repair bool, since time.Time, progress CheckProgress) (CheckReport, error) {
	f, err := n.examine(ctx, since, progress)
	if err == nil && repair && (len(f.report.Damaged) > 0 || f.unsound) {
		return n.repair(ctx, f, since, progress)
	}
	return f.report, err
}

// examine is one pass over everything, in the order in which one part rests on another.
func (n *Node) examine(ctx context.Context, since time.Time, progress CheckProgress) (*found, error) {
	f := &found{files: map[content.Digest]string{}, report: CheckReport{Damaged: []string{}, Mended: []string{}, Repaired: []string{}, Lost: []string{}, NewlyLost: []string{}, Waste: []string{}}}
	defer func() { // behind the stages, which may have found more
		f.told(n.described.damages, since)
		for _, part := range n.scrubbedParts() {
			f.told(part.Damages(), since)
		}
	}()
	for _, stage := range []struct {
		name string
		run  func(context.Context, *found, func(done, total int64)) error
	}{
		{"losses", n.checkLosses}, {"database", n.checkDatabase}, {"triples", n.checkTriples}, {"packs", n.checkPacks},
		{"versions", n.checkVersions}, {"records", n.checkDescribed}, {"frontier", n.checkFrontier},
	} {
		if err := f.failed(stage.name, stage.run(ctx, f, progress.stage(stage.name))); err != nil {
			return f, err
		}
		if ctx.Err() != nil {
			return f, context.Cause(ctx)
		}
	}
	return f, nil
}

// told adds damages that were found and mended since a moment.
func (f *found) told(damages []disk.Damage, since time.Time) {
	for _, d := range damages {
		switch {
		case d.Mended.Before(since), d.Mended.IsZero(), d.Lost != "": // checkLosses tells the last
		default:
			f.report.Mended = append(f.report.Mended, d.String())
		}
	}
}

func (n *Node) checkDatabase(ctx context.Context, f *found, progress func(done, total int64)) error {
	if n.DB.ReadOnly() {
		for _, d := range n.described.damages { // not mended, since nothing may be written
			f.damage("%s", d)
		}
	}
	damages, err := n.DB.VerifyAll(ctx, progress)
	for _, d := range damages {
		if d.Mended.IsZero() {
			f.unsound = true
			f.damage("%s", d)
		}
	}
	return err
}

func (n *Node) checkTriples(ctx context.Context, f *found, _ func(done, total int64)) error {
	checked, err := n.Triples.Check(ctx)
	f.report.Triples, f.report.Terms = checked.Quads, checked.Terms
	return err
}

// damagesOfPack is how many damaged segments of one pack are listed.
const damagesOfPack = 10

func (n *Node) checkPacks(ctx context.Context, f *found, progress func(done, total int64)) error {
	listed := map[string]int{}
	verified, err := n.Content.Verify(ctx, content.VerifyOptions{Deep: true, Progress: progress, Damaged: func(d content.Damage) {
		if len(d.Files) == 0 && !d.Healable && !d.Unsealed {
			f.report.Waste = append(f.report.Waste, d.Error()) // bytes that nothing needs any more
			return
		}
		f.unsound = true
		if listed[d.Pack]++; d.Pack == "" || listed[d.Pack] <= damagesOfPack {
			f.damage("%s", d.Error())
		}
		for _, file := range d.Files {
			f.files[file] = d.Error()
		}
	}})
	// Waste whose pack is not sealed yet takes protection from what is beside it.
	f.unsound = f.unsound || slices.ContainsFunc(n.Content.Damages(), func(d disk.Damage) bool { return d.Mended.IsZero() })
	for _, pack := range slices.Sorted(maps.Keys(listed)) {
		if more := listed[pack] - damagesOfPack; more > 0 && pack != "" {
			f.damage("content: pack %s: %d more segments", pack, more)
		}
	}
	f.report.Packs, f.report.Segments, f.report.Bytes, f.report.Files = verified.Packs, verified.Segments, verified.Bytes, verified.Files
	return err
}

// checkVersions names the versions that damage hit, and those whose bytes are missing.
func (n *Node) checkVersions(ctx context.Context, f *found, progress func(done, total int64)) error {
	return n.Archive.EachVersion(ctx, func(v catalog.Version) error {
		f.report.Versions++
		progress(int64(f.report.Versions), -1)
		if _, damaged := f.files[v.Digests.SHA256]; damaged {
			f.damage("version %s of %s cannot be read", v.ID, v.URL)
			f.hit = append(f.hit, v)
			return nil
		}
		_, ok, err := n.Content.Stat(v.Digests.SHA256)
		if err != nil || ok {
			return err
		}
		given, err := n.Archive.IsLost(v)
		switch {
		case err != nil:
			return err
		case given:
			f.report.Lost = append(f.report.Lost, noBytes(v))
		default:
			f.damage("version %s of %s has no bytes", v.ID, v.URL)
			f.hit = append(f.hit, v)
			f.files[v.Digests.SHA256] = ""
		}
		return nil
	})
}

func noBytes(v catalog.Version) string {
	return fmt.Sprintf("version %s of %s has no bytes any more", v.ID, v.URL)
}

// checkFrontier reads the records of the crawl, and mends none.
func (n *Node) checkFrontier(ctx context.Context, f *found, _ func(done, total int64)) error {
	report, err := n.Frontier.Check(ctx, false)
	for _, fault := range report.Faults {
		f.unsound = true
		f.damage("%s", fault)
	}
	if more := report.Found - len(report.Faults); more > 0 {
		f.damage("frontier: %d more", more)
	}
	return err
}

// mendedSince lists what is damaged in a report and no longer in a later one.
func mendedSince(before, after CheckReport) []string {
	var list []string
	for _, d := range before.Damaged {
		if !slices.Contains(after.Damaged, d) && !strings.Contains(d, " cannot be read") {
			list = append(list, d)
		}
	}
	return list
}
