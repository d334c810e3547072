package diff

import (
	"cmp"
	"hash/maphash"
	"io"
	"slices"
)

// Limits of the alignment of rows without a key.
const (
	alignedRows    = 8192 // added, and removed; w.trim keeps as many of each
	alignedColumns = 64   // that are looked at
	alignedKey     = 3    // columns of a key
	alignedKeys    = 16   // possible keys that all rows are read for
	alignedAlike   = 32   // rows with the same cell that are compared with one row
	alignedChoices = 8    // of them that are kept, those that share most
)

// unmatched is a row that only one version has, with the hashes of its cells in the columns of both versions.
type unmatched struct {
	row
	cells []uint64
	taken bool
}

// align looks at rows that were added and removed, in tables for whose rows nobody gave a key. If other columns tell
// the rows of a table apart, such as a district and a year, and at least half of these rows find their counterpart by
// them, these columns become the key, and align reports that all rows are to be compared again. What such a key leaves,
// and rows without a key, are one row that changed if they share most of their cells. Whether rows are listed does not
// matter, so that a change has the same figures with and without its lists.
func (c *tableDiff) align() (again bool, err error) {
	w := &c.wanted
	if len(c.t.Key) > 0 && !c.t.KeyFound || len(c.t.pairs) < 2 || c.report.RowsAdded == 0 || c.report.RowsRemoved == 0 ||
		c.report.RowsAdded > alignedRows || c.report.RowsRemoved > alignedRows {
		return false, nil
	}
	var sides [2][]*unmatched
	byNumber := [2]map[int64]*unmatched{{}, {}}
	for side, list := range [2][]row{w.removed, w.added} {
		for _, r := range list {
			u := &unmatched{row: r}
			sides[side], byNumber[side][r.n] = append(sides[side], u), u
		}
		slices.SortFunc(sides[side], func(a, b *unmatched) int { return cmp.Compare(a.n, b.n) })
	}
	left := len(w.removed) + len(w.added)
	width := min(len(c.t.pairs), alignedColumns)
	err = c.each(func(side int, n int64, _, _ uint64, fields []string) error {
		if u := byNumber[side][n]; u != nil {
			u.cells = make([]uint64, width)
			for i := range u.cells {
				if cell := c.t.pairs[i].cell(side, fields); cell != "" {
					u.cells[i] = maphash.String(c.seed, cell)
				}
			}
			left--
		}
		if left == 0 {
			return io.EOF
		}
		return nil
	})
	if ignoreEOF(err) != nil {
		return false, err
	}
	if left > 0 { // the file is not the same when it is read again
		return false, nil
	}
	var key []int
	if !c.aligned {
		if key, err = c.unique(sharedKeys(sides, width)); err != nil {
			return false, err
		}
	}
	if len(key) > 0 {
		c.t.Key, c.t.KeyFound, c.aligned = nil, true, true
		for _, i := range key {
			c.t.Key = append(c.t.Key, c.t.pairs[i].name)
		}
		c.report.RowsAdded, c.report.RowsRemoved, c.report.RowsChanged = 0, 0, 0
		c.wanted = wanted{}
		return true, nil
	}
	if len(c.t.Key) == 0 || c.aligned {
		c.pairAlike(sides, width)
		w.removed, w.added = remaining(sides[0]), remaining(sides[1])
	}
	return false, nil
}

func remaining(list []*unmatched) (rest []row) {
	for _, u := range list {
		if !u.taken {
			rest = append(rest, u.row)
		}
	}
	return rest
}

// same makes two rows one that changed.
func (c *tableDiff) same(a, b *unmatched) {
	a.taken, b.taken = true, true
	c.wanted.changed = append(c.wanted.changed, [2]row{a.row, b.row})
	c.report.RowsChanged++
	c.report.RowsRemoved--
	c.report.RowsAdded--
}

