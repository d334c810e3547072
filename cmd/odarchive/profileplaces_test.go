package main

import (
	"slices"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
)

func TestAProfileSaysWhereAndWhen(t *testing.T) {
	p := &csvprofile.Profile{
		Extent: &[4]float64{12, 47, 16.5, 48.5},
		Geometry: &csvprofile.Geometry{System: "MGI / Austria Lambert", Count: 3,
			Types: []csvprofile.Count{{Value: "Polygon", Count: 2}, {Value: "MultiPolygon", Count: 1}}},
		Columns: []csvprofile.Column{{Name: "seen", Datatype: "date", Min: "2019-12-31", Max: "2021-03-09"}},
	}
	want := []string{
		"3 geometries (Polygon 2, MultiPolygon 1); reference system MGI / Austria Lambert",
		"longitude 12.0000 to 16.5000, latitude 47.0000 to 48.5000",
		"dates 2019-12-31 to 2021-03-09",
	}
	if got := whereAndWhen(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := whereAndWhen(&csvprofile.Profile{}); len(got) > 0 {
		t.Errorf("a table without places or dates has %q", got)
	}
}
