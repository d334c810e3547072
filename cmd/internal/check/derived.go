package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"odarchive/crawler/archive"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// derivedTries is how often records and triples are compared while others write: both must be of one moment.
const derivedTries = 5

// errOtherMoment reports a write between the reading of records and of triples.
var errOtherMoment = errors.New("written to meanwhile")

// errStop ends a reading early.
var errStop = errors.New("stop")

// checkDescribed looks for versions that no triple names. It does not compare the other triples: what describes a
// version differs between releases, and harvests and users add triples of their own.
func (c *Checker) checkDescribed(ctx context.Context, f *found, progress func(done, total int64)) (err error) {
	for range derivedTries {
		var missing int
		var some term.Quad
		if missing, some, err = c.missingTriples(ctx, progress); err == nil && missing > 0 {
			f.absent = true
			f.damage("triples: %d versions are not described, such as %s of %s", missing, some.O.Value(), some.S.Value())
		}
		if !errors.Is(err, errOtherMoment) {
			return err
		}
	}
	return nil // the archive is too busy to compare
}

// checkActivities looks for visits whose records cannot be read, and for stretches of visits that are described twice,
// as older programs did when the archive's base changed.
func (c *Checker) checkActivities(ctx context.Context, f *found, _ func(done, total int64)) error {
	unreadable, url, err := c.Store.Archive.CheckVisits(ctx)
	if unreadable > 0 {
		f.unreadable = unreadable
		f.damage("visits: the records of %d stretches of visits cannot be read, such as one of %s", unreadable, url)
	}
	if err != nil {
		return err
	}
	if len(c.Store.Mint.Former) == 0 {
		return nil
	}
	twice, one, err := c.Store.Archive.CheckActivities(ctx)
	if twice > 0 {
		f.twice = true
		f.damage("triples: %d stretches of visits are described twice, such as %s", twice, one)
	}
	return err
}

// missingTriples counts the versions that no triple names, and returns one of them.
func (c *Checker) missingTriples(ctx context.Context, progress func(done, total int64)) (missing int, some term.Quad, err error) {
	err = c.eachMissing(ctx, progress, func(q term.Quad) bool {
		if q.P == hasVersion {
			if missing++; missing == 1 {
				some = q
			}
		}
		return true
	})
	return missing, some, err
}

// hasVersion is the predicate of the triple by which a version is found.
const hasVersion = term.Key("<" + vocab.DCTHasVersion)

