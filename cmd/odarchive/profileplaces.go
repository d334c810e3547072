package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/extent"
)

// whereAndWhen returns what is known of where and when the things of a table are, a line each: its geometries, the box
// around them and around its columns of coordinates, in degrees, and the period of its dates.
func whereAndWhen(p *csvprofile.Profile) (lines []string) {
	if g := p.Geometry; g != nil {
		line := fmt.Sprintf("%d geometries", g.Count)
		if g.Count == 1 {
			line = "1 geometry"
		}
		var types []string
		for _, t := range g.Types {
			types = append(types, fmt.Sprintf("%s %d", t.Value, t.Count))
		}
		if len(types) > 0 {
			line += " (" + strings.Join(types, ", ") + ")"
		}
		lines = append(lines, line+"; reference system "+cmp.Or(g.System, g.CRS, "unknown"))
	}
	if box, ok := extent.Box(p); ok {
		n := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
		lines = append(lines, "longitude "+n(box.MinX)+" to "+n(box.MaxX)+", latitude "+n(box.MinY)+" to "+n(box.MaxY))
	}
	if period, ok := extent.Periods(slices.Values([]*csvprofile.Profile{p})); ok {
		lines = append(lines, "dates "+period.Start+" to "+period.End)
	}
	return lines
}
