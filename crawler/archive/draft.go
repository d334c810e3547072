package archive

import (
	"context"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/diary"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/term"
)

// draft is a version with its triples and encoded records, made before the write turn, in which other writers wait. It
// assumes that no other visit of the URL commits meanwhile, which the lease of a crawl ensures. A turn that arrives at
// another version makes its own.
type draft struct {
	version catalog.Version
	quads   []term.Quad
	records records.PackedVersion
}

// draft returns the version that the turn is expected to write. It is empty if none is expected, or if the visit
// belongs in the past, where the turn decides.
func (a *Archive) draft(ctx context.Context, id string, visit Visit) (d draft, err error) {
	if visit.Past != nil {
		return draft{}, nil
	}
	ref, act := visit.Kept.Ref, visit.Activity
	if visit.Kept.Placed != nil {
		ref = visit.Kept.Placed.Ref()
	}
	err = a.view(func(t records.Txn) error {
		r, known, err := t.Resource(id)
		if err != nil || !known || r.Versions > 0 && r.Latest == digestsOf(ref) {
			return err
		}
		next, err := diary.Txn{Txn: t.Txn}.Next(ctx, id, r.Stretch, act.Start)
		if err != nil {
			return err
		}
		act.ID, act.Start = ns.ActivityID(id, next.Start), next.Start
		v := visit.Kept.version(r, act, ref)
		if r.Versions > 0 {
			v.Previous = latestID(r)
		}
		d, err = a.describeVersion(v, visit.Kept)
		return err
	})
	return d, err
}

// describeVersion makes the triples and the records of a version.
func (a *Archive) describeVersion(v catalog.Version, kept *Kept) (d draft, err error) {
	d = draft{version: v, quads: versionQuads(a.mint, v, kept.Inside, kept.Change)}
	d.records, err = records.PackVersion(v, kept.Change)
	return d, err
}

// is reports whether the draft is of version v, which was made of the same body.
func (d *draft) is(v catalog.Version) bool {
	w := d.version
	return w.ID == v.ID && w.URL == v.URL && w.Previous == v.Previous && w.Activity == v.Activity && w.At.Equal(v.At) &&
		w.Digests == v.Digests && w.Size == v.Size
}

// version returns the next version of a resource, made of the body; the caller sets Previous.
func (k *Kept) version(r records.Resource, act catalog.Activity, ref content.Ref) catalog.Version {
	return catalog.Version{
		ID: ns.VersionID(r.ID, r.Versions), URL: r.URL, N: r.Versions, Digests: digestsOf(ref), Size: ref.Size,
		Type: k.Type, Charset: k.Charset, Because: k.Because, FileName: k.FileName, Truncated: k.Truncated, At: act.Start.UTC(),
		Activity: act.ID, LastModified: k.LastModified, ETag: k.ETag, Headers: k.Headers, Request: k.Request,
		Withdrawn: k.Withdrawn,
	}
}

func digestsOf(ref content.Ref) catalog.Digests {
	return catalog.Digests{SHA256: ref.SHA256, MD5: ref.MD5}
}

// writeVersion writes a version with its records and triples, by its draft if there is one.
func (u *update) writeVersion(v catalog.Version, ref content.Ref, kept *Kept) error {
	d := kept.draft
	if !d.is(v) {
		var err error
		if d, err = u.describeVersion(v, kept); err != nil {
			return err
		}
	}
	if err := u.records.AddVersion(v, d.records, kept.packed); err != nil {
		return err
	}
	if err := u.records.AddExchange(v.ID, kept.exchange); err != nil {
		return err
	}
	if kept.Block.SHA256 != [32]byte{} {
		if err := u.records.SetBlockDigest(v.ID, kept.Block.Head, kept.Block.SHA256); err != nil {
			return err
		}
	}
	resource, _, _ := ns.SplitVersionID(v.ID)
	if v.Withdrawn == nil && !kept.lost {
		if err := saveStored(u.records.Txn, resource, v, ref); err != nil {
			return err
		}
	}
	if err := u.logLeaf(v, kept); err != nil {
		return err
	}
	return describe.Replace(u.triples, nil, d.quads)
}
