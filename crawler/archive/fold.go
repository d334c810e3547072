package archive

import (
	"context"
	"fmt"
	"strings"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/diary"
	"odarchive/ns"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/vocab/prov"
)

// diaryFold in SpaceMeta is foldDone once the visits of older programs are in stretches. Before, it is the key from which
// FoldVisits continues; its first byte is that of the table, which tells the round.
const (
	diaryFold  = "archive/diary"
	foldDone   = "done"
	foldPerTxn = 1000 // visits
	secondFold = 'a'
)

// FoldVisits brings the visits of a directory that an older program wrote into stretches. It continues if it was
// interrupted, and is quick if there is nothing to do. It returns the number of visits that it folded, and calls progress
// (may be nil) with it as it advances. Nothing else may write meanwhile.
func (a *Archive) FoldVisits(ctx context.Context, progress func(folded int)) (folded int, err error) {
	var from []byte
	err = a.db.View(func(txn *kv.Txn) (err error) {
		if from, _, err = txn.Get(kv.SpaceMeta, []byte(diaryFold)); err != nil || from != nil {
			return err
		}
		has, err := diary.Txn{Txn: txn}.HasOld(ctx)
		if err == nil && !has {
			from = []byte(foldDone)
		}
		return err
	})
	for err == nil && string(from) != foldDone {
		var n int
		if from, n, err = a.foldSome(ctx, from); err == nil && n > 0 {
			if folded += n; progress != nil {
				progress(folded)
			}
		}
	}
	if err != nil {
		return folded, fmt.Errorf("archive: fold visits: %w", err)
	}
	return folded, nil
}

// foldSome is one transaction of FoldVisits. It returns the key from which the next one continues, or foldDone.
func (a *Archive) foldSome(ctx context.Context, from []byte) (next []byte, visits int, err error) {
	err = a.update(ctx, func(u *update) (err error) {
		if len(from) > 0 && from[0] == secondFold {
			visits = 0
			if next, err = u.diary.FoldTimelines(ctx, from, foldPerTxn); err != nil {
				return err
			}
			if next == nil {
				next = []byte(foldDone)
			}
			return u.records.Set(kv.SpaceMeta, []byte(diaryFold), next)
		}
		var folded []diary.Folding
		if folded, visits, next, err = u.diary.FoldStretches(ctx, from, foldPerTxn); err != nil {
			return err
		}
		if next == nil {
			next = []byte{secondFold}
		}
		for len(folded) > 0 {
			n := 1
			for n < len(folded) && folded[n].After.Resource == folded[0].After.Resource {
				n++
			}
			if err := u.describeFolded(ctx, folded[:n]); err != nil {
				return err
			}
			folded = folded[n:]
		}
		return u.records.Set(kv.SpaceMeta, []byte(diaryFold), next)
	})
	return next, visits, err
}

// describeFolded removes the descriptions of a resource's visits that are now parts of stretches, and extends those of
// the stretches.
func (u *update) describeFolded(ctx context.Context, folded []diary.Folding) error {
	r, known, err := u.records.Resource(folded[0].After.Resource)
	if err != nil || !known { // nothing can be described of a resource that is not there
		return err
	}
	if last := folded[len(folded)-1].After.Start(); last > r.Stretch {
		after := r
		after.Stretch = last
		if err := u.records.SaveResource(r, after); err != nil {
			return err
		}
	}
	bases, err := u.activityBases(ctx, r.URL)
	if err != nil {
		return err
	}
	sn := u.triples.Snapshot()
	for _, f := range folded {
		for _, id := range f.Removed {
			for _, base := range bases {
				s, known, err := sn.Lookup(term.IRI(ns.Mint{Base: base}.Activity(id)))
				if err != nil {
					return err
				}
				if !known {
					continue
				}
				err = sn.Dump(ctx, term.Pattern{S: s, G: term.DefaultGraph}, u.triples.Delete)
				if err != nil {
					return err
				}
			}
		}
		for _, base := range bases {
			m := ns.Mint{Base: base}
			_, known, err := sn.Lookup(term.IRI(m.Activity(f.Before.ID())))
			if err == nil && known {
				err = describe.Extend(u.triples, m, f.Before.Activity(r.URL), f.After.Activity(r.URL))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// activityBases returns the bases below which the activities of a URL are described: those the archive was used with.
func (u *update) activityBases(ctx context.Context, url string) (bases []string, err error) {
	sn := u.triples.Snapshot()
	p, known, err := sn.Lookup(term.IRI(prov.Used))
	if err != nil || !known {
		return nil, err
	}
	o, known, err := sn.Lookup(describe.IRI(url))
	if err != nil || !known {
		return nil, err
	}
	seen := map[string]bool{}
	mark := strings.TrimPrefix(ns.Mint{}.Activity(""), "/")
	err = sn.Dump(ctx, term.Pattern{P: p, O: o, G: term.DefaultGraph}, func(q term.Quad) error {
		iri := q.S.Value()
		if i := strings.LastIndex(iri, mark); i >= 0 && !seen[iri[:i]] {
			seen[iri[:i]] = true
			bases = append(bases, iri[:i])
		}
		return nil
	})
	return bases, err
}
