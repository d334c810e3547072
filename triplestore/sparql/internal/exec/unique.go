package exec

import (
	"errors"
	"hash/maphash"
	"io"

	"odarchive/triplestore/term"
)

// Unique removes duplicates from a sequence of texts. It keeps a hash of 128 bits of each text. The seed of the hash is
// random, so nobody can construct two texts with the same hash, and by chance that is less likely than a disk error. If
// memory does not suffice, texts are kept in files, and Next returns those that are new after all texts were added.
type Unique struct {
	q     *query
	seeds [2]maphash.Seed
	seen  *idSet
	later *partitions // texts for which there was no memory; nil if there are none
	part  *spilled
	row   [2]term.ID
}

// Unique returns a Unique within the budget of the query. The caller must close it before the Rows.
func (r *Rows) Unique() *Unique {
	return &Unique{q: r.q, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, seen: newIDSet(2, r.q.budget)}
}

// Add reports whether text is new. If it returns false, text is known, or Next may return it later.
func (u *Unique) Add(text string) (bool, error) {
	for i, s := range u.seeds {
		u.row[i] = term.ID(maphash.String(s, text))
	}
	if u.later == nil {
		full := u.q.opts.Spill != nil && u.seen.paid > u.q.budget.share()
		if !full {
			_, fresh, err := u.seen.add(u.row[:])
			if err == nil || !u.q.canSpill(err) {
				return fresh, err
			}
		}
		u.later = &partitions{q: u.q}
	}
	if nr, _ := u.seen.find(u.row[:]); nr >= 0 {
		return false, nil
	}
	f, err := u.later.file(u.seen.hash(u.row[:]))
	if err != nil {
		return false, err
	}
	if err := f.writeIDs(u.row[:]...); err != nil {
		return false, err
	}
	return false, f.writeText(text)
}

// Next returns the next text that Add has put off, or io.EOF. No text may be added any more.
func (u *Unique) Next() (string, error) {
	for {
		if err := u.q.check(); err != nil {
			return "", err
		}
		if u.part == nil {
			if err := u.open(); err != nil {
				return "", err
			}
		}
		err := u.part.readIDs(u.row[:])
		if errors.Is(err, io.EOF) {
			u.part.close()
			u.part = nil
			continue
		}
		if err != nil {
			return "", err
		}
		text, err := u.part.readText()
		if err != nil {
			return "", err
		}
		_, fresh, err := u.seen.add(u.row[:])
		if fresh || err != nil {
			return text, err
		}
	}
}

// open starts reading the next partition. It returns io.EOF if there are no more.
func (u *Unique) open() error {
	u.seen.free()
	if u.later == nil {
		return io.EOF
	}
	for i, f := range u.later.files {
		if f == nil {
			continue
		}
		u.later.files[i], u.part = nil, f
		u.seen = newIDSet(2, u.q.budget)
		return f.rewind()
	}
	return io.EOF
}

// Close frees what u holds.
func (u *Unique) Close() {
	u.seen.free()
	u.later.close()
	u.part.close()
}
