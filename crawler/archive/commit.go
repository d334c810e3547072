package archive

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Visit is one finished fetch on its way into the archive.
type Visit struct {
	// Activity says what came of it. URL, Start, End and Outcome must be set; ID and Version are given by Commit.
	Activity catalog.Activity
	// Kept is what is worth keeping; nil where there is nothing.
	Kept *Kept
	// ErrorPage are the bytes that were recognised as an error page that many URLs of the host give; versions of them that
	// were kept before are marked. nil where there are none.
	ErrorPage *[32]byte
	// Fault says how this program failed to look into the bytes, which are kept all the same; "" where it did not.
	Fault string
}

// Kept is a body whose bytes are on disk already, and what was found out about it.
type Kept struct {
	Placed       *content.Placed // becomes part of the content store with the commit; whoever has placed it releases it
	Ref          content.Ref     // of what is in the content store already, where Placed is nil
	Type         string          // media type
	Charset      string
	Because      string
	FileName     string
	LastModified string
	ETag         string
	Headers      map[string][]string
	Request      map[string][]string
	Inside       *inspect.Inside // nil where there is nothing to tell
	Change       *diff.Summary   // against the version before; nil for the first
	Former       Former          // the version before, where it was read for that; Commit need not read it again then

	record []byte   // of Inside
	pieces [][]byte // of the record, where it is long
}

// Former is a version by its id, and what is inside it.
type Former struct {
	Version string
	Inside  *inspect.Inside
}

// prepare cuts what strangers have said to what a record may hold, and encodes what is inside. Kept becomes a copy.
func (v *Visit) prepare() error {
	v.Activity = boundActivity(v.Activity)
	if v.Kept == nil {
		return nil
	}
	kept := *v.Kept
	kept.bound()
	if kept.Inside != nil {
		var err error
		if kept.Inside, kept.record, kept.pieces, err = packInside(kept.Inside); err != nil {
			return err
		}
	}
	v.Kept = &kept
	return nil
}

// Commit records one fetch of a registered URL: the one moment at which a new version begins to exist. Records, triples
// the content's, and what also adds (may be nil; it is given the activity as it will be recorded) are one transaction, durable on return. Bytes equal to the latest version's make no
// version: the outcome becomes Unchanged. It returns the activity as recorded.
func (a *Archive) Commit(ctx context.Context, visit Visit, also func(*kv.Txn, catalog.Activity) error) (catalog.Activity, error) {
	if err := visit.prepare(); err != nil { // before other writers have to wait
		return visit.Activity, fmt.Errorf("archive: commit %s: %w", visit.Activity.URL, err)
	}
	act := visit.Activity
	id, err := ResourceID(act.URL)
	if err != nil {
		return act, fmt.Errorf("archive: commit: %w", err)
	}
	act.ID = id + "-" + strconv.FormatInt(act.Start.UnixMilli(), 10)
	err = a.triples.Update(ctx, func(txn *triplestore.Txn) error {
		act := &act
		act.Version = ""
		t, err := a.writing(txn.KV())
		if err != nil {
			return err
		}
		before, known, err := t.resource(id)
		if err != nil {
			return err
		}
		if !known {
			return notFound("resource", act.URL)
		}
		act.URL = before.URL
		after := visited(before, *act)
		if visit.Kept != nil {
			if err := a.keep(txn, t, &after, act, visit.Kept); err != nil {
				return err
			}
		}
		fault := ""
		if act.Outcome == catalog.Archived {
			fault = visit.Fault
		}
		if act.Version == "" && after.Versions > 0 && act.Outcome == catalog.Unchanged {
			act.Version = ns.VersionID(id, after.Versions-1)
		}
		after.Outcome = act.Outcome
		if err := t.noteInternal(ctx, &after, *act, fault); err != nil {
			return err
		}
		var change *diff.Summary
		if visit.Kept != nil {
			change = visit.Kept.Change
		}
		if err := t.saveVisit(before, after, *act, change); err != nil {
			return err
		}
		if err := a.findVersion(t, before, after, visit.Kept); err != nil {
			return err
		}
		if err := replace(txn, describe.Resource(before.Resource), describe.Resource(after.Resource)); err != nil {
			return err
		}
		if err := replace(txn, nil, describe.Activity(a.mint, *act)); err != nil {
			return err
		}
		if visit.ErrorPage != nil {
			if err := a.markErrorPages(ctx, txn, t, after.Host, *visit.ErrorPage, act.Why); err != nil {
				return err
			}
		}
		if also != nil {
			return also(txn.KV(), *act)
		}
		return nil
	})
	if err != nil {
		return act, fmt.Errorf("archive: commit %s: %w", act.URL, err)
	}
	return act, nil
}

// visited is the record after one more fetch, before anything is kept of it.
func visited(r record, act catalog.Activity) record {
	r.Visits++
	r.LastVisit = act.Start
	r.ErrorClass, r.Why = act.ErrorClass, act.Why
	if act.Outcome == catalog.Archived || act.Outcome == catalog.Unchanged {
		r.Errors = 0
	} else {
		r.Errors++
	}
	return r
}

