package archive

import (
	"context"
	"fmt"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/diary"
	"odarchive/crawler/archive/records"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// A stretch has one description, below the base that the archive had when the stretch began, until the archive is
// rebased. Programs of before December 2026 described a stretch a second time when the base changed in its midst, so
// that queries counted its visits twice; a rebase then gave one activity two ends.

// describedBelow returns the mint by which a stretch is described, and whether it is: below the present base, or a
// former one.
func (u *update) describedBelow(s diary.Stretch) (m ns.Mint, known bool, err error) {
	sn := u.triples.Snapshot()
	if len(u.mint.Former) == 0 {
		_, known, err = sn.Lookup(term.IRI(u.mint.Activity(s.ID())))
		return u.mint, known, err
	}
	for _, base := range u.mint.Bases() {
		m := ns.Mint{Base: base}
		starts, err := countStatements(sn, term.IRI(m.Activity(s.ID())), vocab.PROVStartedAtTime)
		if err != nil || starts > 0 {
			return m, starts > 0, err
		}
	}
	return u.mint, false, nil
}

// countStatements returns how many statements of the archive a subject has with a predicate. An IRI may be known, and
// have none.
func countStatements(sn *triplestore.Snapshot, subject term.Key, predicate string) (n int, err error) {
	s, known, err := sn.Lookup(subject)
	if err != nil || !known {
		return 0, err
	}
	p, known, err := sn.Lookup(term.IRI(predicate))
	if err != nil || !known {
		return 0, err
	}
	cursor := sn.Scan(term.Pattern{S: s, P: p, G: term.DefaultGraph}, term.SPO)
	defer cursor.Close()
	for {
		some, err := cursor.Next()
		if err != nil || len(some) == 0 {
			return n, err
		}
		n += len(some)
	}
}

// describedTwice reports whether a stretch is described below several bases, or has several ends.
func describedTwice(sn *triplestore.Snapshot, bases []string, s diary.Stretch) (bool, error) {
	ends := 0
	for _, base := range bases {
		activity := term.IRI(ns.Mint{Base: base}.Activity(s.ID()))
		n, err := countStatements(sn, activity, vocab.PROVEndedAtTime)
		if ends += n; err != nil || ends > 1 {
			return ends > 1, err
		}
		counts, err := countStatements(sn, activity, vocab.ArcVisits)
		if err != nil || counts > 1 {
			return counts > 1, err
		}
	}
	return false, nil
}

// CheckVisits counts the stretches whose records cannot be read, and returns the URL of one of them. No program writes
// such records; one of November 2026 did, for an export that was imported with a status that no server can send.
func (a *Archive) CheckVisits(ctx context.Context) (unreadable int, url string, err error) {
	err = a.view(func(t records.Txn) error {
		return diary.Txn{Txn: t.Txn}.Unreadable(ctx, func(resource string, _ time.Time) error {
			unreadable++
			r, known, err := t.Resource(resource)
			if known && url == "" {
				url = r.URL
			}
			return err
		})
	})
	if err != nil {
		return unreadable, url, fmt.Errorf("archive: check visits: %w", err)
	}
	return unreadable, url, nil
}

// DropVisits removes the stretches whose records cannot be read, and returns their number. What the triples say of them
// stays.
func (a *Archive) DropVisits(ctx context.Context) (dropped int, err error) {
	err = a.update(ctx, func(u *update) error {
		dropped = 0
		return u.diary.Unreadable(ctx, func(resource string, start time.Time) error {
			dropped++
			return u.diary.Drop(ctx, resource, start)
		})
	})
	if err != nil {
		return 0, fmt.Errorf("archive: drop visits: %w", err)
	}
	return dropped, nil
}

// CheckActivities counts the stretches that are described twice, and returns the id of one of them.
func (a *Archive) CheckActivities(ctx context.Context) (twice int, one string, err error) {
	sn := a.triples.Snapshot()
	defer sn.Release()
	err = a.view(func(t records.Txn) error {
		return diary.Txn{Txn: t.Txn}.StretchesAfter(ctx, diary.Stretch{}, func(s diary.Stretch) (bool, error) {
			is, err := describedTwice(sn, a.mint.Bases(), s)
			if is {
				twice, one = twice+1, s.ID()
			}
			return true, err
		})
	})
	if err != nil {
		return twice, one, fmt.Errorf("archive: check activities: %w", err)
	}
	return twice, one, nil
}

// Bounds of one transaction of MendActivities.
const (
	stretchesRead   = 10_000
	stretchesMended = 200
)

// MendActivities describes each stretch once that is described twice, and returns their number. If it is interrupted,
// what it has done stays.
func (a *Archive) MendActivities(ctx context.Context) (mended int, err error) {
	for after, more := (diary.Stretch{}), true; more; {
		var some int
		err := a.update(ctx, func(u *update) (err error) {
			var twice []diary.Stretch
			last, read := after, 0
			err = u.diary.StretchesAfter(ctx, after, func(s diary.Stretch) (bool, error) {
				is, err := describedTwice(u.triples.Snapshot(), u.mint.Bases(), s)
				if is {
					twice = append(twice, s)
				}
				last = s
				read++
				return len(twice) < stretchesMended && read < stretchesRead, err
			})
			for _, s := range twice {
				if err == nil {
					err = u.describeOnce(ctx, s)
				}
			}
			some, more, after = len(twice), len(twice) == stretchesMended || read == stretchesRead, last
			return err
		})
		if err != nil {
			return mended, fmt.Errorf("archive: mend activities: %w", err)
		}
		mended += some
	}
	return mended, nil
}

// describeOnce describes a stretch as it is, below the first base that it is described below, and nowhere else.
func (u *update) describeOnce(ctx context.Context, s diary.Stretch) error {
	r, known, err := u.records.Resource(s.Resource)
	if err != nil || !known {
		return records.OrNotFound(err, "resource", s.Resource)
	}
	m, known, err := u.describedBelow(s)
	if err != nil || !known {
		return err
	}
	after := describe.Activity(m, s.Activity(r.URL))
	ours := map[term.Key]bool{term.IRI(vocab.ArcVisits): true} // what others state of an activity stays
	for _, q := range after {
		ours[q.P] = true
	}
	var before []term.Quad
	sn := u.triples.Snapshot()
	for _, base := range u.mint.Bases() {
		id, known, err := sn.Lookup(term.IRI(ns.Mint{Base: base}.Activity(s.ID())))
		if err == nil && known {
			err = sn.Dump(ctx, term.Pattern{S: id, G: term.DefaultGraph}, func(q term.Quad) error {
				if ours[q.P] {
					before = append(before, q)
				}
				return nil
			})
		}
		if err != nil {
			return err
		}
	}
	return describe.Replace(u.triples, before, after)
}
