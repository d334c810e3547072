// Package check verifies a whole archive against its checksums and repairs it.
//
// A check reads everything that is stored and writes nothing. A repair restores what the log, the snapshots, parity or
// other records still hold, gives up the rest, names it, and has the lost files fetched again. It deletes no sound
// bytes.
package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/graphs"
	"odarchive/crawler/queue/frontier"
	"odarchive/triplestore"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// Report is the result of a check. JSON names are stable.
type Report struct {
	Bucket *Bucket `json:"bucket,omitempty"` // of closed packs; nil if they are all here

	// Not known if damage kept the check from counting to the end.
	Packs    catalog.Figure `json:"packs,omitzero"`
	Segments catalog.Figure `json:"segments,omitzero"`
	Bytes    catalog.Figure `json:"bytes,omitzero"`
	Files    catalog.Figure `json:"files,omitzero"`
	Triples  catalog.Figure `json:"triples,omitzero"`
	Terms    catalog.Figure `json:"terms,omitzero"`
	Versions catalog.Figure `json:"versions,omitzero"`

	Damaged   []string `json:"damaged"`      // what is damaged now; after a repair, what it could not mend
	Mended    []string `json:"mended"`       // what was damaged and is whole again, found by this check or while the archive was opened
	Repaired  []string `json:"repaired"`     // what the repair did about the rest
	Lost      []string `json:"lost"`         // what was given up, now or by an earlier repair
	NewlyLost []string `json:"newlyLost"`    // of Lost, what this repair gave up
	Waste     []string `json:"damagedWaste"` // damaged bytes that no file needs: harmless, and removed by a later compaction
}

// Err returns an error if damage was found or is left, or if this repair gave something up.
func (r Report) Err(repair bool) error {
	switch {
	case len(r.Damaged) > 0 && repair:
		return errors.New("the archive is damaged, and not all of it could be repaired")
	case len(r.Damaged) > 0:
		deep := ""
		if r.Bucket != nil && r.Bucket.Read { // without it, a repair may not see what was found
			deep = "--deep "
		}
		return fmt.Errorf("the archive is damaged; 'odarchive check %s--repair' mends what it can and has the rest fetched again", deep)
	case len(r.NewlyLost) > 0:
		return errors.New("the archive is whole again, except for what is lost")
	case len(r.Mended) > 0 && !repair:
		return errors.New("the archive was damaged and is mended now; another check finds it whole")
	}
	return nil
}

// Progress is called as a stage of a check advances. total is -1 if it is unknown.
type Progress func(stage string, done, total int64)

func (p Progress) stage(name string) func(done, total int64) {
	return func(done, total int64) {
		if p != nil {
			p(name, done, total)
		}
	}
}

// found is what one pass has found.
type found struct {
	report     Report
	files      map[content.Digest]string // unreadable, and why
	hit        []catalog.Version         // whose bytes these are
	wires      []catalog.Version         // whose record of the exchange is damaged
	gone       []string                  // losses that no repair has reported
	absent     bool                      // triples that follow from the records are missing
	twice      bool                      // activities are described twice
	unreadable int                       // stretches of visits
	graphs     []graphs.Fault            // of documents
	dumps      []disk.Damage             // files with all triples
	remote     []content.RemoteFault     // objects of the bucket
	unsound    bool                      // there is something to mend in the database, the packs or the frontier
}

func (f *found) damage(format string, args ...any) {
	f.report.Damaged = append(f.report.Damaged, fmt.Sprintf(format, args...))
}

// failed records the error that ended a stage if it is damage, and returns other errors.
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

// Checker checks one archive.
type Checker struct {
	Store    *store.Store
	Frontier *frontier.Frontier
	Deep     bool  // also read what is only in a bucket
	Rate     int64 // bytes a second of that; 0 for no limit
}

// Check compares everything that is stored with its checksums. Damage is in the report; an error is what prevented the
// check. With repair, Check mends what can be mended, gives up and names the rest, and makes URLs due whose latest
// version is lost; the report then describes the state after the repair.
//
// Damage that was mended before since is not reported. The zero time reports everything that this process has mended.
func (c *Checker) Check(ctx context.Context, repair bool, since time.Time, progress Progress) (Report, error) {
	f, err := c.examine(ctx, since, progress)
	if err == nil && repair && (len(f.report.Damaged) > 0 || f.unsound) {
		return c.repair(ctx, f, since, progress)
	}
	return f.report, err
}