// keyHash returns a hash of some cells of a row, 0 if one of them is empty.
func (u *unmatched) keyHash(key []int) uint64 {
	h := uint64(14695981039346656037)
	for _, i := range key {
		if u.cells[i] == 0 {
			return 0
		}
		h = (h ^ u.cells[i]) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h | 1
}

// keyChoice is some columns that may be a key, and how many rows find their counterpart by them.
type keyChoice struct {
	columns []int
	matched int
}

// sharedKeys returns sets of columns in which no two removed and no two added rows are the same, and by which at least
// half of the removed or added rows find their counterpart. Those that match most rows come first; of these, the
// smallest.
func sharedKeys(sides [2][]*unmatched, width int) (choices []keyChoice) {
	width = min(width, keyColumns)
	enough := (min(len(sides[0]), len(sides[1])) + 1) / 2
	try := func(key []int) (unique bool) {
		old, matched := make(map[uint64]bool, len(sides[0])), 0
		for side, list := range sides {
			seen := make(map[uint64]bool, len(list))
			for _, u := range list {
				h := u.keyHash(key)
				if h == 0 || seen[h] {
					return false
				}
				seen[h] = true
				if side == 1 && old[h] {
					matched++
				}
			}
			if side == 0 {
				old = seen
			}
		}
		if matched >= enough {
			choices = append(choices, keyChoice{key, matched})
		}
		return true
	}
	level := [][]int{nil}
	for range alignedKey {
		var next [][]int
		for _, key := range level {
			first := 0
			if len(key) > 0 {
				first = key[len(key)-1] + 1
			}
			for i := first; i < width; i++ {
				wider := append(slices.Clone(key), i)
				try(wider)
				next = append(next, wider)
			}
		}
		level = next
	}
	slices.SortStableFunc(choices, func(a, b keyChoice) int {
		return cmp.Or(cmp.Compare(b.matched, a.matched), cmp.Compare(len(a.columns), len(b.columns)))
	})
	return choices[:min(len(choices), alignedKeys)]
}

// unique returns the first of several sets of columns in which no two rows of a version have the same values.
func (c *tableDiff) unique(choices []keyChoice) ([]int, error) {
	rows := c.t.RowsFrom + c.t.RowsTo
	choices = choices[:min(int64(len(choices)), c.o.Memory/(16*(rows+1)))]
	if len(choices) == 0 {
		return nil, nil
	}
	defer func(before shared) { c.shared = before }(c.shared)
	c.shared = shared{suffix: -1}
	hashes, repeated := make([][2][]uint64, len(choices)), make([]bool, len(choices))
	var h maphash.Hash
	h.SetSeed(c.seed)
	left := len(choices)
	err := c.each(func(side int, n int64, _, _ uint64, fields []string) error {
		for k := range choices {
			if repeated[k] {
				continue
			}
			h.Reset()
			for _, i := range choices[k].columns {
				h.WriteString(c.t.pairs[i].cell(side, fields))
				h.WriteByte(0xff) // not in UTF-8
			}
			hashes[k][side] = append(hashes[k][side], h.Sum64())
			if n == keySample && repeats(slices.Clone(hashes[k][side])) {
				repeated[k], hashes[k] = true, [2][]uint64{}
				left--
			}
		}
		if left == 0 {
			return io.EOF
		}
		return nil
	})
	if ignoreEOF(err) != nil {
		return nil, err
	}
	for k := range choices {
		if !repeated[k] && !repeats(hashes[k][0]) && !repeats(hashes[k][1]) {
			return choices[k].columns, nil
		}
	}
	return nil, nil
}

// likeness is how many cells two rows share.
type likeness struct {
	from, to *unmatched
	cells    int
	apart    int64 // how many rows they are apart
}

// compareLikeness orders by the cells shared, then by how far the rows are apart, then by the rows.
func compareLikeness(a, b likeness) int {
	return cmp.Or(cmp.Compare(b.cells, a.cells), cmp.Compare(a.apart, b.apart), cmp.Compare(a.to.n, b.to.n),
		cmp.Compare(a.from.n, b.from.n))
}

// pairAlike makes rows one that changed if they share more than half of their cells, those that share most first. Cells
// that many rows have say little and are not looked for.
func (c *tableDiff) pairAlike(sides [2][]*unmatched, width int) {
	type cell struct {
		column int
		hash   uint64
	}
	with := map[cell][]*unmatched{}
	for _, u := range sides[0] {
		if u.taken {
			continue
		}
		for i, h := range u.cells {
			if h != 0 {
				with[cell{i, h}] = append(with[cell{i, h}], u)
			}
		}
	}
	var all []likeness
	seen := map[*unmatched]bool{}
	for _, u := range sides[1] {
		if u.taken {
			continue
		}
		clear(seen)
		var mine []likeness
		for i, h := range u.cells {
			list := with[cell{i, h}]
			if h == 0 || len(list) > alignedAlike {
				continue
			}
			for _, old := range list {
				if seen[old] {
					continue
				}
				seen[old] = true
				n := 0
				for k := range width {
					if old.cells[k] == u.cells[k] {
						n++
					}
				}
				if 2*n > width {
					mine = append(mine, likeness{old, u, n, max(old.n-u.n, u.n-old.n)})
				}
			}
		}
		slices.SortFunc(mine, compareLikeness)
		all = append(all, mine[:min(len(mine), alignedChoices)]...)
	}
	slices.SortFunc(all, compareLikeness)
	for _, p := range matching(all) {
		c.same(p.from, p.to)
	}
}

// matching returns as many pairs as possible in which no row is twice, those of rows that are most alike first. Their
// number depends on what the rows hold, not on where they are: of several equal rows, any may be among the unmatched
// ones.
func matching(all []likeness) (pairs []likeness) {
	of := map[*unmatched][]int{}     // likenesses of an added row, the best first
	partner := map[*unmatched]int{}  // the one that a removed row is in
	matched := map[*unmatched]bool{} // added rows
	for i, l := range all {
		of[l.to] = append(of[l.to], i)
		if _, taken := partner[l.from]; !taken && !matched[l.to] {
			partner[l.from], matched[l.to] = i, true
		}
	}
	// An added row that is left takes another's partner if that one finds a new one (Kuhn's augmenting paths).
	seen := map[*unmatched]bool{}
	var find func(to *unmatched) bool
	find = func(to *unmatched) bool {
		for _, i := range of[to] {
			from := all[i].from
			if seen[from] {
				continue
			}
			seen[from] = true
			if old, taken := partner[from]; !taken || find(all[old].to) {
				partner[from] = i
				return true
			}
		}
		return false
	}
	for _, l := range all {
		if !matched[l.to] {
			matched[l.to] = true // or looked for in vain
			clear(seen)
			find(l.to)
		}
	}
	for i, l := range all {
		if at, taken := partner[l.from]; taken && at == i {
			pairs = append(pairs, l)
		}
	}
	return pairs
}
