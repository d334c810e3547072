package archive

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/diary"
	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
)

// A version of another archive may be older than versions that this archive has already. Numbers are part of IRIs and
// never change, so it gets the next number, but everything that follows time puts it in its place: lists of versions,
// TimeMaps and TimeGates, prov:wasRevisionOf, changes, and the latest version, which stays what it was. The resource's
// record says that its numbers do not follow dates (catalog.Resource.OutOfOrder).

// Past places a version by its date.
type Past struct {
	// Next is the id of the version after it by date, and Change how that one differs from it, nil if unknown. Commit
	// ignores Change if another version comes next when it commits.
	Next   string
	Change *diff.Summary
}

// Around returns the versions of a URL before and after a time; either may be nil. A version of that time is
// before.
func (a *Archive) Around(ctx context.Context, url string, at time.Time) (before, after *catalog.Version, err error) {
	all, err := a.Versions(ctx, url)
	before, after = around(all, at)
	return before, after, err
}

// around is Around in a list in the order of dates.
func around(all []catalog.Version, at time.Time) (before, after *catalog.Version) {
	i := 0
	for i < len(all) && !all[i].At.After(at) {
		i++
	}
	if i > 0 {
		before = &all[i-1]
	}
	if i < len(all) {
		after = &all[i]
	}
	return before, after
}

func sortByDate(all []catalog.Version) {
	slices.SortStableFunc(all, func(a, b catalog.Version) int { return a.At.Compare(b.At) })
}

// latestByDate is Latest for a resource whose numbers do not follow dates.
func (a *Archive) latestByDate(ctx context.Context, r catalog.Resource) (catalog.Version, error) {
	all, err := a.Versions(ctx, r.ID)
	for _, v := range slices.Backward(all) {
		if v.IsData() {
			return v, err
		}
	}
	if err == nil {
		slices.Reverse(all)
		err = noLatest(r.URL, all)
	}
	return catalog.Version{}, err
}

// addPast is addVisit for a version that is older than the latest one.
func (u *update) addPast(ctx context.Context, before records.Resource, next diary.Next, act *catalog.Activity, visit Visit) error {
	after := before
	after.Visits++
	counted := after // as tallies count it: with the new version's type and size
	if visit.Kept != nil {
		v, err := u.keepPast(ctx, &after, act, visit)
		if err != nil {
			return err
		}
		counted = after
		counted.MediaType, counted.Size = v.Type, v.Size
	}
	if err := u.addToDiary(next, &after, act); err != nil {
		return err
	}
	after.Stretch = before.Stretch
	if err := u.saveResource(before, after); err != nil {
		return err
	}
	if after.Versions > before.Versions {
		if err := u.logVersion(after, *act, events.Past); err != nil {
			return err
		}
	}
	return u.tallies.AddVisit(before, counted, *act, visit.Kept.change())
}

// change returns the change of a body, nil for none.
func (k *Kept) change() *diff.Summary {
	if k == nil {
		return nil
	}
	return k.Change
}

// keepPast is keep for a version that is older than the latest one, which stays the latest.
func (u *update) keepPast(ctx context.Context, r *records.Resource, act *catalog.Activity, visit Visit) (v catalog.Version, err error) {
	kept := visit.Kept
	ref := kept.Ref
	if kept.Placed != nil {
		if ref, err = kept.Placed.Write(u.records.Txn); err != nil {
			return v, err
		}
	}
	all, err := u.records.Versions(ctx, r.ID)
	if err != nil {
		return v, err
	}
	sortByDate(all)
	older, newer := around(all, act.Start)
	digests := digestsOf(ref)
	if older != nil && older.Digests == digests {
		act.Outcome, act.Version = catalog.Unchanged, older.ID
		return *older, nil
	}
	v = kept.version(*r, *act, ref)
	if older != nil {
		v.Previous = older.ID
	} else {
		r.FirstSeen = v.At
	}
	act.Outcome, act.Version = catalog.Archived, v.ID
	r.NewestN, r.OutOfOrder = r.LatestN(), true
	r.Versions++
	if err := u.writeVersion(v, ref, kept); err != nil {
		return v, err
	}
	if err := u.markLatest(r.ID, r.NewestN); err != nil {
		return v, err
	}
	if kept.Version != nil {
		kept.Version(v)
	}
	if newer == nil { // a version that was crawled with a clock that ran late
		return v, nil
	}
	return v, u.follow(*newer, v, visit.Past)
}

// follow makes v the version before newer.
func (u *update) follow(newer, v catalog.Version, past *Past) error {
	change, err := u.records.Change(newer.ID)
	if err != nil {
		return err
	}
	was := append(describe.Version(u.mint, newer), describe.Change(u.mint, newer, change)...)
	newer.Previous, change = v.ID, nil
	if past.Next == newer.ID {
		change = past.Change
	}
	if err := u.records.SetVersion(newer); err != nil {
		return err
	}
	if err := u.records.SetChange(newer.ID, change); err != nil {
		return err
	}
	return describe.Replace(u.triples, was, append(describe.Version(u.mint, newer), describe.Change(u.mint, newer, change)...))
}

// The mark of the latest version has the key of a stored record with number ^0, before all others of its resource. It
// is: the format (1 byte) and the number of the latest version (uvarint).
const latestMarkFormat = 2

func latestMarkKey(resource string) []byte {
	return binary.BigEndian.AppendUint32([]byte(resource), 0)
}

func isLatestMark(k []byte) bool {
	return len(k) == storedKeyLen && binary.BigEndian.Uint32(k[records.IDLen:]) == 0
}

func latestMarked(b []byte) (n int, ok bool) {
	if len(b) < 2 || b[0] != latestMarkFormat {
		return 0, false
	}
	number, read := binary.Uvarint(b[1:])
	return int(number), read > 0 && number < 1<<31
}

func (u *update) markLatest(resource string, n int) error {
	return u.records.Txn.Set(storedSpace, latestMarkKey(resource), binary.AppendUvarint([]byte{latestMarkFormat}, uint64(n)))
}

func (u *update) dropLatestMark(resource string) error {
	return u.records.Txn.Delete(storedSpace, latestMarkKey(resource))
}
