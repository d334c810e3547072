package describe_test

import (
	"slices"
	"testing"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/extent"
	"odarchive/ns"
	"odarchive/triplestore/geometry"
	"odarchive/vocab"
)

func TestGeometriesAndPeriodsAreDescribed(t *testing.T) {
	t.Parallel()
	p := profileOf(t, "name,day\na,2024-05-06\nb,2024-06-07\n")
	p.SetGeometry(csvprofile.Geometry{CRS: "http://www.opengis.net/def/crs/EPSG/0/31256", System: "MGI", Count: 2,
		Bounds: &[4]float64{1, 2.5, 3, 4},
		Types:  []csvprofile.Count{{Value: "Point", Count: 1}, {Value: "Polygon", Count: 3}}},
		&geometry.Box{MinX: 10, MinY: 47, MaxX: 11, MaxY: 48})
	got := map[string][]string{}
	in := &inspect.Inside{Members: []inspect.Member{{Path: "a.shp", Tables: []*csvprofile.Profile{p}}},
		Period: &extent.Period{Start: "2024-05-06", End: "2024-06-07", Datatype: "date"}}
	for _, q := range describe.Inside(ns.Mint{Base: "http://archive/"}, catalog.Version{ID: "v_0"}, in) {
		got[q.P.Value()] = append(got[q.P.Value()], q.O.Value())
	}
	for predicate, want := range map[string][]string{
		vocab.ArcGeometries: {"2"}, vocab.ArcGeometryType: {"http://www.opengis.net/ont/sf#Polygon", "http://www.opengis.net/ont/sf#Point"},
		vocab.ArcReferenceSystem: {"MGI"},
		vocab.ArcBounds:          {"1 2.5 3 4"}, vocab.DCTConformsTo: {"http://www.opengis.net/def/crs/EPSG/0/31256"},
		vocab.DCATStartDate: {"2024-05-06"},
		vocab.DCATEndDate:   {"2024-06-07"},
		vocab.DCATBbox:      {"POLYGON((10 47, 11 47, 11 48, 10 48, 10 47))"},
	} {
		if !slices.Equal(got[predicate], want) {
			t.Errorf("%s is %q, want %q", predicate, got[predicate], want)
		}
	}
}
