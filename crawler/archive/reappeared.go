package archive

import (
	"errors"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/events"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/packed"
)

// A visit that finds the bytes of the latest version makes no version. If another archive turns out to have found other
// bytes before that visit, or between a request and its answer, they are those of an earlier version that came back.
// They become a version again then, as they would have if the import had been first: with the date of the visit, a
// number of their own, and what is known of them. The visit stays in its stretch, which generated the version.

// again makes a version of the bytes of older that found, a visit of the diary, confirmed after v.
func (u *update) again(r *records.Resource, older, v catalog.Version, found catalog.Activity, past *Past) (catalog.Version, *inspect.Inside,
	error) {
	kept, err := u.keptAgain(older)
	if err != nil {
		return catalog.Version{}, nil, err
	}
	kept.leafFlags = transparency.FromRecords
	if past.Next == older.ID {
		kept.Change = past.Change
	}
	w := kept.version(*r, found, kept.Ref)
	w.Previous, w.ErrorPage = v.ID, older.ErrorPage
	r.Versions++
	if w.ErrorPage != "" {
		r.ErrorPages++
	}
	return w, kept.Inside, u.writeVersion(w, kept.Ref, kept)
}

// keptAgain returns the body of a version as that of a later visit. What the server said at that visit is not known.
func (u *update) keptAgain(v catalog.Version) (*Kept, error) {
	k := &Kept{
		Ref:  content.Ref{SHA256: v.Digests.SHA256, MD5: v.Digests.MD5, Size: v.Size},
		Type: v.Type, Charset: v.Charset, Because: v.Because, FileName: v.FileName, Truncated: v.Truncated, Withdrawn: v.Withdrawn,
		LastModified: v.LastModified, ETag: v.ETag,
	}
	ref, stored, err := u.content.Stat(v.Digests.SHA256)
	if err != nil && !errors.Is(err, content.ErrDamaged) {
		return nil, err
	}
	if k.lost = !stored || v.ErrorPage != ""; stored {
		k.Ref = ref
	}
	in, err := u.records.InsideSketched(v.ID)
	if err != nil {
		return nil, err
	}
	k.packed, err = packed.Pack(in, packed.Sample)
	k.Inside = k.packed.Inside
	return k, err
}

// keptOf returns the body that a visit without one confirmed, if the version of that body was the latest when the visit
// asked, and other bytes are the latest now; nil otherwise.
func (u *update) keptOf(before records.Resource, act catalog.Activity, confirms string) (*Kept, error) {
	if act.Outcome != catalog.Unchanged || confirms == "" || before.Versions == 0 || confirms == latestID(before) {
		return nil, nil
	}
	v, known, err := u.records.Version(confirms)
	if err != nil || !known || v.Digests == before.Latest {
		return nil, err
	}
	kept, err := u.keptAgain(v)
	if err != nil {
		return nil, err
	}
	kept.Former.Version = latestID(before)
	kept.Former.Inside, err = u.records.Inside(kept.Former.Version)
	return kept, err
}

// countAgain counts a version that again made, and logs it. Its visit is counted and logged already.
func (u *update) countAgain(r records.Resource, v catalog.Version) error {
	if v.ErrorPage == "" {
		if err := u.tallies.AddVersion(r, v); err != nil {
			return err
		}
	}
	return u.logVersion(r, catalog.Activity{Start: v.At, End: v.At, Version: v.ID}, events.Past)
}
