// Package joins finds columns whose values overlap: which tables can be joined with a given one.
//
// An index in the database holds the sketches of columns that profiles contain (csvprofile.Sketch, bottom-k MinHash),
// each filed under its smallest hashes. Columns with the same values, as the tables of a series have, are one set with
// one sketch (FORMAT.md). Prepare computes what changes when versions replace older ones, many at a time, and which
// matches change with that; Update.Write writes it. Of returns a version's matches. The index is derived from the
// profiles of the versions, follows them later, and can be rebuilt.
//
// Results are estimates. Among columns of fewer than 192 distinct values (csvprofile.WholeSketch) the containments are
// exact; among larger columns of similar size, a containment of one half is estimated within a few percent; the more
// the sizes differ, the rougher the estimate. Columns of up to 64 values always find each other; one of five may miss
// one of 160. A column of 50 values is found in one of 5,000, but not in one of 100,000. Work and space for one version
// are bounded, whatever its tables are.
package joins

import (
	"math"
	"slices"

	"odarchive/crawler/inspect/csvprofile"
)

// Threshold is the minimum share of one column's values in another that makes the two a match.
const Threshold = 0.5

// Place is the place of a column.
type Place struct {
	Version string `json:"version"`          // its id
	Member  string `json:"member,omitempty"` // path of the file in the version, "" for the version itself
	Table   int    `json:"table,omitempty"`  // of the file's tables, from 0
	Column  int    `json:"column"`           // of the table's columns, from 0
}

func (p Place) sameTable(q Place) bool {
	return p.Version == q.Version && p.Member == q.Member && p.Table == q.Table
}

// Column is one column of a table.
type Column struct {
	Place
	At       int // its number among all columns of the version, from 0
	Name     string
	Distinct int64
	Key      bool // no value occurs twice
	Sketch   csvprofile.Sketch
}

// Match is two columns that share values, seen from one of them.
type Match struct {
	Column      Place   `json:"column"`
	Name        string  `json:"name"`
	Other       Place   `json:"other"`
	OtherName   string  `json:"otherName"`
	Containment float64 `json:"containment"` // share of the column's values that the other contains
	Reverse     float64 `json:"reverse"`     // share of the other's values that the column contains
	Jaccard     float64 `json:"jaccard"`
}

// score ranks matches; the highest are kept.
func (m Match) score() float64 { return max(m.Containment, m.Reverse) + m.Jaccard/1024 }

// reversed returns the match as seen from the other column.
func (m Match) reversed() Match {
	return Match{Column: m.Other, Name: m.OtherName, Other: m.Column, OtherName: m.Name, Containment: m.Reverse, Reverse: m.Containment,
		Jaccard: m.Jaccard}
}

const (
	manyValues = 8  // with fewer, a match requires that one of the two columns is a key
	fewValues  = 20 // with fewer, and without a key, a match is weak
	minSample  = 4  // an estimate needs this many hashes
	maxError   = .05
	shareUnit  = 1e4
)

// compare estimates the overlap of two columns from that of their sketches, and reports whether they match. Up to the
// lower of the two sketches' greatest hashes, both are complete samples.
func compare(a, b Column, o overlap) (m Match, ok bool) {
	m = Match{Column: a.Place, Name: a.Name, Other: b.Place, OtherName: b.Name}
	if o.both == 0 {
		return m, false
	}
	share := func(n, of int32) float64 { return math.Round(float64(n)/float64(of)*shareUnit) / shareUnit }
	m.Jaccard = share(o.both, o.inA+o.inB-o.both)
	if o.inA >= min(minSample, o.ofA) {
		m.Containment = share(o.both, o.inA)
	}
	if o.inB >= min(minSample, o.ofB) {
		m.Reverse = share(o.both, o.inB)
	}
	return m, (enough(m.Containment, o.inA, o.ofA) || enough(m.Reverse, o.inB, o.ofB)) && informative(a, b)
}

// informative reports whether shared values say anything about two columns: for categories they do not.
func informative(a, b Column) bool {
	return a.Key || b.Key || min(a.Distinct, b.Distinct) >= manyValues
}

// weak reports whether shared values say little about two columns, since many tables have the same few values.
func weak(a, b Column) bool { return !a.Key && !b.Key && min(a.Distinct, b.Distinct) < fewValues }

// enough reports whether a containment reaches the threshold. A containment that was estimated from n hashes of a
// sketch that has so many may be one standard error below, since the true one may then be above.
func enough(share float64, n, of int32) bool {
	if n == of && n < csvprofile.WholeSketch {
		return share >= Threshold
	}
	return share >= Threshold-min(0.5/math.Sqrt(float64(n)), maxError)
}

// overlap is how many hashes two sketches have, how many of these up to where both are complete, and how many of these
// are common.
type overlap struct{ ofA, ofB, inA, inB, both int32 }

func overlapOf(a, b csvprofile.Sketch) overlap {
	o := overlap{ofA: int32(len(a)), ofB: int32(len(b))}
	low := uint32(1)<<max(a.Rough(), b.Rough()) - 1 // the bits that one of the two lacks
	end := min(reach(a), reach(b)) | low
	a, b = upTo(a, end), upTo(b, end)
	for i, j := 0, 0; i < len(a) && j < len(b); { // without branches, which would be mispredicted
		x, y := a[i]&^low, b[j]&^low
		o.both += int32(one(x == y))
		i += one(x <= y)
		j += one(y <= x)
	}
	o.inA, o.inB = int32(len(a)), int32(len(b))
	return o
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

// reach returns the greatest hash up to which a sketch is complete.
func reach(s csvprofile.Sketch) uint32 {
	if len(s) < csvprofile.WholeSketch {
		return math.MaxUint32
	}
	return s[len(s)-1]
}
