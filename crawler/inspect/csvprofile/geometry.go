package csvprofile

import (
	"slices"

	"odarchive/triplestore/geometry"
)

// Geometry describes the geometries of a table's rows, which a geographic format has.
type Geometry struct {
	Column string      `json:"column,omitempty"` // of the table, that has them as WKT, or as GeoJSON; "" if none has
	CRS    string      `json:"crs,omitempty"`    // IRI of the reference system; "" if unknown
	System string      `json:"system,omitempty"` // name of the reference system; "" if unknown
	Types  []Count     `json:"types,omitempty"`  // "Point", "MultiPolygon" ..., and how many there are, most frequent first
	Count  int64       `json:"count"`            // rows with a geometry that is not empty
	Bounds *[4]float64 `json:"bounds,omitempty"` // smallest x and y, largest x and y, in the reference system; nil if there are none
}

// SetGeometry sets what is known of the table's geometries, and the box around them in degrees: nil if that is not
// known. It replaces what was found in the cells, since g says what their coordinates mean.
func (p *Profile) SetGeometry(g Geometry, degrees *geometry.Box) {
	slices.SortFunc(g.Types, func(a, b Count) int {
		switch {
		case a.Count != b.Count && a.Count > b.Count:
			return -1
		case a.Count != b.Count:
			return 1
		case a.Value < b.Value:
			return -1
		}
		return 1
	})
	p.Geometry, p.Extent = &g, nil
	if degrees != nil {
		p.Extent = &[4]float64{degrees.MinX, degrees.MinY, degrees.MaxX, degrees.MaxY}
	}
}
