// Package extent finds out where and when the things are that tables are about: the box around their places, and the
// period of their dates.
package extent

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/geometry"
	"odarchive/vocab"
)

// Boxes returns the smallest box, in degrees, around the places of several tables. ok is false if they tell none.
func Boxes(all iter.Seq[*csvprofile.Profile]) (box geometry.Box, ok bool) {
	for p := range all {
		b, some := Box(p)
		switch {
		case some && ok:
			box = box.Or(b)
		case some:
			box, ok = b, true
		}
	}
	return box, ok
}

// Box returns the box around the places of a table: those of its geometries, and of its columns of latitudes and
// longitudes.
func Box(p *csvprofile.Profile) (box geometry.Box, ok bool) {
	if e := p.Extent; e != nil && onEarth(e[0], e[2], 180) && onEarth(e[1], e[3], 90) {
		box, ok = geometry.Box{MinX: e[0], MinY: e[1], MaxX: e[2], MaxY: e[3]}, true
	}
	lat, hasLat := rangeOf(p, isLatitude, 90)
	lon, hasLon := rangeOf(p, isLongitude, 180)
	if !hasLat || !hasLon {
		return box, ok
	}
	points := geometry.Box{MinX: lon[0], MinY: lat[0], MaxX: lon[1], MaxY: lat[1]}
	if ok {
		points = points.Or(box)
	}
	return points, true
}

// Columns returns the indexes of the first columns of latitudes and longitudes. ok is false unless there are both.
func Columns(p *csvprofile.Profile) (lat, lon int, ok bool) {
	lat = slices.IndexFunc(p.Columns, func(c csvprofile.Column) bool { return isLatitude(p, c) })
	lon = slices.IndexFunc(p.Columns, func(c csvprofile.Column) bool { return isLongitude(p, c) })
	return lat, lon, lat >= 0 && lon >= 0
}

// onEarth reports whether a range of degrees lies within a limit.
func onEarth(low, high, limit float64) bool { return -limit <= low && low <= high && high <= limit }

// rangeOf returns the minimum and the maximum of all columns for which is returns true, of those that lie within a
// limit.
func rangeOf(p *csvprofile.Profile, is func(*csvprofile.Profile, csvprofile.Column) bool, limit float64) (r [2]float64, ok bool) {
	for _, c := range p.Columns {
		if !is(p, c) {
			continue
		}
		low, err1 := strconv.ParseFloat(c.Min, 64)
		high, err2 := strconv.ParseFloat(c.Max, 64)
		if err1 != nil || err2 != nil || !onEarth(low, high, limit) {
			continue
		}
		if ok {
			low, high = min(low, r[0]), max(high, r[1])
		}
		r, ok = [2]float64{low, high}, true
	}
	return r, ok
}

// isLatitude reports whether a column has latitudes: it was recognised as such and its name means nothing else, or it
// is the y of a table about places.
func isLatitude(p *csvprofile.Profile, c csvprofile.Column) bool {
	return c.Class == vocab.ArcLatitude && !isMotion(c) && (!hasWord(c.Name, "breite") || precise(c)) || isCoordinate(p, c, "y")
}

func isLongitude(p *csvprofile.Profile, c csvprofile.Column) bool {
	return c.Class == vocab.ArcLongitude && !isMotion(c) && (!hasWord(c.Name, "länge", "laenge", "long") || precise(c)) ||
		isCoordinate(p, c, "x")
}

// isMotion reports whether a column has lateral and longitudinal movements, or lengths, rather than degrees.
func isMotion(c csvprofile.Column) bool {
	return hasWord(c.Name, "acc", "accel", "acceleration", "vel", "velocity", "speed", "m", "km", "px")
}

// placeClasses are the classes of columns that tables about places have.
var placeClasses = []string{vocab.SchemaNS + "City", vocab.SchemaNS + "Country", vocab.ArcPostalCode, vocab.ArcNutsCode,
	vocab.ArcCountryCode}

// isCoordinate reports whether a column is named by an axis and has degrees: most columns of such names have metres,
// pixels or measurements.
func isCoordinate(p *csvprofile.Profile, c csvprofile.Column, axis string) bool {
	if !hasWord(c.Name, axis) || !precise(c) {
		return false
	}
	return hasWord(c.Name, "geo", "wgs", "wgs84", "koord", "coord", "koordinate", "coordinate") ||
		slices.ContainsFunc(p.Columns, func(o csvprofile.Column) bool { return slices.Contains(placeClasses, o.Class) })
}

// preciseDigits are the digits after the points of minimum and maximum, together, that degrees have and lengths do not.
const preciseDigits = 7

func precise(c csvprofile.Column) bool {
	digits := func(s string) int {
		_, after, _ := strings.Cut(s, ".")
		return len(after)
	}
	return (c.Datatype == "decimal" || c.Datatype == "double") && digits(c.Min)+digits(c.Max) >= preciseDigits
}

// hasWord reports whether a name consists of words of which one is among the given ones.
func hasWord(name string, words ...string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(words, p) })
}

// WKT returns a box as WKT: a polygon, or a point or a line if it has no area.
func WKT(b geometry.Box) string {
	n := func(v float64) string { return strconv.FormatFloat(math.Round(v*1e7)/1e7, 'f', -1, 64) }
	west, south, east, north := n(b.MinX), n(b.MinY), n(b.MaxX), n(b.MaxY)
	switch {
	case west == east && south == north:
		return "POINT(" + west + " " + south + ")"
	case west == east || south == north:
		return fmt.Sprintf("LINESTRING(%s %s, %s %s)", west, south, east, north)
	}
	return fmt.Sprintf("POLYGON((%[1]s %[2]s, %[3]s %[2]s, %[3]s %[4]s, %[1]s %[4]s, %[1]s %[2]s))", west, south, east, north)
}