// examine is one pass over everything. Each stage relies on those before it.
func (c *Checker) examine(ctx context.Context, since time.Time, progress Progress) (*found, error) {
	f := &found{files: map[content.Digest]string{},
		report: Report{Damaged: []string{}, Mended: []string{}, Repaired: []string{}, Lost: []string{}, NewlyLost: []string{},
			Waste: []string{}}}
	defer func() { // after the stages, which may have found more
		f.addMended(c.Store.DescriptionDamages(), since)
		for _, part := range c.Store.ScrubbedParts() {
			f.addMended(part.Damages(), since)
		}
	}()
	for _, stage := range []struct {
		name string
		run  func(context.Context, *found, func(done, total int64)) error
	}{
		{"losses", c.checkLosses}, {"database", c.checkDatabase}, {"triples", c.checkTriples}, {"bucket", c.checkBucket},
		{"packs", c.checkPacks},
		{"versions", c.checkVersions}, {"records", c.checkDescribed}, {"activities", c.checkActivities},
		{"graphs", c.checkGraphs}, {"events", c.checkEvents}, {"transparency log", c.checkLeaves},
		{"figures", c.checkFigures}, {"frontier", c.checkFrontier}, {"dumps", c.checkDumps},
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

// addMended adds the damages that were mended since a moment.
func (f *found) addMended(damages []disk.Damage, since time.Time) {
	for _, d := range damages {
		switch {
		case d.Mended.Before(since), d.Mended.IsZero(), d.Lost != "": // checkLosses reports the last
		default:
			f.report.Mended = append(f.report.Mended, d.String())
		}
	}
}

// checkLosses reports what could not be restored: as damage, until a repair has named it.
func (c *Checker) checkLosses(_ context.Context, f *found, _ func(done, total int64)) error {
	list, _, err := c.Store.Losses()
	for _, l := range list {
		if l.Named {
			f.report.Lost = append(f.report.Lost, l.String())
		} else {
			f.gone = append(f.gone, l.String())
			f.damage("%s", l)
		}
	}
	return err
}

func (c *Checker) checkDatabase(ctx context.Context, f *found, progress func(done, total int64)) error {
	if c.Store.DB.ReadOnly() {
		for _, d := range c.Store.DescriptionDamages() { // not mended, because nothing may be written
			f.damage("%s", d)
		}
	}
	damages, err := c.Store.DB.VerifyAll(ctx, progress)
	for _, d := range damages {
		if d.Mended.IsZero() {
			f.unsound = true
			f.damage("%s", d)
		}
	}
	return err
}

func (c *Checker) checkTriples(ctx context.Context, f *found, _ func(done, total int64)) error {
	checked, err := c.Store.Triples.Check(ctx)
	if err == nil {
		f.report.Triples, f.report.Terms = catalog.Counted(checked.Quads), catalog.Counted(checked.Terms)
	}
	return err
}

// maxDamagesOfPack is how many damaged segments of one pack are listed.
const maxDamagesOfPack = 10

func (c *Checker) checkPacks(ctx context.Context, f *found, progress func(done, total int64)) error {
	listed := map[string]int{}
	verified, err := c.Store.Content.Verify(ctx,
		content.VerifyOptions{Deep: true, SkipCold: !c.Deep, Suspects: f.remote, Progress: progress, Damaged: func(d content.Damage) {
			if len(d.Files) == 0 && !d.Healable && !d.Unsealed {
				f.report.Waste = append(f.report.Waste, d.Error()) // needed by no file
				return
			}
			f.unsound = true
			if listed[d.Pack]++; d.Pack == "" || listed[d.Pack] <= maxDamagesOfPack {
				f.damage("%s", d.Error())
			}
			for _, file := range d.Files {
				f.files[file] = d.Error()
			}
		}})
	// Until the pack is sealed, damaged waste in it has no parity, nor has anything beside it.
	f.unsound = f.unsound || slices.ContainsFunc(c.Store.Content.Damages(), func(d disk.Damage) bool { return d.Mended.IsZero() })
	for _, pack := range slices.Sorted(maps.Keys(listed)) {
		if more := listed[pack] - maxDamagesOfPack; more > 0 && pack != "" {
			f.damage("content: pack %s: %d more segments", pack, more)
		}
	}
	if err == nil {
		f.report.Packs, f.report.Bytes, f.report.Files = catalog.Counted(verified.Packs), catalog.Counted(verified.Bytes),
			catalog.Counted(verified.Files)
		f.report.Segments = catalog.Counted(verified.Segments)
	}
	return err
}

// checkVersions names the versions whose bytes are damaged or missing, or whose record of the exchange is damaged.
func (c *Checker) checkVersions(ctx context.Context, f *found, progress func(done, total int64)) error {
	versions := 0
	err := c.Store.Archive.EachVersion(ctx, func(v catalog.Version) error {
		versions++
		progress(int64(versions), -1)
		if _, err := c.Store.Archive.Exchange(ctx, v); errors.Is(err, archive.ErrBadRecord) {
			f.damage("%s", badExchange(v))
			f.wires = append(f.wires, v)
		} else if err != nil {
			return err
		}
		if _, damaged := f.files[v.Digests.SHA256]; damaged {
			f.damage("version %s of %s cannot be read", v.ID, v.URL)
			f.hit = append(f.hit, v)
			return nil
		}
		_, ok, err := c.Store.Content.Stat(v.Digests.SHA256)
		if err != nil || ok || v.Withdrawn != nil {
			return err
		}
		given, err := c.Store.Archive.IsLost(v)
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
	if err == nil {
		f.report.Versions = catalog.Counted(versions)
	}
	return err
}

func badExchange(v catalog.Version) string {
	return fmt.Sprintf("what was on the wire for version %s of %s cannot be read", v.ID, v.URL)
}

func noBytes(v catalog.Version) string {
	return fmt.Sprintf("version %s of %s has no bytes any more", v.ID, v.URL)
}

// maxGraphs is how many graphs that do not agree with their records are listed.
const maxGraphs = 100

// checkGraphs compares the graphs of documents with their records.
func (c *Checker) checkGraphs(ctx context.Context, f *found, _ func(done, total int64)) error {
	s, err := graphs.New(c.Store.Mint, c.Store.DB, nil)
	if err != nil {
		return err
	}
	err = s.Verify(ctx, c.Store.Triples, func(g graphs.Fault) {
		if f.graphs = append(f.graphs, g); len(f.graphs) <= maxGraphs {
			f.damage("%s", g)
		}
	})
	if more := len(f.graphs) - maxGraphs; more > 0 {
		f.damage("graphs: %d more", more)
	}
	return err
}

// checkEvents reads the log of events and looks for versions without an event.
func (c *Checker) checkEvents(ctx context.Context, f *found, _ func(done, total int64)) error {
	report, err := c.Store.Archive.CheckLog(ctx, false)
	addUnsound(f, "log of events", report.Faults, report.Found)
	return err
}

// checkLeaves computes the transparency log anew, and compares it with the versions and with what was signed.
func (c *Checker) checkLeaves(ctx context.Context, f *found, _ func(done, total int64)) error {
	report, err := c.Store.Archive.CheckLeaves(ctx)
	addUnsound(f, "transparency log", report.Faults, report.Found)
	return err
}

// maxFigures is how many figures that differ from the records are listed.
const maxFigures = 20

// checkFigures compares the numbers of files and datasets with the records.
func (c *Checker) checkFigures(ctx context.Context, f *found, _ func(done, total int64)) error {
	faults, err := c.Store.Archive.CheckFigures(ctx, false)
	addUnsound(f, "figures", faults[:min(len(faults), maxFigures)], len(faults))
	return err
}

// checkFrontier reads the records of the frontier.
func (c *Checker) checkFrontier(ctx context.Context, f *found, _ func(done, total int64)) error {
	report, err := c.Frontier.Check(ctx, false)
	addUnsound(f, "frontier", report.Faults, report.Found)
	return err
}

// checkDumps compares the dumps with their digests. They are copies: what is damaged of them is made again.
func (c *Checker) checkDumps(ctx context.Context, f *found, progress func(done, total int64)) (err error) {
	f.dumps, err = c.Store.Dumps.Verify(ctx, nil, progress)
	for _, d := range f.dumps {
		f.damage("%s", d)
	}
	return err
}

// addUnsound adds the faults of a part of the database. all is their number, of which faults are the first ones.
func addUnsound[T any](f *found, part string, faults []T, all int) {
	for _, fault := range faults {
		f.unsound = true
		f.damage("%v", fault)
	}
	if more := all - len(faults); more > 0 {
		f.damage("%s: %d more", part, more)
	}
}

// mendedSince returns the damages of a report that a later one does not have.
func mendedSince(before, after Report) []string {
	var list []string
	for _, d := range before.Damaged {
		if !slices.Contains(after.Damaged, d) && !strings.Contains(d, " cannot be read") {
			list = append(list, d)
		}
	}
	return list
}
