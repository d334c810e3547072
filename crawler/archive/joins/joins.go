// Package joins finds columns whose values overlap: which tables can be joined with this one.
//
// An index in the database holds the sketches that profiles keep of columns (csvprofile.Sketch, bottom-k MinHash), each
// filed under its smallest hashes; columns of the same values, as the tables of a series have them, are one set and have one
// sketch (FORMAT.md). Prepare works out what changes when the columns of superseded versions leave and those
// of new ones come, many at a time, and whose matches change by it; Update.Write makes it so. Of returns a version's
// matches. The index is derived: it follows the versions at some distance, and can be made again from their profiles.
//
// Answers are estimates: among columns of up to 1,024 distinct values they are exact, among larger ones of like size a
// containment of one half is told within a few percent, and the more roughly the more the sizes differ. A column of 50
// values is found in one of 5,000, not in one of 100,000. Work and space are bounded a version, whatever its tables are.
package joins

import (
	"math"
	"slices"
	"strconv"

	"odarchive/crawler/inspect/csvprofile"
)

// Threshold is the least share of one column's values in another at which the two are a match.
const Threshold = 0.5

// Place of a column.
type Place struct {
	Version string `json:"version"`          // its id
	Member  string `json:"member,omitempty"` // path of the file in the version, "" for the version itself
	Table   int    `json:"table,omitempty"`  // of the file's tables, from 0
	Column  int    `json:"column"`           // of the table's columns, from 0
}

func (p Place) sameTable(q Place) bool {
	return p.Version == q.Version && p.Member == q.Member && p.Table == q.Table
}

// Column is one column of one table, as the index keeps it.
type Column struct {
	Place
	Name     string
	Distinct int64
	Key      bool // no value comes twice
	Sketch   csvprofile.Sketch
}

// Match is two columns that share values, seen from one of them.
type Match struct {
	Column      Place   `json:"column"`
	Name        string  `json:"name"`
	Other       Place   `json:"other"`
	OtherName   string  `json:"otherName"`
	Containment float64 `json:"containment"` // share of the column's values that the other has
	Reverse     float64 `json:"reverse"`     // share of the other's values that the column has
	Jaccard     float64 `json:"jaccard"`
}

// best is by what matches are chosen.
func (m Match) best() float64 { return max(m.Containment, m.Reverse) + m.Jaccard/1024 }

func (m Match) turned() Match {
	return Match{Column: m.Other, Name: m.OtherName, Other: m.Column, OtherName: m.Name, Containment: m.Reverse, Reverse: m.Containment, Jaccard: m.Jaccard}
}

const (
	minValues  = 3  // a column with fewer distinct values joins nothing
	manyValues = 8  // with fewer, one of the two columns must be a key
	fewValues  = 20 // with fewer, and no key, it is not noted of many: see weak
	minSample  = 4  // hashes below which an estimate is a guess
	maxError   = .05
	maxChance  = .3 // of numbers that may be found in a column by chance
	shareUnit  = 1e4
)

// Eligible tells whether a column is worth indexing: it has several values, of a kind that does not meet by chance as
// small numbers, row numbers, dates and truth values do.
func Eligible(c csvprofile.Column) bool {
	if c.Distinct < minValues || len(c.Sketch) < minValues || c.MaxLen == 0 {
		return false
	}
	switch c.Datatype {
	case "string", "anyURI":
		return true
	case "integer":
		return (c.Key || c.Distinct >= 20) && (c.Key || c.MinLen >= 3 || c.MaxLen >= 5) && chance(c) <= maxChance
	}
	return false
}

// chance is the share of whole numbers of a column's magnitude that it has: 1 for row numbers from 1, little for codes
// that leave gaps, or that lie close together far from zero.
func chance(c csvprofile.Column) float64 {
	low, err1 := strconv.ParseFloat(c.Min, 64)
	high, err2 := strconv.ParseFloat(c.Max, 64)
	if err1 != nil || err2 != nil {
		return 1
	}
	return float64(c.Distinct) / (1 + max(math.Abs(high), math.Abs(low), high-low))
}

// Compare estimates the overlap of two columns from their sketches: among all hashes up to the lower of the two
// sketches' ends, both are complete samples.
func Compare(a, b Column) (m Match, ok bool) {
	inA, inB, both := overlap(a.Sketch, b.Sketch)
	m = Match{Column: a.Place, Name: a.Name, Other: b.Place, OtherName: b.Name}
	if both == 0 {
		return m, false
	}
	share := func(n, of int) float64 { return math.Round(float64(n)/float64(of)*shareUnit) / shareUnit }
	m.Jaccard = share(both, inA+inB-both)
	if inA >= min(minSample, len(a.Sketch)) {
		m.Containment = share(both, inA)
	}
	if inB >= min(minSample, len(b.Sketch)) {
		m.Reverse = share(both, inB)
	}
	return m, (enough(m.Containment, inA, a) || enough(m.Reverse, inB, b)) && tells(a, b)
}

// tells whether it says anything that two columns share their values: of categories it does not.
func tells(a, b Column) bool { return a.Key || b.Key || min(a.Distinct, b.Distinct) >= manyValues }

// weak tells whether two columns say little by sharing their values: many tables have the same few.
func weak(a, b Column) bool { return !a.Key && !b.Key && min(a.Distinct, b.Distinct) < fewValues }

// enough tells whether a containment reaches the threshold. One that was estimated from n hashes may lie one standard
// error below it, for then the true one is about as likely above.
func enough(share float64, n int, of Column) bool {
	if n == len(of.Sketch) && n < csvprofile.SketchSize {
		return share >= Threshold
	}
	return share >= Threshold-min(0.5/math.Sqrt(float64(n)), maxError)
}

// overlap counts the hashes of two sketches up to where both are complete, and those that both have.
func overlap(a, b csvprofile.Sketch) (inA, inB, both int) {
	end := min(reach(a), reach(b))
	a, b = upTo(a, end), upTo(b, end)
	for i, j := 0, 0; i < len(a) && j < len(b); { // without branches: which comes next cannot be foretold
		x, y := a[i], b[j]
		both += one(x == y)
		i += one(x <= y)
		j += one(y <= x)
	}
	return len(a), len(b), both
}

func upTo(s csvprofile.Sketch, end uint32) csvprofile.Sketch {
	n, found := slices.BinarySearch(s, end)
	return s[:n+one(found)]
}

func one(is bool) (n int) {
	if is {
		n = 1
	}
	return n
}

// reach is the greatest hash up to which a sketch knows all values.
func reach(s csvprofile.Sketch) uint32 {
	if len(s) < csvprofile.SketchSize {
		return math.MaxUint32
	}
	return s[len(s)-1]
}
