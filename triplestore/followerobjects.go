package triplestore

import (
	"context"
	"slices"
	"time"

	"odarchive/triplestore/term"
)

// objects calls f with each object that may have to be indexed, in any graph. It may come once for each predicate.
func (l *follower) objects(ctx context.Context, sn *Snapshot, f func(term.ID) error) error {
	if l.predicates == nil {
		return sn.objects(ctx, term.Pattern{}, term.OSP, term.TagLiteral, f)
	}
	predicates, err := l.ids(sn)
	if err != nil {
		return err
	}
	for _, p := range predicates {
		if err := sn.objects(ctx, term.Pattern{P: p}, term.POS, 0, f); err != nil {
			return err
		}
	}
	return nil
}

// objects calls f with each object of a pattern, in id order, which that of the scan must be. If tag is not 0, it calls
// it with those of that tag only.
func (sn *Snapshot) objects(ctx context.Context, p term.Pattern, o term.Order, tag term.Tag, f func(term.ID) error) error {
	c := sn.Scan(p, o)
	defer c.Close()
	if tag != 0 {
		c.SeekGE(term.IDQuad{O: term.Make(tag, 0)})
	}
	last := term.ID(0)
	for {
		rows, err := c.Next()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, q := range rows {
			if q.O == last {
				continue
			}
			last = q.O
			if tag != 0 && q.O.Tag() != tag {
				return nil
			}
			if err := f(q.O); err != nil {
				return err
			}
		}
	}
}

// objectBatch gathers objects to be indexed.
type objectBatch struct {
	l     *follower
	sn    *Snapshot
	ids   []term.ID
	total int
	began time.Time
	told  time.Time
}

func (l *follower) batch(sn *Snapshot) *objectBatch {
	now := time.Now()
	return &objectBatch{l: l, sn: sn, began: now, told: now}
}

func (b *objectBatch) add(ctx context.Context, id term.ID) error {
	if !b.l.index.takes(id) {
		return nil
	}
	if b.ids = append(b.ids, id); len(b.ids) < objectsAtOnce {
		return nil
	}
	return b.write(ctx)
}

// write indexes the gathered objects. While there is no index yet, it is stored in pieces without a position.
func (b *objectBatch) write(ctx context.Context) error {
	slices.Sort(b.ids)
	b.ids = slices.DeleteFunc(slices.Compact(b.ids), b.l.index.Has)
	keys := make([]term.Key, len(b.ids))
	if err := b.sn.Keys(b.ids, keys); err != nil {
		return err
	}
	added, full := b.l.index.add(b.ids, keys)
	b.ids = b.ids[:0]
	b.total += added
	if time.Since(b.told) > tellEvery {
		b.told = time.Now()
		b.l.s.opts.Log.Info("building "+b.l.what, "literals", b.total)
	}
	if !full {
		return nil
	}
	return b.l.index.Flush(ctx, b.l.mark(0))
}

func (b *objectBatch) end(ctx context.Context) error {
	if len(b.ids) == 0 {
		return nil
	}
	return b.write(ctx)
}
