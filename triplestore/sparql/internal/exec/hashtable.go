package exec

import (
	"math/bits"
	"slices"

	"odarchive/triplestore/term"
)

// hashTable finds rows of a block by the values of some of its columns. Rows with the same hash form a chain.
type hashTable struct {
	rows  *block
	keys  []int
	heads []int32 // first row of the chain, plus 1
	link  []int32 // next row of the chain, plus 1
	shift int
	paid  int
	dense int     // which of the keys has the chains heads[id-base]; -1: chains are by hash
	base  term.ID // the smallest id of that key
	file  *mapped // heads and link are there; nil if they are in memory
}

// maxGaps is how many ids there may be between the first and the last key for each row of a dense table. Neighbours
// among the ids, such as the versions of a loaded archive, then find their chains side by side.
const maxGaps = 8

const hashFactor = 0x9e3779b97f4a7c15

func hashID(h uint64, id term.ID) uint64 { return (h ^ uint64(id)) * hashFactor }

// build indexes all rows; their keys must be bound. It calls check from time to time.
func (t *hashTable) build(rows *block, keys []int, check func() error) error {
	t.rows, t.keys = rows, keys
	t.dense = -1
	if k := t.denseKey(); k >= 0 {
		if err := t.buildDense(k, check); err != nil || t.dense >= 0 {
			return err
		}
	}
	size := 1 << bits.Len(uint(rows.n)|15)
	t.shift = 64 - bits.TrailingZeros(uint(size))
	if err := t.allocate(size); err != nil {
		return err
	}
	if len(keys) == 1 {
		col := rows.cols[keys[0]]
		for i := rows.n - 1; i >= 0; i-- { // backwards, so that chains run forwards
			if i&(1<<16-1) == 0 {
				if err := check(); err != nil {
					return err
				}
			}
			h := hashID(0, col[i]) >> t.shift
			t.link[i] = t.heads[h]
			t.heads[h] = int32(i + 1)
		}
		return nil
	}
	for i := rows.n - 1; i >= 0; i-- {
		if i&(1<<16-1) == 0 {
			if err := check(); err != nil {
				return err
			}
		}
		h := uint64(0)
		for _, k := range keys {
			h = hashID(h, rows.cols[k][i])
			h ^= h >> 29
		}
		h = h * hashFactor >> t.shift
		t.link[i] = t.heads[h]
		t.heads[h] = int32(i + 1)
	}
	return nil
}

// denseKey returns the key whose ids are spread most widely but closely enough for a dense table, or -1.
func (t *hashTable) denseKey() int {
	best, widest := -1, uint64(0)
	for k, c := range t.keys {
		col := t.rows.cols[c]
		if len(col) == 0 {
			return -1
		}
		lo, hi := slices.Min(col), slices.Max(col)
		if span := uint64(hi-lo) + 1; span/maxGaps <= uint64(len(col)) && span > widest {
			best, widest = k, span
		}
	}
	return best
}

// maxShare is how many rows may share an id of one key, on average, if there are others: all of them are compared.
const maxShare = 4

// buildDense makes the table dense by one of its keys. It does not if that key leaves long chains.
func (t *hashTable) buildDense(key int, check func() error) error {
	col := t.rows.cols[t.keys[key]]
	lo, hi := slices.Min(col), slices.Max(col)
	if err := t.allocate(int(hi-lo) + 1); err != nil {
		return err
	}
	chains := 0
	for i := len(col) - 1; i >= 0; i-- { // backwards, so that chains run forwards
		if i&(1<<16-1) == 0 {
			if err := check(); err != nil {
				return err
			}
		}
		k := col[i] - lo
		if t.heads[k] == 0 {
			chains++
		}
		t.link[i] = t.heads[k]
		t.heads[k] = int32(i + 1)
	}
	if len(t.keys) > 1 && chains*maxShare < len(col) {
		t.rows.budget.release(t.paid)
		t.file.free()
		t.file, t.heads, t.link, t.paid = nil, nil, nil, 0
		return nil
	}
	t.dense, t.base = key, lo
	return nil
}

// allocate makes room for size chains.
func (t *hashTable) allocate(size int) error {
	rows := t.rows
	t.paid = 4 * (size + rows.n)
	if rows.space == nil || t.paid <= rows.budget.share() {
		err := rows.budget.reserve(t.paid)
		if err == nil {
			t.heads, t.link = make([]int32, size), make([]int32, rows.n)
			return nil
		}
		if rows.space == nil {
			return err
		}
		rows.budget.release(t.paid)
	}
	file, err := rows.space.mapped(t.paid)
	t.paid = 0
	if err != nil {
		return err
	}
	numbers := file.numbers()
	t.file, t.heads, t.link = file, numbers[:size], numbers[size:]
	return nil
}