// eachMissing calls f, until it returns false, with the missing triples of versions that the store does not name below
// any base the archive was used with. If records and triples are not of one moment, it returns errOtherMoment.
func (c *Checker) eachMissing(ctx context.Context, progress func(done, total int64), f func(term.Quad) bool) error {
	sn := c.Store.Triples.Snapshot()
	defer sn.Release()
	bases, err := c.bases(ctx, sn)
	if err != nil {
		return err
	}
	stored := &contained{sn: sn, ids: map[term.Key]term.ID{}}
	checked := int64(0)
	first := archive.New(ns.Mint{Base: bases[0]}, c.Store.DB, c.Store.Triples, c.Store.Content)
	err = first.Quads(ctx, func(quads []term.Quad) error {
		if checked == 0 && c.position() != sn.Position() {
			return errOtherMoment
		}
		if checked += int64(len(quads)); checked%512 < int64(len(quads)) {
			progress(checked, -1)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		named, err := stored.missing(named(quads), bases)
		if err != nil || len(named) == 0 {
			return err
		}
		missing, err := stored.missing(quads, bases)
		if err != nil {
			return err
		}
		for _, q := range missing {
			if !f(q) {
				return errStop
			}
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// named returns the quads that name a version.
func named(quads []term.Quad) (some []term.Quad) {
	for _, q := range quads {
		if q.P == hasVersion {
			some = append(some, q)
		}
	}
	return some
}

func (c *Checker) position() uint64 {
	sn := c.Store.Triples.Snapshot()
	defer sn.Release()
	return sn.Position()
}

// bases returns the bases of the versions' IRIs, the original base first.
func (c *Checker) bases(ctx context.Context, sn *triplestore.Snapshot) ([]string, error) {
	all := []string{cmp.Or(c.Store.OriginalBase(), c.Store.Mint.Base)}
	p, ok, err := sn.Lookup(hasVersion)
	if err != nil || !ok {
		return all, err
	}
	err = sn.Dump(ctx, term.Pattern{P: p, G: term.DefaultGraph}, func(q term.Quad) error {
		if base, ok := ns.BaseOf(q.O.Value()); ok && !slices.Contains(all, base) {
			all = append(all, base)
		}
		return nil
	})
	return all, err
}

// contained looks up quads in one snapshot.
type contained struct {
	sn  *triplestore.Snapshot
	ids map[term.Key]term.ID // a cache
}

const maxCachedIDs = 100_000

func (c *contained) id(k term.Key) (term.ID, bool, error) {
	if id, ok := c.ids[k]; ok {
		return id, true, nil
	}
	id, ok, err := c.sn.Lookup(k)
	if err == nil && ok {
		if len(c.ids) >= maxCachedIDs {
			clear(c.ids)
		}
		c.ids[k] = id
	}
	return id, ok, err
}

// missing returns the quads, minted below the first base, that are stored below none of the bases.
func (c *contained) missing(quads []term.Quad, bases []string) (missing []term.Quad, err error) {
	for _, q := range quads {
		has := false
		for _, s := range bases {
			for _, o := range bases { // a version may refer to one below another base
				if has, err = c.has(term.Quad{S: rebased(q.S, bases[0], s), P: q.P, O: rebased(q.O, bases[0], o), G: q.G}); has ||
					err != nil {
					break
				}
			}
			if has || err != nil {
				break
			}
		}
		if err != nil {
			return nil, err
		}
		if !has {
			missing = append(missing, q)
		}
	}
	return missing, nil
}

// rebased replaces the base of an IRI; it returns other terms unchanged.
func rebased(k term.Key, from, to string) term.Key {
	if rest, below := strings.CutPrefix(string(k), string(term.IRI(from))); below {
		return term.IRI(to + rest)
	}
	return k
}

func (c *contained) has(q term.Quad) (bool, error) {
	p := term.Pattern{G: term.DefaultGraph}
	for _, part := range []struct {
		to  *term.ID
		key term.Key
	}{{&p.S, q.S}, {&p.P, q.P}, {&p.O, q.O}, {&p.G, q.G}} {
		if part.key == "" { // the default graph
			continue
		}
		id, ok, err := c.id(part.key)
		if err != nil || !ok {
			return false, err
		}
		*part.to = id
	}
	cursor := c.sn.Scan(p, term.SPO)
	defer cursor.Close()
	quads, err := cursor.Next()
	return len(quads) > 0, err
}

// deriveTriples adds the missing triples of versions that no triple names.
func (c *Checker) deriveTriples(ctx context.Context) (added int64, err error) {
	quads := func(yield func(term.Quad, error) bool) {
		err := c.eachMissing(ctx, func(int64, int64) {}, func(q term.Quad) bool { return yield(q, nil) })
		if err != nil {
			yield(term.Quad{}, err)
		}
	}
	next, stop := iter.Pull2(quads)
	defer stop()
	loaded, err := c.Store.Triples.Load(ctx, pulled(next))
	if err != nil {
		return 0, fmt.Errorf("derive triples: %w", err)
	}
	return int64(loaded.Added), nil
}

// pulled makes a sequence a triplestore.QuadReader.
type pulled func() (term.Quad, error, bool)

func (p pulled) Read() (term.Quad, error) {
	q, err, ok := p()
	if !ok {
		return term.Quad{}, io.EOF
	}
	return q, err
}
