package ui

import (
	"cmp"
	"html/template"
	"strconv"
	"strings"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/extent"
	"odarchive/ui/plot"
)

// extents are where and when the things are that a version is about.
type extents struct {
	Where  string // box in degrees, "" if it is not known
	Map    template.HTML
	From   string // first and last date, "" if there are none
	To     string
	Layers []layer // tables with geometries
}

// layer is what is known of the geometries of a table.
type layer struct{ Table, Types, Count, System, Link, Bounds string }

// extentsOf returns the places and dates of a version, nil if none are known.
func extentsOf(in *inspect.Inside) *extents {
	e := &extents{}
	if box, ok := extent.Boxes(in.AllTables()); ok {
		degrees := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) + "°" }
		e.Where = "longitude " + degrees(box.MinX) + " to " + degrees(box.MaxX) + ", latitude " + degrees(box.MinY) + " to " +
			degrees(box.MaxY)
		e.Map = plot.World([4]float64{box.MinX, box.MinY, box.MaxX, box.MaxY}, "The box on a grid of the Earth: "+e.Where)
	}
	if in != nil && in.Period != nil {
		e.From, e.To = in.Period.Start, in.Period.End
	}
	for p := range in.AllTables() {
		if p.Geometry != nil && len(e.Layers) < maxShown {
			e.Layers = append(e.Layers, layerOf(p))
		}
	}
	if e.Where == "" && e.From == "" && len(e.Layers) == 0 {
		return nil
	}
	return e
}

func layerOf(p *csvprofile.Profile) layer {
	g := p.Geometry
	l := layer{Table: p.Name, Count: humanCount(g.Count), System: g.System, Link: httpLink(g.CRS)}
	l.System = cmp.Or(l.System, g.CRS, "unknown")
	var types []string
	for _, t := range g.Types {
		types = append(types, t.Value)
	}
	l.Types = strings.Join(types, ", ")
	if b := g.Bounds; b != nil {
		n := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
		l.Bounds = n(b[0]) + " " + n(b[1]) + ", " + n(b[2]) + " " + n(b[3])
	}
	return l
}
