package csvprofile

import (
	"math"
	"slices"
	"sync"
)

// How much of a table is kept to add up its rows, and how far sums without a word for it are looked for.
const (
	maxGridRows  = 2048
	maxGridCells = 1 << 16
	maxGridText  = 1 << 18 // bytes
	maxUnnamed   = 300     // rows of a table
	maxReach     = 100     // rows that such a sum may add up
	maxAdditions = 8 << 20 // numbers that are added up for one table; of one that needs more, not all sums are found
)

// grid is the text of a table's first rows.
type grid struct {
	text  []byte
	cells []uint32 // ends of the cells in text
	rows  []uint32 // ends of the rows in cells
}

// keep adds a row and returns true, if there is room.
func (g *grid) keep(cells [][]byte) bool {
	size := 0
	for _, c := range cells {
		size += len(c)
	}
	if len(g.rows) >= maxGridRows || len(g.cells)+len(cells) > maxGridCells || len(g.text)+size > maxGridText {
		return false
	}
	end, n := len(g.text), len(g.cells)
	g.text = slices.Grow(g.text, size)[:end+size]
	g.cells = slices.Grow(g.cells, len(cells))[:n+len(cells)]
	for i, c := range cells {
		end += copy(g.text[end:], c)
		g.cells[n+i] = uint32(end)
	}
	g.rows = append(g.rows, uint32(len(g.cells)))
	return true
}

// spareGrids are grids of finished tables, empty. Most tables are small, and growing a grid costs them more than
// anything else that is kept of their rows.
var spareGrids = sync.Pool{New: func() any { return new(grid) }}

// release makes the memory of a grid available to other tables.
func (g *grid) release() {
	*g = grid{text: g.text[:0], cells: g.cells[:0], rows: g.rows[:0]}
	spareGrids.Put(g)
}

// row returns the cells of a row, valid as long as the grid.
func (g *grid) row(i int, into [][]byte) [][]byte {
	from := uint32(0)
	if i > 0 {
		from = g.rows[i-1]
	}
	start := uint32(0)
	if from > 0 {
		start = g.cells[from-1]
	}
	into = into[:0]
	for _, end := range g.cells[from:g.rows[i]] {
		into = append(into, g.text[start:end])
		start = end
	}
	return into
}

// sums finds the rows of a grid that have the sums of others.
type sums struct {
	rows  [][]float64 // NaN where there is no number
	unit  []float64   // of the columns: the place of their last decimal, or 1
	named []bool      // a word of the row says that it has sums
	total []bool      // it has
	left  int         // numbers that may still be added up
}

// newSums reads the numbers of a grid. commas says which columns have a decimal comma.
func newSums(g *grid, named []bool, commas func(column int) bool) *sums {
	s := &sums{rows: make([][]float64, len(g.rows)), named: named, total: make([]bool, len(g.rows)), left: maxAdditions}
	all := make([]float64, len(g.cells))
	var cells [][]byte
	for i := range s.rows {
		cells = g.row(i, cells)
		s.rows[i], all = all[:len(cells):len(cells)], all[len(cells):]
		for len(s.unit) < len(cells) {
			s.unit = append(s.unit, 1)
		}
		for c, cell := range cells {
			x := math.NaN()
			if cell = trim(cell); len(cell) > 0 {
				v := classify(cell)
				switch v.kind {
				case kindInteger, kindDecimal, kindDouble:
					if x = v.num; commas(c) {
						x = v.alt
					}
					for s.unit[c] > 1e-4 && math.Abs(x/s.unit[c]-math.Round(x/s.unit[c])) > 1e-6 {
						s.unit[c] /= 10
					}
				}
			}
			s.rows[i][c] = x
		}
	}
	return s
}

// find marks the rows that have sums. A row whose words do not say so must agree in more columns. Sums of sums are
// found once the rows that have those are marked, as then only records are added up.
func (s *sums) find(unnamed bool) {
	for range 4 {
		found := false
		for r := range s.rows {
			if !s.total[r] && (s.named[r] || unnamed) &&
				(s.isSum(r, 1, false) || s.isSum(r, -1, false) || s.named[r] && (s.isSum(r, -1, true) || s.isSum(r, 1, true))) {
				s.total[r], found = true, true
			}
		}
		if !found {
			return
		}
	}
}

// isSum reports whether a row has the sums of records that follow it in a direction, some or all of them; if ofSums is
// set, those of rows that are sums, or say so.
func (s *sums) isSum(r, direction int, ofSums bool) bool {
	row := s.rows[r]
	acc := make([]addition, len(row))
	numbers := 0
	for _, x := range row {
		if x == x && x != 0 {
			numbers++
		}
	}
	if numbers == 0 || numbers == 1 && !s.named[r] {
		return false
	}
	added := 0
	for i := r + direction; i >= 0 && i < len(s.rows); i += direction {
		if ofSums != s.total[i] && !(ofSums && s.named[i]) {
			continue
		}
		other := s.rows[i]
		has := false
		for c := range min(len(acc), len(other)) {
			if x := other[c]; x == x {
				acc[c].sum += x
				if has = true; x != 0 {
					acc[c].addends++
				}
			}
		}
		if !has {
			continue
		}
		if s.left -= len(acc); s.left < 0 {
			return false
		}
		added++
		if added > maxReach && !s.named[r] {
			return false
		}
		if added > 1 && s.agrees(r, acc, added, numbers) {
			return true
		}
	}
	return false
}

// addition is the sum of some cells of a column.
type addition struct {
	sum     float64
	addends int // that are not 0
}

// agrees reports whether row r, with that many numbers other than 0, has these sums of so many rows. Percentages and
// means among them may differ. Small numbers agree by chance: a row whose words do not name a sum needs different ones
// of two digits and more.
func (s *sums) agrees(r int, acc []addition, added, numbers int) bool {
	allowed := numbers / 5
	if s.named[r] {
		allowed = numbers / 2
	}
	same, misses, weight := 0, 0, 0.0
	large, several := 0.0, false // the last of the numbers of two digits and more, and whether there are different ones
	for c, x := range s.rows[r] {
		if x != x || x == 0 {
			continue
		}
		size := math.Abs(x)
		if math.Abs(acc[c].sum-x) > s.slack(c, size, added) {
			if misses++; misses > allowed {
				return false
			}
			continue
		}
		if acc[c].addends < 2 { // a copy
			continue
		}
		same++
		weight += math.Log10(1 + size/s.unit[c])
		if size >= 20*s.unit[c] {
			several = several || large != 0 && large != x
			large = x
		}
	}
	if s.named[r] {
		return same > 0 && weight >= 0.5
	}
	return same >= 2 && weight >= 6 && several
}

// slack returns by how much a sum of that size may differ from its addends, as those may be rounded.
func (s *sums) slack(c int, size float64, added int) float64 {
	slack := s.unit[c] / 100
	if s.unit[c] < 1 || size > 1000*s.unit[c] {
		slack += s.unit[c] * min(float64(added)/2, 2)
	}
	return min(slack, size/50)
}

// totals returns the numbers of the rows with sums, from 1.
func (s *sums) totals() (n []int64) {
	for i, is := range s.total {
		if is {
			n = append(n, int64(i)+1)
		}
	}
	return slices.Clip(n)
}
