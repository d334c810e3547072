package app

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
	"odarchive/vocab/dcterms"
)

// How often a comparison of records and triples is tried while others write: both must be of one moment.
const derivedTries = 5

// errOtherMoment says that somebody wrote between the two.
var errOtherMoment = errors.New("written to meanwhile")

// checkDescribed looks for versions that the triples do not name. What else a version's triples say differs from one release
// of this program to the next, and what more is in the store may be of harvests, or somebody's own.
func (n *Node) checkDescribed(ctx context.Context, f *found, progress func(done, total int64)) (err error) {
	for range derivedTries {
		var missing int
		var some term.Quad
		if missing, some, err = n.missingTriples(ctx, progress); err == nil && missing > 0 {
			f.absent = true
			f.damage("triples: %d versions are not described, such as %s of %s", missing, some.O.Value(), some.S.Value())
		}
		if !errors.Is(err, errOtherMoment) {
			return err
		}
	}
	return nil // a busy archive: nothing can be said
}

// missingTriples counts the versions that no triple of a state of the store names.
func (n *Node) missingTriples(ctx context.Context, progress func(done, total int64)) (missing int, some term.Quad, err error) {
	err = n.eachMissing(ctx, progress, func(q term.Quad) bool {
		if q.P == hasVersion {
			if missing++; missing == 1 {
				some = q
			}
		}
		return true
	})
	return missing, some, err
}

// hasVersion is the triple by which a version is found.
const hasVersion = term.Key("<" + dcterms.HasVersion)

// eachMissing calls f, until it returns false, with the derived triples that the store does not have of versions that it
// does not name: neither below the base that the archive began with nor below another that it was used with later. Records
// and triples are of one moment, or the error is errOtherMoment.
func (n *Node) eachMissing(ctx context.Context, progress func(done, total int64), f func(term.Quad) bool) error {
	sn := n.Triples.Snapshot()
	defer sn.Release()
	bases, err := n.bases(ctx, sn)
	if err != nil {
		return err
	}
	stored := &contained{sn: sn, ids: map[term.Key]term.ID{}}
	checked := int64(0)
	first := archive.New(ns.Mint{Base: bases[0]}, n.DB, n.Triples, n.Content)
	err = first.Quads(ctx, func(quads []term.Quad) error {
		if checked == 0 && n.position() != sn.Position() {
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
				return errFound
			}
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}

// named are the quads that name a version.
func named(quads []term.Quad) (some []term.Quad) {
	for _, q := range quads {
		if q.P == hasVersion {
			some = append(some, q)
		}
	}
	return some
}

func (n *Node) position() uint64 {
	sn := n.Triples.Snapshot()
	defer sn.Release()
	return sn.Position()
}

// bases are those below which versions were minted, first the one that the archive began with.
func (n *Node) bases(ctx context.Context, sn *triplestore.Snapshot) ([]string, error) {
	all := []string{cmp.Or(n.described.Base, n.Mint.Base)}
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

// contained looks quads up in one state of the store.
type contained struct {
	sn  *triplestore.Snapshot
	ids map[term.Key]term.ID // of lately seen terms
}

// idsKept bounds contained.ids.
const idsKept = 100_000

func (c *contained) id(k term.Key) (term.ID, bool, error) {
	if id, ok := c.ids[k]; ok {
		return id, true, nil
	}
	id, ok, err := c.sn.Lookup(k)
	if err == nil && ok {
		if len(c.ids) >= idsKept {
			clear(c.ids)
		}
		c.ids[k] = id
	}
	return id, ok, err
}

// missing are the quads, minted below the first base, that are not stored, nor below any of the bases.
func (c *contained) missing(quads []term.Quad, bases []string) (missing []term.Quad, err error) {
	for _, q := range quads {
		has := false
		for _, s := range bases {
			for _, o := range bases { // a version may name one that was minted below another base
				if has, err = c.has(term.Quad{S: rebased(q.S, bases[0], s), P: q.P, O: rebased(q.O, bases[0], o), G: q.G}); has || err != nil {
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

// rebased is a term with an IRI below one base below another.
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

// deriveTriples adds the triples that the records call for.
func (n *Node) deriveTriples(ctx context.Context) (added int64, err error) {
	quads := func(yield func(term.Quad, error) bool) {
		err := n.eachMissing(ctx, func(int64, int64) {}, func(q term.Quad) bool { return yield(q, nil) })
		if err != nil {
			yield(term.Quad{}, err)
		}
	}
	next, stop := iter.Pull2(quads)
	defer stop()
	loaded, err := n.Triples.Load(ctx, pulled(next))
	if err != nil {
		return 0, fmt.Errorf("derive triples: %w", err)
	}
	return int64(loaded.Added), nil
}

// pulled is a sequence as a triplestore.QuadReader.
type pulled func() (term.Quad, error, bool)

func (p pulled) Read() (term.Quad, error) {
	q, err, ok := p()
	if !ok {
		return term.Quad{}, io.EOF
	}
	return q, err
}