// first returns the first row, plus 1, of the chain for row i of some columns; 0 if there is none.
func (t *hashTable) first(cols [][]term.ID, keys []int, i int) int32 {
	if t.dense >= 0 {
		return t.firstOf(cols[keys[t.dense]][i])
	}
	if len(keys) == 1 {
		return t.heads[hashID(0, cols[keys[0]][i])>>t.shift]
	}
	h := uint64(0)
	for _, k := range keys {
		h = hashID(h, cols[k][i])
		h ^= h >> 29
	}
	return t.heads[h*hashFactor>>t.shift]
}

// firstOf is first for a dense table. Every row of the chain has this id.
func (t *hashTable) firstOf(id term.ID) int32 {
	if k := uint64(id - t.base); k < uint64(len(t.heads)) { // an id below base wraps around
		return t.heads[k]
	}
	return 0
}

// same reports whether row r-1 of the table has the keys of row i.
func (t *hashTable) same(r int32, cols [][]term.ID, keys []int, i int) bool {
	for k, c := range t.keys {
		if t.rows.cols[c][r-1] != cols[keys[k]][i] {
			return false
		}
	}
	return true
}

func (t *hashTable) free() {
	if t.rows != nil {
		t.rows.budget.release(t.paid)
	}
	t.file.free()
	t.heads, t.link, t.rows, t.paid = nil, nil, nil, 0
}

// idSet is a set of rows of ids, numbered in the order in which they were added.
type idSet struct {
	width  int
	rows   []term.ID // width ids a row
	slots  []int32   // row number, plus 1
	n      int
	shift  int
	budget *budget
	paid   int
}

func newIDSet(width int, b *budget) *idSet {
	s := &idSet{width: width, slots: make([]int32, 64), shift: 64 - 6, budget: b, paid: 4 * 64}
	b.charge(s.paid)
	return s
}

func (s *idSet) hash(row []term.ID) uint64 {
	h := uint64(0)
	for _, id := range row {
		h = hashID(h, id)
		h ^= h >> 29
	}
	return h * hashFactor
}

// find returns the number of a row, or -1, and the slot where it is or would be.
func (s *idSet) find(row []term.ID) (nr, slot int) {
	mask := len(s.slots) - 1
	i := int(s.hash(row) >> s.shift)
	for {
		x := s.slots[i]
		if x == 0 {
			return -1, i
		}
		if at := int(x-1) * s.width; slices.Equal(s.rows[at:at+s.width], row) {
			return int(x - 1), i
		}
		i = (i + 1) & mask
	}
}

// add returns the number of a row, and whether it is new. If there is an error, the set is as before.
func (s *idSet) add(row []term.ID) (nr int, fresh bool, err error) {
	nr, slot := s.find(row)
	if nr >= 0 {
		return nr, false, nil
	}
	if 2*(s.n+1) > len(s.slots) {
		if err := s.grow(); err != nil {
			return 0, false, err
		}
		_, slot = s.find(row)
	}
	if cap(s.rows)-len(s.rows) < s.width {
		if err := s.growRows(); err != nil {
			return 0, false, err
		}
	}
	s.rows = append(s.rows, row...)
	s.n++
	s.slots[slot] = int32(s.n)
	return s.n - 1, true, nil
}

// growRows makes room for more rows. Both the old and the new room are counted while values move.
func (s *idSet) growRows() error {
	old := cap(s.rows)
	room := max(2*old, 32*s.width)
	if old > 1<<17 {
		room = old + old/2
	}
	if err := s.budget.reserve(8 * room); err != nil {
		s.budget.release(8 * room)
		return err
	}
	s.paid += 8 * room
	s.rows = append(make([]term.ID, 0, room), s.rows...)
	s.paid -= 8 * old
	s.budget.release(8 * old)
	return nil
}

func (s *idSet) grow() error {
	old := 4 * len(s.slots)
	if err := s.budget.reserve(4 * old); err != nil {
		s.budget.release(4 * old)
		return err
	}
	s.paid += 4 * old
	defer func() {
		s.paid -= old
		s.budget.release(old)
	}()
	s.slots = make([]int32, len(s.slots)*4)
	s.shift -= 2
	mask := len(s.slots) - 1
	for r := range s.n {
		i := int(s.hash(s.rows[r*s.width:(r+1)*s.width]) >> s.shift)
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = int32(r + 1)
	}
	return nil
}

// clear removes all rows and keeps the room.
func (s *idSet) clear() {
	clear(s.slots)
	s.rows, s.n = s.rows[:0], 0
}

func (s *idSet) free() {
	s.budget.release(s.paid)
	s.paid, s.rows, s.slots, s.n = 0, nil, nil, 0
}
