package iso19115

import (
	"cmp"
	"strconv"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
)

// coverage adds the coverage in space and time. An extent may have several places, periods and instants.
func (r *reader) coverage(d *harvest.Dataset) {
	for _, extent := range r.about.All("extent/*") {
		place := harvest.Place{Name: line(extent.First("description"))}
		for _, e := range extent.All("geographicElement/*") {
			switch {
			case strings.HasSuffix(e.Name.Local, "EX_GeographicBoundingBox"):
				if place.Box == nil {
					place.Box = box(e)
				} else if further := box(e); further != nil {
					d.Spatial = append(d.Spatial, harvest.Place{Box: further})
				}
			case strings.HasSuffix(e.Name.Local, "EX_GeographicDescription"):
				named := e.First("geographicIdentifier/*/code")
				place.IRI, place.Name = cmp.Or(place.IRI, link(named)), cmp.Or(place.Name, line(named))
			}
		}
		if place.IRI != "" || place.Name != "" || place.Box != nil {
			d.Spatial = append(d.Spatial, place)
		}
		for _, e := range extent.All("temporalElement/*/extent/*") {
			if p := period(e); p != (harvest.Period{}) {
				d.Temporal = append(d.Temporal, p)
			}
		}
	}
}

// box returns west, south, east and north, nil if one of them is missing.
func box(e *loose.Element) []float64 {
	var all []float64
	for _, side := range []string{"westBoundLongitude", "southBoundLatitude", "eastBoundLongitude", "northBoundLatitude"} {
		n, err := strconv.ParseFloat(strings.ReplaceAll(leaf(e.First(side)), ",", "."), 64)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// period reads a gml:TimePeriod or gml:TimeInstant.
func period(e *loose.Element) harvest.Period {
	if e.Name.Local == "TimeInstant" {
		at := leaf(e.First("timePosition"))
		return harvest.Period{Start: at, End: at}
	}
	return harvest.Period{
		Start: cmp.Or(leaf(e.First("beginPosition")), leaf(e.First("begin/TimeInstant/timePosition"))),
		End:   cmp.Or(leaf(e.First("endPosition")), leaf(e.First("end/TimeInstant/timePosition"))),
	}
}
