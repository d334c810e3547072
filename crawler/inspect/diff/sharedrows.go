package diff

import (
	"hash/maphash"
	"io"
)

// shared is the common start and end of both sides of a table. Their rows are skipped. As many equal rows are skipped
// on one side as on the other, so counts do not change.
type shared struct {
	at     int64 // offset of the first row to read on both sides; 0 = read all
	suffix int64 // in bytes; -1 = read both sides to the end
}

// skipCommon sets shared if rows are only counted, not listed: which of several equal rows is listed depends on all of
// them. Both sides must be UTF-8 in the same dialect, with the same columns in the same places.
func (c *tableDiff) skipCommon() error {
	c.shared.suffix = -1
	if c.o.List > 0 || !c.sides[0].isText() || !c.sides[1].isText() || c.dialects[0] != c.dialects[1] {
		return nil
	}
	for _, p := range c.t.pairs {
		if p.from != p.to {
			return nil
		}
	}
	if len(c.t.pairs) < max(len(c.t.From), len(c.t.To)) {
		return nil
	}
	c.shared.suffix = c.report.Range.Suffix
	t, _, err := openRows(c.ctx, c.sides[0], c.dialects[0])
	for err == nil {
		// A row that ends with the file may be longer in the other file.
		if at := t.at(); at > c.report.Range.Prefix || at >= min(c.sides[0].Size, c.sides[1].Size) {
			return nil
		}
		c.shared.at = t.at()
		_, err = t.next()
	}
	return ignoreEOF(err)
}

// reading is the state of reading one side's rows.
type reading struct {
	*rows
	n    int64 // rows read
	left int64 // bytes left of the text; 1 or 0 if no suffix is shared
}

func (c *tableDiff) open(side int) (r *reading, err error) {
	s, d := c.sides[side], c.dialects[side]
	r = &reading{left: 1}
	if c.shared.at == 0 {
		r.rows, _, err = openRows(c.ctx, s, d)
	} else {
		rest := io.NewSectionReader(s.R, c.shared.at, s.Size-c.shared.at)
		r.rows = newRows(c.ctx, &contextReader{c.ctx, rest}, d)
		r.text.n = c.shared.at
	}
	return r, err
}

// each calls f with every row of both sides except shared ones: its side, number, hashes and fields. It reads the side
// that has more left, until only the shared end is left of both.
func (c *tableDiff) each(f func(side int, n int64, key, all uint64, fields []string) error) error {
	var both [2]*reading
	for side := range both {
		r, err := c.open(side)
		if err != nil {
			return err
		}
		defer r.close()
		both[side] = r
		c.measure(side, r)
	}
	var h maphash.Hash
	h.SetSeed(c.seed)
	for {
		side := 0
		if both[1].left > both[0].left {
			side = 1
		}
		r := both[side]
		if both[0].left == both[1].left && r.left <= max(c.shared.suffix, 0) {
			return nil
		}
		fields, err := r.next()
		if err == io.EOF {
			r.left = 0
			continue
		}
		if err != nil {
			return err
		}
		r.n++
		c.measure(side, r)
		all := c.hash(&h, side, fields, nil)
		key := all
		if len(c.t.Key) > 0 {
			key = c.hash(&h, side, fields, c.t.Key)
		}
		if err := f(side, r.n, key, all, fields); err != nil {
			return err
		}
	}
}

func (c *tableDiff) measure(side int, r *reading) {
	if c.shared.suffix >= 0 {
		r.left = c.sides[side].Size - r.at()
	}
}
