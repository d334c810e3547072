package exec

import (
	"errors"
	"hash/maphash"
	"io"

	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/term"
)

// distinctValues finds the different values of each group for an aggregate. A value is a row of ids: the number of its
// group plus 1, and the ids of the value. If the set of rows uses more than its share of memory, rows that are not in
// it are written to partitions and aggregated after all others.
type distinctValues struct {
	q     *query
	seen  *idSet
	row   []term.ID
	later *partitions    // nil as long as memory suffices
	seeds []maphash.Seed // set if values are hashed instead of getting an id
}

func (q *query) distinctValues(width int) *distinctValues {
	return &distinctValues{q: q, seen: newIDSet(width, q.budget), row: make([]term.ID, width)}
}

// hashing makes addValue keep a hash of 128 bits of each value instead of an id: an id of a computed value would keep
// the whole term in memory. As with Unique, two values are practically never taken for one.
func (d *distinctValues) hashing() {
	d.seeds = []maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
}

// addValue reports whether a value is new in its group. If it returns false, the value is known, or it was written to a
// partition and is aggregated later.
func (d *distinctValues) addValue(nr int32, v expr.Value) (fresh bool, err error) {
	key := string(v.Key())
	d.row[0] = term.ID(nr) + 1
	for i, s := range d.seeds {
		d.row[1+i] = term.ID(maphash.String(s, key))
	}
	return d.add()
}

// add does so for the value in row.
func (d *distinctValues) add() (fresh bool, err error) {
	if d.later == nil {
		if d.q.opts.Spill == nil || d.seen.paid < d.q.budget.share() {
			_, fresh, err = d.seen.add(d.row)
			if err == nil || !d.q.canSpill(err) {
				return fresh, err
			}
		}
		d.later = &partitions{q: d.q}
	}
	if nr, _ := d.seen.find(d.row); nr >= 0 {
		return false, nil
	}
	f, err := d.later.file(d.seen.hash(d.row))
	if err != nil {
		return false, err
	}
	return false, f.writeIDs(d.row...)
}

// each calls take with every value that was put off and is new in its group.
func (d *distinctValues) each(take func(row []term.ID) error) error {
	if d.later == nil {
		return nil
	}
	d.seen.free()
	for i, f := range d.later.files {
		if f == nil {
			continue
		}
		if err := d.eachOf(f, take); err != nil {
			return err
		}
		f.close()
		d.later.files[i] = nil
	}
	return nil
}

func (d *distinctValues) eachOf(f *spilled, take func(row []term.ID) error) error {
	if err := f.rewind(); err != nil {
		return err
	}
	set := newIDSet(len(d.row), d.q.budget)
	defer set.free()
	for n := 0; ; n++ {
		if n&0xfff == 0 {
			if err := d.q.check(); err != nil {
				return err
			}
		}
		err := f.readIDs(d.row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, fresh, err := set.add(d.row)
		if err != nil {
			return err
		}
		if fresh {
			if err := take(d.row); err != nil {
				return err
			}
		}
	}
}

func (d *distinctValues) free() {
	d.seen.free()
	d.later.close()
}

// finish aggregates the values that were put off.
func (g *aggregate) finish() error {
	if g.seen == nil || g.seen.later == nil {
		return nil
	}
	seen := g.seen
	if g.a.Func == "COUNT" {
		return seen.each(func(row []term.ID) error {
			g.n[row[0]-1]++
			return nil
		})
	}
	g.seen = nil // what follows is new
	defer func() { g.seen = seen }()
	var ids []term.ID
	var nrs []int32
	flush := func() error {
		err := g.addIDs(ids, nrs)
		ids, nrs = ids[:0], nrs[:0]
		return err
	}
	err := seen.each(func(row []term.ID) error {
		ids, nrs = append(ids, row[1]), append(nrs, int32(row[0]-1))
		if len(ids) < g.q.opts.BatchSize {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}
