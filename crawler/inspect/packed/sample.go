package packed

import (
	"math"
	"strconv"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/diff"
)

const (
	minValues = 3  // a column with fewer distinct values is not indexed
	maxChance = .3 // see chance
)

// Joinable reports whether a column is worth indexing: it has several values, of a kind that rarely coincides by
// chance, as small numbers, row numbers, dates and booleans do.
func Joinable(c csvprofile.Column) bool {
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

// chance returns the share of the integers of a column's magnitude that the column contains: 1 for row numbers from 1,
// little for codes with gaps or for a narrow range far from zero.
func chance(c csvprofile.Column) float64 {
	low, err1 := strconv.ParseFloat(c.Min, 64)
	high, err2 := strconv.ParseFloat(c.Max, 64)
	if err1 != nil || err2 != nil {
		return 1
	}
	return float64(c.Distinct) / (1 + max(math.Abs(high), math.Abs(low), high-low))
}

// keySample is the number of hashes that are kept of a column that is not indexed but may be a key: as many as
// comparing two versions needs (diff.KnownColumn).
const keySample = diff.KnownSketch

// Sample returns what is kept of a column's sketch.
func Sample(c csvprofile.Column) csvprofile.Sketch {
	switch {
	case Joinable(c):
		return c.Sketch
	case c.Key:
		return c.Sketch[:min(len(c.Sketch), keySample)]
	}
	return nil
}
