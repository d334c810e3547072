package archive

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/diary"
	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
)

// A version of another archive may be older than versions that this archive has already. Numbers are part of IRIs and
// never change, so it gets the next number, but everything that follows time puts it in its place: lists of versions,
// TimeMaps and TimeGates, prov:wasRevisionOf, changes, and the latest version, which stays what it was. If numbers do
// not follow dates, the resource's record says so (catalog.Resource.OutOfOrder).
//
// It may also fall between two visits that found the same bytes. Then the bytes changed and came back, as far as both
// archives know, and the first visit after it that found them makes them a version again (reappeared.go).

// Past places a version by its date.
type Past struct {
	// Next is the id of the version whose bytes were found next (Around), and Change how it differs from this one, nil
	// if unknown. Commit ignores Change if other bytes come next when it commits.
	Next   string
	Change *diff.Summary
}

// Around returns the versions of a URL whose bytes were found last until a time, and first after it; either may be nil.
// They are the same one if a visit found its bytes after that time, and before those of any other version.
func (a *Archive) Around(ctx context.Context, url string, at time.Time) (before, after *catalog.Version, err error) {
	var p place
	err = a.view(func(t records.Txn) error {
		r, err := recordOf(t, url)
		if err == nil {
			p, err = placeAt(ctx, t, r, at)
		}
		return err
	})
	if p.again != nil {
		return p.older, p.older, err
	}
	return p.older, p.newer, err
}

// Capture is what another archive found.
type Capture struct {
	URL     string
	At      time.Time
	Digests catalog.Digests
}

// SameMoment is how much later than a capture its version or visit may begin: it is moved by milliseconds if others
// began then.
const SameMoment = time.Second

// Captured reports whether the archive knows of a capture: of a version with these bytes, or of a visit that found
// them, which began then or less than a second later. perhaps says that the visit may be one of those that were
// forgotten.
func (a *Archive) Captured(ctx context.Context, c Capture) (known, perhaps bool, err error) {
	at := c.At.Truncate(time.Millisecond) // as the archive keeps it
	err = a.view(func(t records.Txn) error {
		visits := diary.Txn{Txn: t.Txn}
		r, err := recordOf(t, c.URL)
		if err != nil {
			return err
		}
		if later, err := visits.IsLater(r.ID, r.Stretch, at); err != nil || later {
			return err
		}
		all, err := t.Versions(ctx, r.ID)
		if err != nil {
			return err
		}
		some := false
		for _, v := range all {
			if v.Digests == c.Digests {
				some = true
				known = known || !v.At.Before(at) && v.At.Sub(at) < SameMoment
			}
		}
		if known || !some {
			return nil
		}
		known, perhaps, err = visits.HasFound(ctx, r.ID, at, SameMoment, sameBytes(all, c.Digests))
		return err
	})
	if err != nil {
		return false, false, fmt.Errorf("archive: captures of %s: %w", c.URL, err)
	}
	return known, perhaps, nil
}

// sameBytes tells which of a resource's versions have some bytes.
func sameBytes(all []catalog.Version, bytes catalog.Digests) func(n int) bool {
	same := map[int]bool{}
	for _, v := range all {
		if v.Digests == bytes {
			same[v.N] = true
		}
	}
	return func(n int) bool { return same[n] }
}

// place is where a version of some date belongs.
type place struct {
	older, newer *catalog.Version  // the versions before and after it by date; nil for none
	again        *catalog.Activity // the first visit between it and newer that found the bytes of older; nil for none
}

func placeAt(ctx context.Context, t records.Txn, r records.Resource, at time.Time) (p place, err error) {
	all, err := t.Versions(ctx, r.ID)
	if err != nil {
		return p, err
	}
	sortByDate(all)
	p.older, p.newer = around(all, at)
	if p.older == nil {
		return p, nil
	}
	visits := diary.Txn{Txn: t.Txn}
	if later, err := visits.IsLater(r.ID, r.Stretch, at); err != nil || later {
		return p, err
	}
	var end time.Time
	if p.newer != nil {
		end = p.newer.At
	}
	found, ok, err := visits.Found(ctx, r.ID, at, end, sameBytes(all, p.older.Digests))
	if ok {
		p.again = &found
	}
	return p, err
}

// around returns the versions before and after a time in a list in the order of dates. A version of that time is
// before.
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
	newest, err := a.Version(ctx, ns.VersionID(r.ID, r.LatestN()))
	if err != nil || newest.IsData() {
		return newest, err
	}
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