// keep makes a version of what was kept, unless it is what the resource held already.
func (a *Archive) keep(txn *triplestore.Txn, t tables, r *record, act *catalog.Activity, kept *Kept) error {
	ref := kept.Ref
	if kept.Placed != nil {
		var err error
		if ref, err = kept.Placed.Write(txn.KV()); err != nil {
			return err
		}
	}
	digests := catalog.Digests{SHA256: ref.SHA256, MD5: ref.MD5}
	if r.Versions > 0 && r.Latest == digests {
		act.Outcome = catalog.Unchanged
		return nil
	}
	v := catalog.Version{
		ID: ns.VersionID(r.ID, r.Versions), URL: r.URL, N: r.Versions, Digests: digests, Size: ref.Size,
		Type: kept.Type, Charset: kept.Charset, Because: kept.Because, FileName: kept.FileName, At: act.Start.UTC(),
		Activity: act.ID, LastModified: kept.LastModified, ETag: kept.ETag, Headers: kept.Headers, Request: kept.Request,
	}
	if r.Versions > 0 {
		v.Previous = ns.VersionID(r.ID, r.Versions-1)
	} else {
		r.FirstSeen = v.At
	}
	act.Outcome, act.Version = catalog.Archived, v.ID
	r.Versions++
	r.Latest, r.Size, r.Changed = digests, v.Size, v.At
	r.MediaType, r.FileName = v.Type, v.FileName
	if err := t.saveVersion(r.ID, v, ref, kept); err != nil {
		return err
	}
	if err := replace(txn, nil, versionQuads(a.mint, v, kept.Inside, kept.Change)); err != nil {
		return err
	}
	return a.unjoined(t, r.ID, v.N, kept.Inside)
}

// findVersion brings the search index up to date with a visit.
func (a *Archive) findVersion(t tables, before, after record, kept *Kept) error {
	var names *columns
	if after.Versions > before.Versions {
		names = &columns{after: columnWords(kept.Inside)}
		if before.Versions > 0 {
			former := kept.Former
			if id := ns.VersionID(before.ID, before.Versions-1); former.Version != id {
				var err error
				if former.Inside, err = t.inside(id); errors.Is(err, ErrBadRecord) {
					err = nil // words of the former columns stay in the index
				}
				if err != nil {
					return err
				}
			}
			names.before = columnWords(former.Inside)
		}
	}
	if err := t.find(before, after, names); err != nil {
		return err
	}
	return a.save(t)
}

func versionQuads(m ns.Mint, v catalog.Version, in *inspect.Inside, change *diff.Summary) []term.Quad {
	return append(append(describe.Version(m, v), describe.Inside(m, v, in)...), describe.Change(m, v, change)...)
}

func (t tables) saveVersion(id string, v catalog.Version, ref content.Ref, kept *Kept) error {
	if err := t.set(key(tableVersion, rid(id), v.N), v); err != nil {
		return err
	}
	if kept.Inside != nil {
		if err := t.saveInside(id, v.N, kept.record, kept.pieces); err != nil {
			return err
		}
	}
	if kept.Change != nil {
		if err := t.set(key(tableChange, rid(id), v.N), kept.Change); err != nil {
			return err
		}
	}
	if err := t.saveStored(id, v, ref); err != nil {
		return err
	}
	return t.mark(key(tableByDigest, v.Digests.SHA256[:], rid(id), v.N))
}

// saveVisit writes the resource and its fetch, and counts both.
func (t tables) saveVisit(before, after record, act catalog.Activity, change *diff.Summary) error {
	if err := t.index(before, after, true); err != nil {
		return err
	}
	if err := t.set(key(tableResource, rid(after.ID)), after); err != nil {
		return err
	}
	if err := t.set(key(tableActivity, act.Start, rid(after.ID)), act); err != nil {
		return err
	}
	if err := t.mark(key(tableByResource, rid(after.ID), act.Start)); err != nil {
		return err
	}
	return t.countVisit(before, after, act, change)
}

func (t tables) countVisit(before, after record, act catalog.Activity, changed *diff.Summary) error {
	isNew := after.Versions > before.Versions
	change := func(n *tally) {
		n.Visits++
		if n.Outcomes == nil {
			n.Outcomes = map[catalog.Outcome]int{}
		}
		n.Outcomes[act.Outcome]++
		if isNew {
			n.Versions++
			n.Bytes += after.Size
			if before.Versions == before.ErrorPages {
				n.Crawled++
			} else {
				n.change(changed)
			}
		}
	}
	mediaType := ""
	if isNew {
		mediaType = after.MediaType
	}
	for _, c := range tallies(after, act.Start, mediaType) {
		if err := t.count(c.name, c.what, change); err != nil {
			return err
		}
	}
	return nil
}

type tallied struct{ name, what string }

// tallies are what counts a visit of a resource, or a version of a media type ("" for none).
func tallies(r record, at time.Time, mediaType string) []tallied {
	counted := []tallied{{countAll, ""}, {countHost, r.Host}, {countDay, at.UTC().Format("2006-01-02")}}
	for _, portal := range r.Portals {
		counted = append(counted, tallied{countPortal, portal})
	}
	if mediaType != "" {
		counted = append(counted, tallied{countType, mediaType})
	}
	return counted
}
