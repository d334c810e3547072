// Package joins finds columns whose values overlap: which tables can be joined with this one.
//
// An Index holds the sketches that profiles keep of columns (csvprofile.Sketch, bottom-k MinHash). Query asks it for
// the columns that contain most values of another. The answers are estimates: with a sketch of 1,024 hashes a
// containment of one half is told within a few percent among columns of like size, and more roughly the more the
// sizes differ. The package keeps everything in memory and knows no disk; an index is rebuilt from the profiles.
package joins

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"odarchive/crawler/csvprofile"
)

// Column is one column of one table.
type Column struct {
	ID       string // of the caller's choosing, unique
	Table    string // columns of one table are not joined with each other
	Distinct int64
	Sketch   csvprofile.Sketch
}

// Match is a column that shares values with the one asked for.
type Match struct {
	ID          string
	Containment float64 // share of the asked column's values that the match has
	Reverse     float64 // share of the match's values that the asked column has
	Jaccard     float64
	Sample      int // hashes that the estimate rests on
}

// Bounds of the index.
const (
	indexed   = 256 // hashes of a column that it can be found by
	minValues = 3   // columns with fewer distinct values are of no use as keys
	maxHits   = 2000
)

// Eligible tells whether a column is worth indexing: it has several values of a kind that does not meet by chance.
// Small whole numbers, as counts and ranks are, do.
func Eligible(c csvprofile.Column) bool {
	if c.Distinct < minValues || len(c.Sketch) < minValues || c.MaxLen == 0 {
		return false
	}
	switch c.Datatype {
	case "string", "anyURI":
		return true
	case "integer":
		return c.Key || c.MinLen >= 3 && c.Distinct >= 20
	case "date", "dateTime", "gYear", "gYearMonth":
		return false
	}
	return false
}

// Index finds columns by the values they share. It may be used from several goroutines.
type Index struct {
	mu      sync.RWMutex
	columns []Column
	byID    map[string]int32
	posting map[uint32][]int32
}

// New makes an empty index.
func New() *Index { return &Index{byID: map[string]int32{}, posting: map[uint32][]int32{}} }

// Len is how many columns the index holds.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.byID)
}

// Add puts a column into the index, in place of one with the same ID.
func (x *Index) Add(c Column) {
	if len(c.Sketch) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(c.ID)
	at := int32(len(x.columns))
	x.columns = append(x.columns, c)
	x.byID[c.ID] = at
	for _, h := range c.Sketch[:min(len(c.Sketch), indexed)] {
		x.posting[h] = append(x.posting[h], at)
	}
}

// Remove takes a column out.
func (x *Index) Remove(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(id)
}

func (x *Index) remove(id string) {
	at, ok := x.byID[id]
	if !ok {
		return
	}
	delete(x.byID, id)
	for _, h := range x.columns[at].Sketch[:min(len(x.columns[at].Sketch), indexed)] {
		list := slices.DeleteFunc(x.posting[h], func(i int32) bool { return i == at })
		if len(list) == 0 {
			delete(x.posting, h)
		} else {
			x.posting[h] = list
		}
	}
	x.columns[at] = Column{}
}

// Query lists the columns of other tables that have at least the given share of c's values, best first, at most limit
// of them (0 = all).
func (x *Index) Query(c Column, containment float64, limit int) []Match {
	x.mu.RLock()
	defer x.mu.RUnlock()
	hits := map[int32]int{}
	for _, h := range c.Sketch {
		list := x.posting[h]
		if len(list) > maxHits {
			list = list[:maxHits] // a value that is everywhere tells nothing
		}
		for _, at := range list {
			hits[at]++
		}
	}
	var found []Match
	for at := range hits {
		other := &x.columns[at]
		if other.ID == c.ID || c.Table != "" && other.Table == c.Table {
			continue
		}
		m := Compare(c, *other)
		if m.Containment >= containment {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Containment, a.Containment), cmp.Compare(b.Jaccard, a.Jaccard), cmp.Compare(a.ID, b.ID))
	})
	if limit > 0 && len(found) > limit {
		found = found[:limit]
	}
	return found
}

// Compare estimates the overlap of two columns from their sketches: among all hashes up to the lower of the two
// sketches' ends, both are complete samples.
func Compare(a, b Column) Match {
	end := min(reach(a.Sketch), reach(b.Sketch))
	inA, inB, both := 0, 0, 0
	i, j := 0, 0
	for i < len(a.Sketch) || j < len(b.Sketch) {
		switch {
		case j >= len(b.Sketch) || i < len(a.Sketch) && a.Sketch[i] < b.Sketch[j]:
			if a.Sketch[i] <= end {
				inA++
			}
			i++
		case i >= len(a.Sketch) || b.Sketch[j] < a.Sketch[i]:
			if b.Sketch[j] <= end {
				inB++
			}
			j++
		default:
			if a.Sketch[i] <= end {
				inA, inB, both = inA+1, inB+1, both+1
			}
			i, j = i+1, j+1
		}
	}
	m := Match{ID: b.ID, Sample: inA}
	if both > 0 {
		m.Containment = float64(both) / float64(inA)
		m.Reverse = float64(both) / float64(inB)
		m.Jaccard = float64(both) / float64(inA+inB-both)
	}
	return m
}

// reach is the greatest hash up to which a sketch knows all values.
func reach(s csvprofile.Sketch) uint32 {
	if len(s) < csvprofile.SketchSize {
		return math.MaxUint32
	}
	return s[len(s)-1]
}