// addPast is addVisit for a visit of another archive that is older than the last one of the resource. What that one
// found stays what the record says.
func (u *update) addPast(ctx context.Context, before records.Resource, next diary.Next, act *catalog.Activity, visit Visit) error {
	after := before
	after.Visits++
	counted := after // as tallies count it: with the new version's type and size
	var made pastVersions
	if visit.Kept != nil {
		var err error
		if made, err = u.keepPast(ctx, &after, act, visit); err != nil {
			return err
		}
		counted.Versions = before.Versions
		if made.v.ID != "" {
			counted.Versions++
			counted.MediaType, counted.Size = made.v.Type, made.v.Size
		}
	}
	if act.Outcome == catalog.Unchanged && act.Version == "" {
		act.Version = visit.Confirms
	}
	if err := u.addToDiary(next, &after, act); err != nil {
		return err
	}
	after.Stretch = before.Stretch
	if err := u.saveResource(before, after); err != nil {
		return err
	}
	if err := u.tallies.AddVisit(before, counted, *act, visit.Kept.change()); err != nil || made.v.ID == "" {
		return err
	}
	kinds := events.Past
	if before.Versions == 0 {
		kinds = events.New
	}
	if err := u.logVersion(after, *act, kinds); err != nil {
		return err
	}
	if latestID(after) == made.v.ID {
		if err := u.indexColumns(before, visit.Kept); err != nil {
			return err
		}
	}
	if made.again == nil {
		return nil
	}
	return u.countAgain(after, *made.again)
}

// change returns the change of a body, nil for none.
func (k *Kept) change() *diff.Summary {
	if k == nil {
		return nil
	}
	return k.Change
}

// pastVersions are the versions that keepPast made.
type pastVersions struct {
	v     catalog.Version  // ID is empty if the version before has the same bytes
	again *catalog.Version // of the bytes before v, which were found once more after it; nil for none
}

// keepPast is keep for a visit of addPast.
func (u *update) keepPast(ctx context.Context, r *records.Resource, act *catalog.Activity, visit Visit) (made pastVersions, err error) {
	kept := visit.Kept
	ref := kept.Ref
	if kept.Placed != nil {
		if ref, err = kept.Placed.Write(u.records.Txn); err != nil {
			return made, err
		}
	}
	p, err := placeAt(ctx, u.records, *r, act.Start)
	if err != nil {
		return made, err
	}
	digests := digestsOf(ref)
	if p.older != nil && p.older.Digests == digests {
		act.Outcome, act.Version = catalog.Unchanged, p.older.ID
		return made, nil
	}
	made.v = kept.version(*r, *act, ref)
	if p.older != nil {
		made.v.Previous = p.older.ID
	} else {
		r.FirstSeen = made.v.At
	}
	act.Outcome, act.Version = catalog.Archived, made.v.ID
	if p.newer != nil {
		r.NewestN, r.OutOfOrder = r.LatestN(), true
	}
	r.Versions++
	if err := u.writeVersion(made.v, ref, kept); err != nil {
		return made, err
	}
	if kept.Version != nil {
		kept.Version(made.v)
	}
	last, inside := made.v, kept.Inside
	if p.again != nil {
		if last, inside, err = u.again(r, *p.older, made.v, *p.again, visit.Past); err != nil {
			return made, err
		}
		made.again = &last
	}
	if p.newer == nil {
		return made, u.becomeLatest(r, last, inside)
	}
	if err := u.markLatest(r.ID, r.NewestN); err != nil {
		return made, err
	}
	if p.again != nil {
		return made, u.follow(*p.newer, last, &Past{}, true)
	}
	return made, u.follow(*p.newer, made.v, visit.Past, false)
}

// becomeLatest makes a version the latest one, after which no visit found anything.
func (u *update) becomeLatest(r *records.Resource, v catalog.Version, inside *inspect.Inside) error {
	r.Latest, r.Size, r.Changed, r.MediaType, r.FileName = v.Digests, v.Size, v.At, v.Type, v.FileName
	if r.OutOfOrder {
		r.NewestN = v.N
		if err := u.dropLatestMark(r.ID); err != nil {
			return err
		}
	}
	if v.Withdrawn != nil {
		return nil
	}
	return u.joining.Mark(u.records.Txn, r.ID, v.N, inside)
}

// follow makes v the version before newer. same says that v has the bytes of the version that was before newer.
func (u *update) follow(newer, v catalog.Version, past *Past, same bool) error {
	change, err := u.records.Change(newer.ID)
	if err != nil {
		return err
	}
	was := append(describe.Version(u.mint, newer), describe.Change(u.mint, newer, change)...)
	newer.Previous = v.ID
	switch {
	case same:
	case past.Next == newer.ID:
		change = past.Change
	default:
		change = nil
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
