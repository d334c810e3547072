package tables

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/crs"
	"odarchive/crawler/inspect/tables/source"
	"odarchive/triplestore/geometry"
	"odarchive/vocab"
)

// features are records, some of them with geometries in GeoJSON.
type features struct {
	*csvprofile.Records
	geometries source.Summary
}

func newFeatures(o Options, table int) *features {
	f := &features{Records: csvprofile.NewRecords(), geometries: source.Summary{Column: "geometry"}}
	f.Sample, f.Each, f.Begin = o.Sample, o.RowsOf(table), o.BeginOf(table)
	return f
}

// locate adds the geometry of a record.
func (f *features) locate(geoJSON string) {
	if f.Each != nil {
		return
	}
	if len(geoJSON) > geometry.MaxText {
		f.locateLong(geoJSON)
		return
	}
	if g, err := geometry.Parse(geoJSON, vocab.GeoGeoJSONLiteral); err == nil && !g.Empty() {
		f.geometries.AddBox(g.Type(), g.Bounds())
	}
}

// locateLong adds a geometry that is too long to be parsed, by its numbers.
func (f *features) locateLong(geoJSON string) {
	var head struct {
		Type        string
		Coordinates boxOf
	}
	if json.Unmarshal([]byte(geoJSON), &head) != nil || !head.Coordinates.some ||
		!strings.Contains(" Point MultiPoint LineString MultiLineString Polygon MultiPolygon ", " "+head.Type+" ") {
		return
	}
	f.geometries.AddBox(head.Type, head.Coordinates.box)
}

// boxOf is the box around the points in nested arrays.
type boxOf struct {
	box  geometry.Box
	some bool
}

// UnmarshalJSON reads the first two numbers of each innermost array.
func (b *boxOf) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	var at [2]float64
	n := 0
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		v, isNumber := tok.(float64)
		switch {
		case isNumber && n < 2:
			if at[n] = v; n == 1 {
				if !b.some {
					b.box, b.some = geometry.Box{MinX: at[0], MinY: at[1], MaxX: at[0], MaxY: at[1]}, true
				}
				b.box = b.box.With(at[0], at[1])
			}
			n++
		case !isNumber:
			n = 0
		}
	}
}

// locate adds what is known of geometries to the profile of their table. system is the reference system that the
// document names, "" if it names none: it is WGS 84 then, unless the coordinates cannot be.
func locate(p *csvprofile.Profile, geometries *source.Summary, system string) {
	if geometries.Count() == 0 {
		return
	}
	switch {
	case system != "":
		geometries.System = crs.Named(system)
	case geometries.InDegrees():
		geometries.System = crs.WGS84()
	}
	geometries.Apply(p)
}
